package commands

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
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
		contains(t, out.words, "herald-test in ", ": add --yes to act without asking")
		if out.code != exit.Usage {
			t.Errorf("herald %s: exit code %d: %s", line, out.code, out.words)
		}
		looks := []any{"endpoint", "causes", "job", "list"}
		acts := slices.DeleteFunc(f.requests, func(r sent) bool {
			return r["dry_run"] == true || slices.Contains(looks, r["action"])
		})
		if len(acts) > 0 || len(f.cloud.changes) > 0 {
			t.Errorf("herald %s: asked %v, changed %v", line, acts, f.cloud.changes)
		}
	}
}

// A number that is not exact, or an id that says nothing, is no question.
func TestQuestions_tellWhatWouldBeDone(t *testing.T) {
	more := api.Survey{Selected: 48000, Ready: 48000, Until: now}
	for line, says := range map[string]string{
		"dead purge --tenant acme":              "Delete more than 48000 dead letters for good?",
		"dead replay --tenant acme":             "Replay more than 48000 dead letters?",
		"rejected publish --reason not_process": "Publish more than 48000 events again?",
		"jobs resume job_1":                     "Resume the job job_1: delete 870 more dead letters for good?",
	} {
		f := fakeOf(to(api.StartJob, more), to(api.GetJob, api.Job{Act: job.Purge, Left: 870}),
			to(api.ListCauses, api.Causes{}))
		code, _, words := f.play(t, "n\n", strings.Fields(line)...)
		if contains(t, words, says); code != exit.Failed {
			t.Errorf("herald %s: exit code %d: %s", line, code, words)
		}
	}
}

// What deletes all that a selection has is not done by a "y" that fingers know.
func TestQuestions_haveTheNumberTypedOfWhatCannotBeUndone(t *testing.T) {
	would := api.Survey{Selected: 7, Ready: 7, Complete: true, Until: now, Job: &api.Job{JobID: "job_1"}}
	for _, line := range []string{"dead purge --tenant acme", "rejected discard --tenant acme"} {
		for typed, want := range map[string]int{"y\n": exit.Failed, "6\n": exit.Failed, "7\n": exit.Done} {
			f := fakeOf(to(api.StartJob, would), to(api.ListCauses, api.Causes{}))
			f.answers["replay:delete start_job"] = written(would)
			code, _, words := f.play(t, typed, strings.Fields(line)...)
			if contains(t, words, "Type 7"); code != want {
				t.Errorf("herald %s, typed %q: exit code %d: %s", line, typed, code, words)
			}
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
		answers: map[string]string{"webhooks import": imports(wouldCreate)},
		later:   slices.Repeat([]string{anything}, 10),
	}
	var out bytes.Buffer
	on := &terminal.Terminal{In: strings.NewReader(input), Out: &out, Err: &out, Now: clock}
	code := f.run(t.Context(), on, strings.Fields(line)...)
	return f, played{code, out.String()}
}
