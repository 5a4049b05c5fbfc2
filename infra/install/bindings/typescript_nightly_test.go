//go:build emulator

package bindings

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// synthesis is a request to infra/install/cdk/test/synth.ts.
type synthesis struct {
	Stack   string     `json:"stack"`
	Region  string     `json:"region,omitempty"`
	Props   cfn.Object `json:"props"`
	Outputs []string   `json:"outputs,omitempty"`
	Token   string     `json:"token,omitempty"`
}

// synthesized is its answer.
type synthesized struct {
	Template cfn.Object `json:"template"`
	Error    string     `json:"error"`
}

// nested are the properties of the nested stack.
func (s synthesized) nested() cfn.Object {
	return cfn.At(s.Template, "Resources", "Herald", "Properties")
}

// compiled is the program that synthesizes, checked by TypeScript's compiler.
func compiled(t *testing.T) func(...synthesis) []synthesized {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(root, "infra/install/cdk"))); err != nil {
		t.Fatal(err)
	}
	tools, err := filepath.Abs(filepath.Join(root, ".tools"))
	if err != nil {
		t.Fatal(err)
	}
	err = os.Symlink(filepath.Join(tools, "cdk/node_modules"), filepath.Join(folder, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	node := func(words ...string) []byte {
		cmd := exec.CommandContext(t.Context(), filepath.Join(tools, "bin/node"), words...)
		cmd.Dir = folder
		var problems strings.Builder
		cmd.Stderr = &problems
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, problems.String())
		}
		return out
	}
	example(t, "infra/install/cdk/README.md", "ts", filepath.Join(folder, "readme.ts"))
	compiler := filepath.Join(tools, "openapi/node_modules/typescript/bin/tsc")
	node(compiler, "-p", "tsconfig.json")
	return func(all ...synthesis) (answers []synthesized) {
		input, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(node("out/test/synth.js", string(input)), &answers); err != nil || len(answers) != len(all) {
			t.Fatalf("%d answers to %d cases: %v", len(answers), len(all), err)
		}
		return answers
	}
}

// typed is a value of a parameter as its property takes it.
func typed(t *testing.T, p cfn.Object, value string) any {
	t.Helper()
	if p["Type"] == "Number" {
		n, err := strconv.Atoi(value)
		if err != nil {
			return value
		}
		return n
	}
	if slices.Contains(cfn.List(p["AllowedValues"]), any("true")) && (value == "true" || value == "false") {
		return value == "true"
	}
	return value
}

// sets gives each parameter a value: the last that the template allows, else the largest, else the default.
func sets(t *testing.T) (props cfn.Object, want map[string]any) {
	t.Helper()
	parameters, _ := packaged(t)
	props, want = cfn.Object{}, map[string]any{}
	for name, p := range parameters {
		value, _ := p["Default"].(string)
		if largest, ok := p["MaxValue"].(string); ok {
			value = largest
		}
		for _, v := range cfn.List(p["AllowedValues"]) {
			value, _ = v.(string)
		}
		if name == "CodeBucket" {
			value = "my.bucket"
		}
		props[camel(name)], want[name] = typed(t, p, value), value
	}
	return props, want
}

// The compiler takes seconds. It reads the construct and the faulty programs once, for both subtests.
func TestCDK(t *testing.T) {
	t.Parallel()
	synth := compiled(t)
	t.Run("synthesizes the template with its parameters", func(t *testing.T) { synthesizes(t, synth) })
	t.Run("refuses what the template does", func(t *testing.T) { refuses(t, synth) })
}

// synthesizes asks for every parameter and output.
func synthesizes(t *testing.T, synth func(...synthesis) []synthesized) {
	t.Helper()
	bucket := cfn.Object{"codeBucket": "my.bucket"}
	everything, values := sets(t)
	_, outputs := packaged(t)
	asked := synthesis{Stack: "prod", Region: "eu-central-1", Props: bucket, Outputs: []string{"stackName"}}
	want := cfn.Object{"stackNameOutput": cfn.Object{"Value": cfn.Object{"Fn::Select": []any{
		1.0, cfn.Object{"Fn::Split": []any{"/", cfn.Object{"Ref": "Herald"}}},
	}}}}
	for name := range outputs {
		asked.Outputs = append(asked.Outputs, camel(name))
		want[camel(name)+"Output"] = cfn.Object{"Value": cfn.Object{"Fn::GetAtt": []any{"Herald", "Outputs." + name}}}
	}
	answers := synth(asked, synthesis{Stack: "prod", Props: everything},
		synthesis{Stack: "prod", Props: bucket, Token: "deathsPerHour"})
	for _, answer := range answers {
		if answer.Error != "" {
			t.Fatal(answer.Error)
		}
	}
	if diff := cmp.Diff(want, cfn.At(answers[0].Template, "Outputs")); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	simple := cfn.Object{
		"Parameters": cfn.Object{"CodeBucket": "my.bucket"},
		"TemplateURL": cfn.Object{"Fn::Join": []any{"", []any{
			"https://s3.eu-central-1.", cfn.Object{"Ref": "AWS::URLSuffix"}, "/my.bucket/herald/" + next(t) + "/template.yaml",
		}}},
	}
	if diff := cmp.Diff(simple, answers[0].nested()); diff != "" {
		t.Errorf("the nested stack (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(values, cfn.At(answers[1].nested(), "Parameters")); diff != "" {
		t.Errorf("with every property it has (-want +got):\n%s", diff)
	}
	given := cfn.At(answers[2].nested(), "Parameters", "DeathsPerHour")
	if diff := cmp.Diff(cfn.Object{"Ref": "Given"}, given); diff != "" {
		t.Errorf("a token becomes (-want +got):\n%s", diff)
	}
}

// refuses asks for values that CloudFormation would refuse. The construct has to refuse each and name its property.
func refuses(t *testing.T, synth func(...synthesis) []synthesized) {
	t.Helper()
	parameters, _ := packaged(t)
	var asked []synthesis
	var named []string
	refused := func(name string, s synthesis) { asked, named = append(asked, s), append(named, name) }
	with := func(property string, value any) cfn.Object {
		return cfn.Object{"codeBucket": "my-bucket", property: value}
	}
	for name, p := range parameters {
		for _, value := range refusals(t, p) {
			refused(camel(name), synthesis{Stack: "prod", Props: with(camel(name), typed(t, p, value))})
		}
	}
	topic := with("alarmTopicArn", "arn:aws:sns:us-east-1:111122223333:alarms")
	refused("alarmTopicArn", synthesis{Stack: "prod", Region: "eu-central-1", Props: topic})
	refused("codeBucket", synthesis{Stack: "prod", Props: cfn.Object{}})
	refused("unheardOf", synthesis{Stack: "prod", Props: with("unheardOf", "x")})
	refused("too long", synthesis{Stack: strings.Repeat("s", 33), Props: with("stage", "prod")})
	taken := []synthesis{
		{Stack: "prod", Region: "us-east-1", Props: topic}, {Stack: "prod", Props: topic},
		{Stack: "prod", Region: "eu-central-1", Props: with("stage", "prod"), Token: "alarmTopicArn"},
		{Stack: strings.Repeat("s", 32), Props: with("stage", "prod")},
	}
	for i, answer := range synth(slices.Concat(asked, taken)...) {
		switch {
		case i >= len(asked) && answer.Error != "":
			t.Errorf("%v: %s", taken[i-len(asked)], answer.Error)
		case i < len(asked) && !strings.Contains(answer.Error, named[i]):
			t.Errorf("of %v it says %q", asked[i], answer.Error)
		}
	}
}

var getter = regexp.MustCompile(`(?m)^  get (\w+)\(\)`)

// The class has no property without an output.
func TestCDK_hasNoOtherOutputs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, propertiesFile))
	if err != nil {
		t.Fatal(err)
	}
	_, outputs := packaged(t)
	var want, got []string
	for name := range outputs {
		want = append(want, camel(name))
	}
	for _, match := range getter.FindAllStringSubmatch(string(text), -1) {
		got = append(got, match[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outputs: run go generate ./infra/install/bindings (-want +got):\n%s", diff)
	}
}
