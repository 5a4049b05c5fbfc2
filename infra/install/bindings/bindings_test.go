package bindings

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

const root = "../../.."

// packaged are the parameters and outputs of the packaged template, as another reader sees them.
func packaged(t *testing.T) (parameters map[string]cfn.Object, outputs cfn.Object) {
	t.Helper()
	written, err := cfn.Read(filepath.Join(root, template))
	added, addedErr := cfn.Read(filepath.Join(root, additions))
	text, textErr := os.ReadFile(filepath.Join(root, template))
	var whole cfn.Object
	if err := errors.Join(err, addedErr, textErr, yaml.Unmarshal(text, &whole)); err != nil {
		t.Fatal(err)
	}
	for name, p := range added.Parameters {
		written.Parameters[name] = p
	}
	return written.Parameters, cfn.At(whole, "Outputs")
}

// refusals are values that the template does not allow for a parameter.
func refusals(t *testing.T, p cfn.Object) (values []string) {
	t.Helper()
	if p["AllowedValues"] != nil {
		values = append(values, "1234567")
	}
	for bound, step := range map[string]int{"MinValue": -1, "MaxValue": 1} {
		if p[bound] == nil {
			continue
		}
		n, err := strconv.Atoi(p[bound].(string))
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, strconv.Itoa(n+step))
	}
	if pattern, ok := p["AllowedPattern"].(string); ok {
		whole := regexp.MustCompile("^(?:" + pattern + ")$")
		for _, value := range []string{"!", "\n", "arn:aws:x", "A b"} {
			if !whole.MatchString(value) {
				values = append(values, value)
			}
		}
	}
	if p["MaxLength"] != nil {
		n, err := strconv.Atoi(p["MaxLength"].(string))
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, strings.Repeat("1", n+1), strings.Repeat("a", n+1))
	}
	return values
}

const small = `Parameters:
  Stage: { Type: String, Default: dev, MaxLength: 31, AllowedPattern: "[a-z]+", Description: Name }
  Days: { Type: Number, Default: 7, MinValue: 1, MaxValue: 30, Description: How long }
  Kind: { Type: String, Default: a, AllowedValues: [a, b], Description: Which }
Outputs:
  ApiUrl: { Description: Where, Value: x }
`

func written(text string) (map[string]string, error) {
	r, err := parse("1.0.0", text)
	if err != nil {
		return nil, err
	}
	typescript, err := properties(r)
	return map[string]string{"terraform": string(variables(r)) + string(outputs(r)), "cdk": string(typescript)}, err
}

// A change that the code does not show would not be seen by who has to generate it again.
func TestFiles_showEachPropertyOfAParameter(t *testing.T) {
	before, err := written(small)
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		"Stage:": "Level:", "Default: dev": "Default: prod", "31": "32", "[a-z]+": "[A-Z]+", "Name": "Another",
		"Default: 7": "Default: 8", "MinValue: 1": "MinValue: 0", "MaxValue: 30": "MaxValue: 31",
		"[a, b]": "[a, b, c]", "Default: a, ": "", "ApiUrl": "Url", "Where": "Whither",
		"Value: x":       "Condition: Yes, Value: x",
		"AllowedPattern": "AllowedValues: [dev], AllowedPattern", ", MaxValue: 30": "", "Type: Number": "Type: String",
	} {
		changed := strings.Replace(small, from, to, 1)
		if changed == small {
			t.Fatalf("%s is not in the template", from)
		}
		after, err := written(changed)
		if err != nil {
			t.Errorf("%s: %v", to, err)
		}
		for language := range before {
			if before[language] == after[language] {
				t.Errorf("with %s in the place of %s the code for %s is the same", to, from, language)
			}
		}
	}
}

func TestParse_refusesWhatTheCodeWouldLeaveOut(t *testing.T) {
	for name, changed := range map[string]string{
		"a property":      strings.Replace(small, "MinValue: 1", "NoEcho: true", 1),
		"of an output":    strings.Replace(small, "Value: x", "Value: x, Export: {}", 1),
		"a type":          strings.Replace(small, "Type: Number", "Type: CommaDelimitedList", 1),
		"no description":  strings.Replace(small, ", Description: Name", "", 1),
		"a bound":         strings.Replace(small, "MinValue: 1", "MinValue: one", 1),
		"no outputs":      small[:strings.Index(small, "Outputs")],
		"no template":     "",
		"not a template":  "[",
		"not a parameter": strings.Replace(small, "Kind: {", "Kind: x #", 1),
	} {
		if code, err := written(changed); err == nil {
			t.Errorf("%s is taken:\n%s", name, code)
		}
	}
}

// Terraform's names and TypeScript's are the template's, and no two fall together.
func TestNamesAreTheTemplates(t *testing.T) {
	parameters, _ := packaged(t)
	var back strings.Builder
	for name := range parameters {
		back.Reset()
		for word := range strings.SplitSeq(snake(name), "_") {
			back.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		if back.String() != name || strings.ToUpper(camel(name)[:1])+camel(name)[1:] != name {
			t.Errorf("%s is %s and %s", name, snake(name), camel(name))
		}
	}
}

func TestSingle_isTypeScript(t *testing.T) {
	for text, want := range map[string]string{"": "''", `it's "so"`: `'it\'s "so"'`, "a\\.b\n": `'a\\.b\n'`} {
		if diff := cmp.Diff(want, single(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// next is the version of the template to be installed.
func next(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, version))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// example writes the code that a document shows into a file.
func example(t *testing.T, document, language, to string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(text), "```"+language+"\n")
	code, _, _ = strings.Cut(code, "```")
	if !found {
		t.Fatalf("%s shows no code", document)
	}
	if err := os.WriteFile(to, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
}
