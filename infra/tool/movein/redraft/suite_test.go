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

// excuse is a note that may explain a difference, in the suite's files about its keyword alone.
type excuse struct {
	files string // a pattern below the draft's folder
	note  string
	valid bool // what the suite says of the data; a rule that is left out takes what the suite refuses
	most  int  // of a draft
}

// excuses are all that the suite finds. Another difference is a fault, whatever other notes the schema has.
var excuses = []excuse{
	{"optional/format/*.json", "format only describes, and is not checked", false, 204},
	{"optional/format-assertion.json", "format only describes, and is not checked", false, 2},
	{"optional/content.json", "contentEncoding only describes, and is not checked", false, 3},
	{"optional/content.json", "contentMediaType only describes, and is not checked", false, 1},
	{"optional/zeroTerminatedFloats.json", "integer takes 1.0 as well, as in later drafts", false, 1},
	{"vocabulary.json", "$schema is of no draft that is known here: the keywords of all drafts count", true, 1},
}

// refusals are the reasons for which schemas may be left out, with the most results of a draft.
var refusals = map[string]int{
	"it refers to another document": 49, "it refers to itself": 17, "reading schema: it must be an object": 20,
	"$recursiveRef": 38, "$dynamicRef": 33,
}

// count are the results of a draft.
type count struct {
	tests, leftOut, silent int
	excused                map[excuse]int
	refused                map[string]int
}

// differ counts a result that is not the suite's. It reports whether a note about the file's keyword explains it.
func (c *count) differ(file, notes string, valid bool) (explained bool) {
	for _, e := range excuses {
		about, err := filepath.Match(e.files, file)
		if err == nil && about && e.valid == valid && slices.Contains(strings.Split(notes, "\n"), e.note) {
			c.excused[e]++
			return true
		}
	}
	return false
}

// bounded finds excuses and refusals of a draft that are more than they were.
func (c *count) bounded(t *testing.T, folder string) {
	t.Helper()
	for e, n := range c.excused {
		if n > e.most {
			t.Errorf("%s: %d results of %s differ by the note %q, at most %d did", folder, n, e.files, e.note, e.most)
		}
	}
	for why, n := range c.refused {
		if n > refusals[why] {
			t.Errorf("%s: %d results are of schemas that are left out since %s, at most %d were", folder, n, why, refusals[why])
		}
	}
}

// play runs the tests of a file of a draft's folder.
func (c *count) play(t *testing.T, folder, file string, d draft) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, file))
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
				c.refused[told]++
			case takes(t, s, string(test.Data)) == test.Valid, c.differ(file, told, test.Valid):
			default:
				c.silent++
				t.Errorf("%s of %s, %s, %s: not %t, and no note about it in %q: %s",
					file, d, g.Description, test.Description, test.Valid, told, schema)
			}
		}
	}
}

// A written schema has the verdicts of the official suite, or notes that say what differs. Without the folder of the
// suite it plays the main tests of draft 7 and 2020-12, which a dependency has.
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
		c := count{excused: map[excuse]int{}, refused: map[string]int{}}
		for _, part := range parts {
			files, err := filepath.Glob(filepath.Join(dir, folder, part, "*.json"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				c.play(t, filepath.Join(dir, folder), filepath.Join(part, filepath.Base(file)), d)
			}
		}
		c.bounded(t, folder)
		listed := 0
		for _, n := range c.excused {
			listed += n
		}
		t.Logf("%s: %d tests: %d of schemas that are left out, %d others differ by a note about them, %d silently",
			folder, c.tests, c.leftOut, listed, c.silent)
		total += c.tests
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
