// Package sam holds the translated SAM template and derives one that the emulator can deploy.
//
// It promises to take out whole resources only, each listed, and never to change one. It does not
// interpret intrinsic functions beyond a Ref to a parameter.
package sam

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
	"github.com/herald-webhooks/herald/internal/testkit/child"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// Template is a CloudFormation template and the values of its parameters.
type Template struct {
	Body       map[string]any    `json:"template"`
	Parameters map[string]string `json:"parameters"`
}

// Source names the template to translate, and its settings.
type Source struct {
	Root        string   // the checkout, with samconfig.toml and infra/local/translate.py
	Template    string   // default Root/template.yaml
	Environment string   // the table of samconfig.toml
	Parameters  []string // "Name=Value"; they win over that table's
}

// Translate runs AWS's own translator, and refuses parameters that the template does not allow.
func Translate(ctx context.Context, s Source) (*Template, error) {
	python, err := tools.Python(s.Root)
	if err != nil {
		return nil, err
	}
	var out, problems bytes.Buffer
	arguments := []string{
		filepath.Join(s.Root, "infra", "local", "translate.py"), cmp.Or(s.Template, filepath.Join(s.Root, "template.yaml")),
		filepath.Join(s.Root, "samconfig.toml"), s.Environment,
	}
	cmd := exec.Command(python, append(arguments, s.Parameters...)...) //nolint:gosec // this project's own script
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := child.Run(ctx, cmd); err != nil {
		lines := strings.Split(strings.TrimSpace(problems.String()), "\n")
		return nil, fmt.Errorf("translating template: %w: %s", err, lines[len(lines)-1])
	}
	var t Template
	if err := json.Unmarshal(out.Bytes(), &t); err != nil {
		return nil, fmt.Errorf("decoding translated template: %w", err)
	}
	return &t, nil
}

// OfType are the resources of a type, by logical id.
func (t *Template) OfType(kind string) map[string]cfn.Resource { return cfn.Of(t.Body).OfType(kind) }

// Text returns a property's value when it is a string or a reference to a parameter, else "".
func (t *Template) Text(value any) string {
	if fields, ok := value.(map[string]any); ok {
		name, _ := fields["Ref"].(string)
		return t.Parameters[name]
	}
	text, _ := value.(string)
	return text
}

// deployable are the resource types that the emulator's CloudFormation makes and that serve here. With an unknown
// one in the template it still claims success, but then fails when it is asked to describe the stack.
var deployable = map[string]bool{
	"AWS::DynamoDB::Table":            true,
	"AWS::Events::EventBus":           true,
	"AWS::IAM::ManagedPolicy":         true,
	"AWS::IAM::Policy":                true,
	"AWS::IAM::Role":                  true,
	"AWS::KMS::Alias":                 true,
	"AWS::KMS::Key":                   true,
	"AWS::Lambda::EventSourceMapping": true,
	"AWS::Lambda::Function":           true,
	"AWS::Logs::LogGroup":             true,
	"AWS::SNS::Topic":                 true,
	"AWS::SQS::Queue":                 true,
}

// Deployable returns a copy of the template without the resources that the emulator does not know and the outputs
// that need them, and the logical ids, by type, of the removed ones.
func (t *Template) Deployable() (body map[string]any, removed map[string][]string, err error) {
	rest, removed := map[string]any{}, map[string][]string{}
	var names []string
	for id, r := range cfn.Of(t.Body).Resources {
		if deployable[r.Type] {
			rest[id] = r.All
			continue
		}
		removed[r.Type] = append(removed[r.Type], id)
		names = append(names, id)
	}
	for _, ids := range removed {
		slices.Sort(ids)
	}
	// Quoted, or the start of a placeholder: enough to find Ref, Fn::GetAtt, Fn::Sub and DependsOn.
	missing := regexp.MustCompile(`("|\$\{)(` + strings.Join(names, "|") + `)[".}]`)
	refers := func(value any) bool {
		text, _ := json.Marshal(value) // as it was decoded
		return len(names) > 0 && missing.Match(text)
	}
	for id, r := range rest {
		if refers(r) {
			return nil, nil, fmt.Errorf("%s refers to a resource that the AWS emulator cannot deploy", id)
		}
	}
	body = maps.Clone(t.Body)
	body["Resources"] = rest
	outputs := maps.Clone(cfn.At(t.Body, "Outputs"))
	maps.DeleteFunc(outputs, func(_ string, output any) bool { return refers(output) })
	body["Outputs"] = outputs
	return body, removed, nil
}
