//go:build emulator

package template

import (
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
		"infra/local/translate.py", "template.yaml", "samconfig.toml", "default", "bucket")
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

func TestTranslationKeepsWhatFunctionsShare(t *testing.T) {
	tpl := translated(t)
	for name, f := range tpl.ofType("AWS::Lambda::Function") {
		logging := at(f.Properties, "LoggingConfig")
		if logging["LogFormat"] != "JSON" || target(logging["LogGroup"]) == "" || logging["SystemLogLevel"] == nil {
			t.Errorf("%s logs as %v", name, logging)
		}
	}
	for name, m := range tpl.ofType("AWS::Lambda::EventSourceMapping") {
		if types := list(m.Properties["FunctionResponseTypes"]); len(types) != 1 || types[0] != "ReportBatchItemFailures" {
			t.Errorf("%s answers by %v", name, types)
		}
	}
}

var substituted = regexp.MustCompile(`\$\{([A-Za-z0-9]+)`)

// references are the resources that v needs before it can be made.
func references(tpl template, v any, found map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			references(tpl, item, found)
		}
	case object:
		for key, item := range v {
			switch text, isText := item.(string); {
			case (key == "Ref" || key == "DependsOn") && isText:
				found[text] = true
			case key == "Fn::GetAtt":
				found[target(object{key: item})] = true
			case key == "Fn::Sub":
				pattern, _ := list(item)[0].(string)
				for _, match := range substituted.FindAllStringSubmatch(pattern, -1) {
					found[match[1]] = true
				}
				references(tpl, list(item)[1:], found)
			case key == "DependsOn":
				for _, name := range list(item) {
					found[name.(string)] = true
				}
			default:
				references(tpl, item, found)
			}
		}
	}
}

func TestNoCircularReferences(t *testing.T) {
	tpl := translated(t)
	needs := map[string]map[string]bool{}
	for name, r := range tpl.Resources {
		needs[name] = map[string]bool{}
		references(tpl, r.all, needs[name])
		maps.DeleteFunc(needs[name], func(other string, _ bool) bool { return tpl.Resources[other].Type == "" })
	}
	for len(needs) > 0 {
		var ready []string
		for name, others := range needs {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(others)), func(o string) bool { return needs[o] != nil }) {
				ready = append(ready, name)
			}
		}
		if len(ready) == 0 {
			t.Fatalf("these wait for each other: %v", slices.Sorted(maps.Keys(needs)))
		}
		for _, name := range ready {
			delete(needs, name)
		}
	}
}
