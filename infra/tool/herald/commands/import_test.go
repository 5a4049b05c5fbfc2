package commands

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

const someLines = `{"tenant_id":"acme","url":"https://a.com/1","events":["*"],"secret":"hidden"}

{"tenant_id":"acme","url":"https://a.com/2","events":["*"],"secret":"hidden"}
`

// importing plays an import of the file, fails the test unless it ends with this code and says that, and returns its
// output.
func (f *fake) importing(t *testing.T, file string, code int, says string, flags ...string) (out string) {
	t.Helper()
	path := t.TempDir() + "/endpoints.jsonl"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	got, out, words := f.play(t, "", append(flags, "endpoints", "import", path)...)
	if got != code || !strings.Contains(out+words, says) || strings.Contains(out+words, "hidden") {
		t.Errorf("%.80q: exit code %d, want %d that says %q and shows no secret:\n%s%s", file, got, code, says, out, words)
	}
	return out
}

// The results of imports.
const (
	wouldCreate = api.ResultWouldCreate
	exists      = api.ResultExists
	created     = api.ResultCreated
	failed      = api.ResultFailed
	notStarted  = api.ResultNotStarted
)

// imports is an answer with a result for each line.
func imports(results ...api.Result) string {
	var answer api.ImportAnswer
	for _, r := range results {
		answer.Data = append(answer.Data, api.Imported{Result: r})
	}
	return written(answer)
}

func TestImport_createsWhatIsNotThereYet(t *testing.T) {
	f := &fake{later: []string{imports(exists, wouldCreate), imports(created)}}
	if out := f.importing(t, someLines, exit.Done, "1 to create, 1 exist", "-y"); !strings.Contains(out, "3 ") {
		t.Error(out)
	}
	second := sent{"tenant_id": "acme", "url": "https://a.com/2", "events": []any{"*"}, "secret": "hidden"}
	want := sent{"action": "import", "operator": "arn:aws:iam::1:user/ann", "endpoints": []any{second}}
	if diff := cmp.Diff(want, f.requests[1]); diff != "" || f.requests[0]["dry_run"] != true {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestImport_createsNothing(t *testing.T) {
	refused := written(api.ImportAnswer{Data: []api.Imported{{Result: wouldCreate}, {
		Result: api.ResultRefused, Errors: []api.FieldError{{Field: "secret", Message: "too short"}, {Message: "limit"}},
	}}})
	for name, c := range map[string]struct {
		flags  []string
		answer string
		code   int
		says   string
	}{
		"a line that is refused":       {[]string{"-y"}, refused, exit.Usage, "secret: too short; limit"},
		"an internal fault":            {[]string{"-y"}, imports(wouldCreate, failed), exit.Failed, "failed"},
		"a dry run":                    {[]string{"--dry-run"}, imports(wouldCreate, exists), exit.Done, "1 to create"},
		"nothing to do":                {nil, imports(exists, exists), exit.Done, "0 to create"},
		"no answer to the question":    {nil, imports(wouldCreate, exists), exit.Failed, "Create 1 endpoints"},
		"an answer about others":       {[]string{"-y"}, imports(wouldCreate), exit.Failed, "1 of 2"},
		"no time, whatever the number": {[]string{"-y"}, imports(notStarted, notStarted), exit.Failed, "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{later: []string{c.answer}}
			if f.importing(t, someLines, c.code, c.says, c.flags...); len(f.requests) != 1 {
				t.Errorf("%d requests", len(f.requests))
			}
		})
	}
}

func TestImport_saysWhatIsLeftToDo(t *testing.T) {
	f := &fake{later: []string{imports(wouldCreate, wouldCreate), imports(created, failed)}}
	f.importing(t, someLines, exit.Unhealthy, "1 of 2 created", "-y")
	f = &fake{later: []string{imports(wouldCreate, wouldCreate), imports(created, notStarted), `<html>`}}
	out := f.importing(t, someLines, exit.Failed, "1 of 2 created", "-y", "-o", "json")
	if strings.Count(out, `"result"`) != 2 {
		t.Error(out)
	}
}

func TestImport_asksForTenAtATime(t *testing.T) {
	var file strings.Builder
	for n := range 25 {
		file.WriteString(`{"url":"https://a.com/` + strings.Repeat("x", n) + `"}` + "\n")
	}
	exist := func(n int) string { return imports(slices.Repeat([]api.Result{exists}, n)...) }
	f := &fake{later: []string{exist(10), exist(10), exist(5)}}
	if f.importing(t, file.String(), exit.Done, ""); len(f.requests) != 3 {
		t.Errorf("%d requests", len(f.requests))
	}
}

func TestImport_readsTheWholeFileBeforeItAsks(t *testing.T) {
	for file, says := range map[string]string{
		"":                             "no lines",
		"\n\n":                         "no lines",
		someLines + "hidden":           "line 4: no JSON at byte 0",
		someLines + `{"url":"\ud8"}`:   "line 4: no JSON at byte 8",
		someLines + `{"url":"\udead"}`: "line 4: a surrogate without its other half at byte 8",
		someLines + `{"a":1,"a":2}`:    "line 4: a: appears twice",
		someLines + `["hidden"]`:       "line 4: must be a JSON object",
		someLines + `{"url":["x"]}`:    "line 4: url: must be a string",
		`{"a":"` + big + `"}`:          "line 1: longer than",
		someLines + `{"tenant_id":"acme","url":"https://A.com:443/1"}`: "line 4: url: the tenant has it in line 1, too",
	} {
		new(fake).importing(t, file, exit.Usage, says, "-y")
	}
}

var big = strings.Repeat("x", maxImportLine)
