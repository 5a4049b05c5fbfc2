// Package sam holds the translated SAM template, checks its parameters and makes of it what the emulator
// can deploy.
//
// It promises to take out whole resources only, each listed, and never to change one. It does not
// interpret intrinsic functions beyond a Ref to a parameter and the attribute of a resource.
package sam

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// Template is a CloudFormation template and the parameters it is deployed with.
type Template struct {
	Body       map[string]any    `json:"template"`
	Parameters map[string]string `json:"parameters"`
}

// Source names the files of Translate.
type Source struct {
	Python, Script      string // the interpreter and translate.py
	Template, SAMConfig string
	Environment         string            // the table of the samconfig file
	Parameters          map[string]string // win over that table's
	Bucket              string            // that functions take their code from
}

// Translate runs AWS's own translator, and refuses parameters that the template does not allow.
func Translate(ctx context.Context, s Source) (*Template, error) {
	var out, problems bytes.Buffer
	//nolint:gosec // this project's own script
	cmd := exec.Command(s.Python, s.Script, s.Template, s.SAMConfig, s.Environment, s.Bucket)
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		cmd.Args = append(cmd.Args, name+"="+s.Parameters[name])
	}
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := child.Run(ctx, cmd); err != nil {
		return nil, fmt.Errorf("translating template: %w: %s", err, lastLine(problems.String()))
	}
	var t Template
	if err := json.Unmarshal(out.Bytes(), &t); err != nil {
		return nil, fmt.Errorf("decoding translated template: %w", err)
	}
	return &t, t.check()
}

func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return lines[len(lines)-1]
}

// Resource is one resource of the template.
type Resource struct {
	ID         string
	Type       string
	Properties map[string]any
}

// Resources returns the resources of one type, sorted by logical id.
func (t *Template) Resources(kind string) []Resource {
	var found []Resource
	for id, r := range t.resources() {
		if fields, _ := r.(map[string]any); fields["Type"] == kind {
			properties, _ := fields["Properties"].(map[string]any)
			found = append(found, Resource{ID: id, Type: kind, Properties: properties})
		}
	}
	slices.SortFunc(found, func(a, b Resource) int { return strings.Compare(a.ID, b.ID) })
	return found
}

func (t *Template) resources() map[string]any {
	all, _ := t.Body["Resources"].(map[string]any)
	return all
}

// Reference returns the logical id or parameter that the value is a Ref to, else "".
func Reference(value any) string {
	fields, _ := value.(map[string]any)
	name, _ := fields["Ref"].(string)
	return name
}

// Attribute returns the logical id of the resource whose attribute the value is, else "".
func Attribute(value any, attribute string) string {
	fields, _ := value.(map[string]any)
	switch of := fields["Fn::GetAtt"].(type) {
	case string:
		if id, name, _ := strings.Cut(of, "."); name == attribute {
			return id
		}
	case []any:
		if len(of) == 2 && of[1] == attribute {
			id, _ := of[0].(string)
			return id
		}
	}
	return ""
}

// Number returns a property's value when it is a whole number or a reference to a parameter that is one.
func (t *Template) Number(value any) (int, bool) {
	if n, ok := value.(float64); ok {
		return int(n), n == float64(int(n))
	}
	n, err := strconv.Atoi(t.Text(value))
	return n, err == nil
}

// Text returns a property's value when it is a string or a reference to a parameter, else "".
func (t *Template) Text(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return t.parameter(Reference(value))
}
