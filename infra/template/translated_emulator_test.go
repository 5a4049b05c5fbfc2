//go:build emulator

package template

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// translated is what CloudFormation gets: the output of AWS's own translator.
func translated(t *testing.T) template {
	t.Helper()
	base, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	python, err := tools.Python(base)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python,
		"infra/local/translate.py", "template.yaml", "samconfig.toml", "default")
	cmd.Dir = base
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("translating: %v", err)
	}
	var answer struct{ Template object }
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatal(err)
	}
	return convert(t, answer.Template)
}

// SAM adds roles and policies of AWS's own where it is not told otherwise.
func TestTranslationAddsNoRights(t *testing.T) {
	tpl, written := translated(t), load(t)
	for name, r := range tpl.ofType("AWS::IAM::Role") {
		if written.Resources[name].Type == "" || r.Properties["ManagedPolicyArns"] != nil {
			t.Errorf("%s is SAM's, or has managed policies", name)
		}
	}
	text, err := json.Marshal(tpl.Resources)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), ":aws:policy/") {
		t.Error("the translated template names a policy of AWS's own")
	}
}

// A second stack in the account and region could not be created.
func TestTranslatedResourcesHaveNoNameOfTheirOwn(t *testing.T) {
	for id, r := range translated(t).Resources {
		for property, value := range r.Properties {
			name, literal := value.(string)
			inItsAPI := r.Type == "AWS::ApiGatewayV2::Stage"
			if literal && !inItsAPI && (property == "Name" || strings.HasSuffix(property, "Name")) && property != "MetricName" {
				t.Errorf("%s: %s is %q in every stack", id, property, name)
			}
		}
	}
}
