package bindings

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// its are the variables of the module itself.
var its = map[string]bool{"stack_name": true, "tags": true}

// Variables and the template's parameters are the same, in both directions.
func TestTerraform_variablesAreTheParameters(t *testing.T) {
	m := parsed(t)
	parameters, _ := packaged(t)
	variables := m.labelled("variable")
	maps.DeleteFunc(variables, func(name string, _ *hclsyntax.Body) bool { return its[name] })
	for name, p := range parameters {
		body := variables[snake(name)]
		if body == nil {
			t.Errorf("no variable is %s: run go generate ./infra/install/bindings", name)
			continue
		}
		delete(variables, snake(name))
		if said := value(t, body.Attributes["description"].Expr, nil).AsString(); said != p["Description"] {
			t.Errorf("%s is described as %q", name, said)
		}
		kind := "string"
		switch {
		case p["Type"] == "Number":
			kind = "number"
		case fmt.Sprint(p["AllowedValues"]) == "[true false]":
			kind = "bool"
		}
		if got := hcl.ExprAsKeyword(body.Attributes["type"].Expr); got != kind {
			t.Errorf("%s is a %s, want a %s", name, got, kind)
		}
		checkDefault(t, name, p, body)
	}
	for name := range variables {
		t.Errorf("no parameter is %s: run go generate ./infra/install/bindings", name)
	}
}

func checkDefault(t *testing.T, name string, p cfn.Object, body *hclsyntax.Body) {
	t.Helper()
	attribute := body.Attributes["default"]
	if (attribute != nil) != (p["Default"] != nil) {
		t.Errorf("%s has the default %v, and its variable %v", name, p["Default"], attribute)
		return
	}
	if attribute == nil {
		return
	}
	text, err := convert.Convert(value(t, attribute.Expr, nil), cty.String)
	if err != nil || text.AsString() != p["Default"] {
		t.Errorf("%s has the default %v, and its variable %v: %v", name, p["Default"], text, err)
	}
}

// CloudFormation gets the values that the template has as defaults, or those that are set, as text.
func TestTerraform_givesEachParameterAsText(t *testing.T) {
	m := parsed(t)
	parameters, _ := packaged(t)
	want := map[string]string{"CodeBucket": "my.bucket", "Stage": "prod", "DeathsPerHour": "1000000", "Dashboard": "false"}
	for name, p := range parameters {
		if want[name] == "" {
			want[name], _ = p["Default"].(string)
		}
	}
	known := m.given(t, map[string]cty.Value{
		"stack_name": cty.StringVal("herald-prod"), "code_bucket": cty.StringVal("my.bucket"),
		"stage": cty.StringVal("prod"), "deaths_per_hour": cty.NumberIntVal(1000000), "dashboard": cty.False,
	})
	stack := m.labelled("resource")["herald"]
	got := map[string]string{}
	for name, v := range value(t, stack.Attributes["parameters"].Expr, known).AsValueMap() {
		got[name] = v.AsString()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	url := value(t, stack.Attributes["template_url"].Expr, known).AsString()
	if want := "https://s3.eu-central-1.amazonaws.com/my.bucket/herald/" + next(t) + "/template.yaml"; url != want {
		t.Errorf("the template is at %s, want %s", url, want)
	}
	var capabilities []string
	for _, v := range value(t, stack.Attributes["capabilities"].Expr, nil).AsValueSlice() {
		capabilities = append(capabilities, v.AsString())
	}
	if diff := cmp.Diff([]string{"CAPABILITY_AUTO_EXPAND", "CAPABILITY_IAM"}, capabilities); diff != "" {
		t.Errorf("capabilities (-want +got):\n%s", diff)
	}
}

func TestTerraform_takesWhatTheTemplateTakes(t *testing.T) {
	m := parsed(t)
	parameters, _ := packaged(t)
	for name, p := range parameters {
		var taken []string
		for _, v := range cfn.List(p["AllowedValues"]) {
			taken = append(taken, fmt.Sprint(v))
		}
		for _, property := range []string{"Default", "MinValue", "MaxValue"} {
			if v, ok := p[property].(string); ok {
				taken = append(taken, v)
			}
		}
		for _, v := range taken {
			if !m.allows(t, snake(name), cty.StringVal(v)) {
				t.Errorf("%s does not take %q", name, v)
			}
		}
		refused := refusals(t, p)
		if len(refused) == 0 {
			t.Errorf("anything is allowed for %s", name)
		}
		for _, v := range refused {
			if m.allows(t, snake(name), cty.StringVal(v)) {
				t.Errorf("%s takes %q", name, v)
			}
		}
	}
	for name, taken := range map[string]bool{
		strings.Repeat("s", 53): true, strings.Repeat("s", 54): false, "herald-prod": true, "herald.prod": false, "1": false,
	} {
		if m.allows(t, "stack_name", cty.StringVal(name)) != taken {
			t.Errorf("the name %s is taken: %v", name, !taken)
		}
	}
}

// CloudFormation would fail after it has made half of the stack.
func TestTerraform_refusesResourcesOfAnotherRegion(t *testing.T) {
	m := parsed(t)
	stack := m.labelled("resource")["herald"]
	var condition hcl.Expression
	for _, block := range stack.Blocks {
		for _, inner := range block.Body.Blocks {
			if inner.Type == "precondition" {
				condition = inner.Body.Attributes["condition"].Expr
			}
		}
	}
	for arn, fine := range map[string]bool{
		"": true, "arn:aws:sns:eu-central-1:111122223333:alarms": true, "arn:aws:sns:us-east-1:111122223333:alarms": false,
	} {
		known := m.given(t, map[string]cty.Value{
			"stack_name": cty.StringVal("herald-prod"), "code_bucket": cty.StringVal("my-bucket"),
			"alarm_topic_arn": cty.StringVal(arn),
		})
		if value(t, condition, known).True() != fine {
			t.Errorf("%q is taken: %v", arn, !fine)
		}
	}
	regional := m.given(t, map[string]cty.Value{
		"stack_name": cty.StringVal("h"), "code_bucket": cty.StringVal("b"),
	})["local"].GetAttr("regional").AsValueMap()
	parameters, _ := packaged(t)
	for name, p := range parameters {
		_, ok := regional[name]
		pattern := fmt.Sprint(p["AllowedPattern"])
		one := !strings.Contains(pattern, "(,")
		if want := one && (strings.Contains(pattern, ":sns:") || strings.Contains(pattern, ":acm:")); ok != want {
			t.Errorf("%s has to be in the stack's region: %v", name, ok)
		}
	}
}

// Outputs are the template's, in both directions. One that does not always exist is null then.
func TestTerraform_outputsAreTheTemplates(t *testing.T) {
	m := parsed(t)
	_, outputs := packaged(t)
	made, some := map[string]cty.Value{}, map[string]cty.Value{}
	for name := range outputs {
		made[name] = cty.StringVal("the " + name)
		if cfn.At(outputs, name)["Condition"] == nil {
			some[name] = made[name]
		}
	}
	bodies := m.labelled("output")
	delete(bodies, "stack_name") // the module's own
	stack := func(outputs map[string]cty.Value) map[string]cty.Value {
		return map[string]cty.Value{"aws_cloudformation_stack": cty.ObjectVal(map[string]cty.Value{
			"herald": cty.ObjectVal(map[string]cty.Value{"outputs": cty.MapVal(outputs)}),
		})}
	}
	for name := range outputs {
		body := bodies[snake(name)]
		if body == nil {
			t.Errorf("no output is %s: run go generate ./infra/install/bindings", name)
			continue
		}
		delete(bodies, snake(name))
		if got := value(t, body.Attributes["value"].Expr, stack(made)); got != made[name] {
			t.Errorf("%s is %v", name, got)
		}
		got := value(t, body.Attributes["value"].Expr, stack(some))
		if exists := some[name] != cty.NilVal; got.IsNull() == exists {
			t.Errorf("%s is %v where it exists: %v", name, got, exists)
		}
	}
	for name := range bodies {
		t.Errorf("the template has no output %s: run go generate ./infra/install/bindings", name)
	}
}

// The README's example names variables that exist, gives those that have no default, and uses outputs that exist.
func TestTerraform_exampleFitsTheModule(t *testing.T) {
	m, file := parsed(t), filepath.Join(t.TempDir(), "main.tf")
	example(t, "infra/install/terraform/README.md", "hcl", file)
	shown := blocks(t, file)
	given := shown.labelled("module")["herald"].Attributes
	source := value(t, given["source"].Expr, nil).AsString()
	if want := "//infra/install/terraform?ref=v" + next(t); !strings.HasSuffix(source, want) {
		t.Errorf("the example is of %s, want %s", source, want)
	}
	for name := range given {
		if name != "source" && m.labelled("variable")[name] == nil {
			t.Errorf("no variable is %s", name)
		}
	}
	for name, body := range m.labelled("variable") {
		if given[name] == nil && body.Attributes["default"] == nil {
			t.Errorf("the example lacks %s", name)
		}
	}
	for _, used := range shown.labelled("resource")["publishers"].Attributes["policy_arn"].Expr.Variables() {
		if name := used[len(used)-1].(hcl.TraverseAttr).Name; m.labelled("output")[name] == nil {
			t.Errorf("no output is %s", name)
		}
	}
}
