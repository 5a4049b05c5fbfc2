package redraft

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	_ "github.com/google/jsonschema-go/jsonschema" // its module holds a part of the suite
)

// With these, which make suite sets, all drafts are tested, with their optional parts.
var (
	suiteFolder = flag.String("suite", "", "the folder tests of the JSON Schema Test Suite")
	metaFolder  = flag.String("metaschemas", "", "the folder of the drafts' meta-schemas")
)

// folders are those of the drafts in the suite.
var folders = map[string]draft{
	"draft3": draft3, "draft4": draft4, "draft6": draft6, "draft7": draft7, "draft2019-09": draft2019,
	"draft2020-12": draft2020,
}

// group are the tests of a schema in the suite.
type group struct {
	Description string         `json:"description"`
	Schema      jsontext.Value `json:"schema"`
	Tests       []struct {
		Description string         `json:"description"`
		Data        jsontext.Value `json:"data"`
		Valid       bool           `json:"valid"`
	} `json:"tests"`
}

// ofDraft is a schema that names its draft, as the folder says.
func ofDraft(t *testing.T, text jsontext.Value, d draft) string {
	t.Helper()
	v, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	o, isObject := v.(*object)
	if !isObject || o.has("$schema") {
		return string(text)
	}
	o.set("$schema", uris[d])
	return string(appendJSON(nil, o))
}

// count are the results of a folder.
type count struct{ tests, leftOut, listed, silent int }

// play runs the tests of a file.
func (c *count) play(t *testing.T, file string, d draft) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []group
	if err := json.Unmarshal(text, &groups, lenient...); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, g := range groups {
		schema := ofDraft(t, g.Schema, d)
		s, told := written(t, schema)
		for _, test := range g.Tests {
			c.tests++
			switch {
			case s == nil:
				c.leftOut++
			case takes(t, s, string(test.Data)) == test.Valid:
			case told != "":
				c.listed++
			default:
				c.silent++
				t.Errorf("%s, %s, %s: not %t, without a note: %s", file, g.Description, test.Description, test.Valid, schema)
			}
		}
	}
}

// A written schema has the verdicts of the official suite, or notes.
func TestSchema_passesTheOfficialSuite(t *testing.T) {
	dir, parts := *suiteFolder, []string{"", "optional", "optional/format"}
	if dir == "" {
		module, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
			"github.com/google/jsonschema-go").Output()
		if err != nil {
			t.Fatal(err)
		}
		dir, parts = filepath.Join(strings.TrimSpace(string(module)), "jsonschema", "testdata"), []string{""}
	}
	total := 0
	for folder, d := range folders {
		for _, part := range parts {
			files, err := filepath.Glob(filepath.Join(dir, folder, part, "*.json"))
			if err != nil {
				t.Fatal(err)
			}
			var c count
			for _, file := range files {
				c.play(t, file, d)
			}
			t.Logf("%s: %d tests: %d of schemas that are left out, %d others differ by a note, %d silently",
				filepath.Join(folder, part), c.tests, c.leftOut, c.listed, c.silent)
			total += c.tests
		}
	}
	if least := map[bool]int{true: 7000, false: 2000}[*suiteFolder != ""]; total < least {
		t.Errorf("there are %d tests only", total)
	}
	if *metaFolder != "" {
		lookForWords(t, *metaFolder)
	}
}

// lookForWords looks for keywords of the meta-schemas that the lists do not have.
func lookForWords(t *testing.T, dir string) {
	t.Helper()
	for d, folder := range map[draft]string{
		draft3: "draft3", draft4: "draft4", draft6: "draft6", draft7: "draft7", draft2019: "draft201909",
		draft2020: "draft202012",
	} {
		paths, err := filepath.Glob(filepath.Join(dir, folder, "vocabularies", "*"))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, filepath.Join(dir, folder, "metaschema.json"))
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			v, err := parse(text)
			if err != nil {
				t.Fatal(err)
			}
			properties, _ := v.(*object).values["properties"].(*object)
			if properties == nil {
				continue // the vocabularies for formats have none
			}
			for _, word := range properties.names {
				if !slices.Contains(words(d), word) {
					t.Errorf("%s has %s, and the list does not", path, word)
				}
			}
		}
	}
}
