package commands

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/herald/answers"
	"github.com/herald-webhooks/herald/infra/herald/exit"
	"github.com/herald-webhooks/herald/infra/herald/terminal"
)

// asksNothing are the acts that change nothing of a stack: they write a new file here, or serve a page.
var asksNothing = []string{"endpoints convert", "events convert", "console"}

// The input of a script is no answer: "yes | herald" would agree to a question that was never read.
func TestActs_askFirstAndAllAlike(t *testing.T) {
	for line := range actors {
		if slices.ContainsFunc(asksNothing, func(quiet string) bool { return strings.HasPrefix(line, quiet) }) {
			continue
		}
		f, out := playUnasked(t, line, "y\n{}")
		if line == "start" {
			continue // nothing is stopped
		}
		contains(t, out.words, "herald-test in ", ": add --yes to do it without a question")
		if out.code != exit.Usage {
			t.Errorf("herald %s: exit code %d: %s", line, out.code, out.words)
		}
		looks := []any{"endpoint", "causes"}
		acts := slices.DeleteFunc(f.requests, func(r answers.Row) bool {
			return r["dry_run"] == true || slices.Contains(looks, r["action"])
		})
		if len(acts) > 0 || len(f.cloud.changes) > 0 {
			t.Errorf("herald %s: asked %v, changed %v", line, acts, f.cloud.changes)
		}
	}
}

type played struct {
	code  int
	words string
}

// playUnasked plays a command line where input is no terminal.
func playUnasked(t *testing.T, line, input string) (*fake, played) {
	t.Helper()
	if strings.HasSuffix(line, " -") {
		input = `{"tenant_id":"a"}`
	}
	f := &fake{
		answers: map[string]string{"webhooks import": data("would_create")},
		later:   slices.Repeat([]string{`{"selected":1,"ready":1,"complete":true,"next_cursor":null}`}, 10),
	}
	var out bytes.Buffer
	on := &terminal.Terminal{In: strings.NewReader(input), Out: &out, Err: &out, Now: clock}
	code := f.run(t.Context(), on, strings.Fields(line)...)
	return f, played{code, out.String()}
}
