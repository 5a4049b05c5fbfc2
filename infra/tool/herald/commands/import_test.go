package commands

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

const someLines = `{"tenant_id":"acme","url":"https://a.com/1","events":["*"],"secret":"hidden"}

{"tenant_id":"acme","url":"https://a.com/2","events":["*"],"secret":"hidden"}
`

// imports plays an import of the file, fails the test unless it ends with this code and says that, and returns its
// output.
func (f *fake) imports(t *testing.T, file string, code int, says string, flags ...string) (out string) {
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

func data(results ...string) string {
	return `{"data":[{"result":"` + strings.Join(results, `"},{"result":"`) + `"}]}`
}

func TestImport_createsWhatIsNotThereYet(t *testing.T) {
	f := &fake{later: []string{data("exists", "would_create"), data("created")}}
	if out := f.imports(t, someLines, exit.Done, "1 to create, 1 exist", "-y"); !strings.Contains(out, "3 ") {
		t.Error(out)
	}
	second := answers.Row{"tenant_id": "acme", "url": "https://a.com/2", "events": []any{"*"}, "secret": "hidden"}
	want := answers.Row{"action": "import", "operator": "arn:aws:iam::1:user/ann", "endpoints": []any{second}}
	if diff := cmp.Diff(want, f.requests[1]); diff != "" || f.requests[0]["dry_run"] != true {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestImport_createsNothing(t *testing.T) {
	const refused = `{"data":[{"result":"would_create"},
		{"result":"refused","errors":[{"field":"secret","message":"too short"},{"field":"","message":"limit"}]}]}`
	for name, c := range map[string]struct {
		flags  []string
		answer string
		code   int
		says   string
	}{
		"a line that is refused":       {[]string{"-y"}, refused, exit.Usage, "secret: too short; limit"},
		"an internal fault":            {[]string{"-y"}, data("would_create", "failed"), exit.Failed, "failed"},
		"a dry run":                    {[]string{"--dry-run"}, data("would_create", "exists"), exit.Done, "1 to create"},
		"nothing to do":                {nil, data("exists", "exists"), exit.Done, "0 to create"},
		"no answer to the question":    {nil, data("would_create", "exists"), exit.Failed, "Create 1 endpoints"},
		"an answer about others":       {[]string{"-y"}, data("would_create"), exit.Failed, "1 of 2"},
		"no time, whatever the number": {[]string{"-y"}, data("not_started", "not_started"), exit.Failed, "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{later: []string{c.answer}}
			if f.imports(t, someLines, c.code, c.says, c.flags...); len(f.requests) != 1 {
				t.Errorf("%d requests", len(f.requests))
			}
		})
	}
}

func TestImport_saysWhatIsLeftToDo(t *testing.T) {
	f := &fake{later: []string{data("would_create", "would_create"), data("created", "failed")}}
	f.imports(t, someLines, exit.Unhealthy, "1 of 2 created", "-y")
	f = &fake{later: []string{data("would_create", "would_create"), data("created", "not_started"), `<html>`}}
	out := f.imports(t, someLines, exit.Failed, "1 of 2 created", "-y", "-o", "json")
	if strings.Count(out, `"result"`) != 2 {
		t.Error(out)
	}
}

func TestImport_asksForTenAtATime(t *testing.T) {
	var file strings.Builder
	for n := range 25 {
		file.WriteString(`{"url":"https://a.com/` + strings.Repeat("x", n) + `"}` + "\n")
	}
	exist := func(n int) string { return data(slices.Repeat([]string{"exists"}, n)...) }
	f := &fake{later: []string{exist(10), exist(10), exist(5)}}
	if f.imports(t, file.String(), exit.Done, ""); len(f.requests) != 3 {
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
		new(fake).imports(t, file, exit.Usage, says, "-y")
	}
}

var big = strings.Repeat("x", maxImportLine)
