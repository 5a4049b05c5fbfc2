package schema

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	_ "github.com/google/jsonschema-go/jsonschema" // its module holds the suite
)

// suite is the folder of the official JSON Schema Test Suite, as the module of a library has it.
func suite(t *testing.T) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/google/jsonschema-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "jsonschema", "testdata", "draft2020-12")
}

// references are the keywords that a schema of Herald does not have: infra/kit/cataloguefile replaces them.
var references = []string{`"$ref"`, `"$dynamicRef"`, `"$id"`, `"$anchor"`, `"$dynamicAnchor"`}

func TestSchema_Check_passesTheOfficialSuite(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(suite(t), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var groups []struct {
			Description string
			Schema      jsontext.Value
			Tests       []struct {
				Description string
				Data        jsontext.Value
				Valid       bool
			}
		}
		if err := json.Unmarshal(text, &groups, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, g := range groups {
			if g.Schema.Kind() != '{' || hasAny(string(g.Schema), references) {
				continue
			}
			s, err := Compile(string(g.Schema))
			if err != nil {
				t.Errorf("%s, %s: %v", filepath.Base(file), g.Description, err)
				continue
			}
			for _, test := range g.Tests {
				cases++
				_, err := s.Check(test.Data, NoLimit)
				var mismatch *Mismatch
				if err != nil && !errors.As(err, &mismatch) || test.Valid != (err == nil) {
					t.Errorf("%s, %s, %s: %v", filepath.Base(file), g.Description, test.Description, err)
				}
			}
		}
	}
	if cases < 800 {
		t.Errorf("only %d cases were found", cases)
	}
}

func hasAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
