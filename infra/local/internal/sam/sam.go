// Package sam holds the translated SAM template and makes of it what the emulator can deploy.
//
// It promises to take out whole resources only, each listed, and never to change one. It does not
// interpret intrinsic functions beyond a Ref to a parameter.
package sam

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
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
	Environment         string // the table of the samconfig file
	Bucket              string // that functions take their code from
}

// Translate runs AWS's own translator.
func Translate(ctx context.Context, s Source) (*Template, error) {
	var out, problems bytes.Buffer
	//nolint:gosec // this project's own script
	cmd := exec.Command(s.Python, s.Script, s.Template, s.SAMConfig, s.Environment, s.Bucket)
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := child.Run(ctx, cmd); err != nil {
		return nil, fmt.Errorf("translating template: %w: %s", err, lastLine(problems.String()))
	}
	var t Template
	if err := json.Unmarshal(out.Bytes(), &t); err != nil {
		return nil, fmt.Errorf("decoding translated template: %w", err)
	}
	return &t, nil
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

// Text returns a property's value when it is a string or a reference to a parameter, else "".
func (t *Template) Text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case map[string]any:
		if name, ok := v["Ref"].(string); ok {
			return t.parameter(name)
		}
	}
	return ""
}

func (t *Template) parameter(name string) string {
	if given, ok := t.Parameters[name]; ok {
		return given
	}
	declared, _ := t.Body["Parameters"].(map[string]any)
	parameter, _ := declared[name].(map[string]any)
	if value, ok := parameter["Default"]; ok {
		return fmt.Sprint(value)
	}
	return ""
}
