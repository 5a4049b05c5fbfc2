package commands

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/runbook"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

var word = regexp.MustCompile(`"[^"]*"|\S+`)

// deletesSelection matches the commands that have a number typed.
var deletesSelection = regexp.MustCompile(`(dead purge|rejected discard) --`)

// page returns the groups of commands of one of the operators' pages.
func page(t *testing.T, name string) []runbook.Group {
	t.Helper()
	text, err := os.ReadFile("../../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return runbook.Groups(string(text))
}

// Every command of the reference fits a terminal and makes a request of those below it, and no request is left.
func TestReference_showsTheRequestsOfEachCommand(t *testing.T) {
	groups, played := append(page(t, "operator-api.md"), runbook.Variants()...), 0
	t.Chdir(t.TempDir())
	for _, group := range groups {
		made := map[string]bool{}
		for _, command := range group.Commands {
			t.Run(command, func(t *testing.T) { playReference(t, command, group, made) })
			played++
		}
		for _, part := range group.Parts {
			for _, request := range part.Requests {
				if !made[request] {
					t.Errorf("no command above makes %s of %s", request, part.Function)
				}
			}
		}
	}
	if played < 35 {
		t.Errorf("played %d commands", played)
	}
}

// The commands of the runbook work as they stand there, for somebody who types them at night.
func TestRunbook_commandsWork(t *testing.T) {
	groups := page(t, "operators.md")
	t.Chdir(t.TempDir())
	for _, group := range groups {
		for _, command := range group.Commands {
			t.Run(command, func(t *testing.T) { playLine(t, command) })
		}
	}
	if len(groups) < 2 || len(groups[0].Commands) != 6 {
		t.Errorf("the runbook begins with %v, want six commands", groups)
	}
}

// playLine plays a command of a page against functions that answer all requests. It returns them with the requests.
func playLine(t *testing.T, command string) *fake {
	t.Helper()
	answer := together(
		api.Summary{DeadLetters: map[deadletter.Status]api.LetterCount{deadletter.Dead: {Count: 1}}},
		api.Job{Act: job.Replay, Done: 1, Failed: map[string]int{api.ReasonInternal: 1}},
		api.Delivery{State: delivery.Acknowledged}, api.Endpoint{EndpointID: "webhook_…"}, api.Erased{},
		api.List[struct{}]{}, api.Survey{Selected: 1, Ready: 1, Complete: true, Job: &api.Job{JobID: "job_1"}})
	f := &fake{
		later:   slices.Repeat([]string{answer}, 10),
		answers: map[string]string{"webhooks import": imports(wouldCreate)},
	}
	if strings.HasPrefix(command, "tenants erase ") { // of a tenant that has no rejected event
		f.answers["replay start_job"] = written(api.Survey{Complete: true})
	}
	args := word.FindAllString(command, -1)
	for n := range args {
		args[n] = strings.Trim(args[n], `"`)
	}
	yes := "y\n"
	if deletesSelection.MatchString(command) {
		yes = "1\n"
	}
	code, _, words := f.play(t, yes, args...)
	if code != exit.Done && code != exit.Unhealthy {
		t.Fatalf("exit code %d: %s", code, words)
	}
	if line := "herald " + command; len(line) > 80 {
		t.Errorf("more than a line: %s", line)
	}
	return f
}

// playReference plays a command, and adds the requests of its group that it made.
func playReference(t *testing.T, command string, group runbook.Group, made map[string]bool) {
	t.Helper()
	for _, part := range group.Parts {
		for _, request := range part.Requests {
			writeFiles(t, request)
		}
	}
	f := playLine(t, command)
	found := false
	for _, part := range group.Parts {
		for _, request := range part.Requests {
			if f.made(t, part.Function, request) {
				made[request], found = true, true
			}
		}
	}
	if !found {
		t.Errorf("made %v of %v, want one of %v", f.requests, f.asked, group.Parts)
	}
}

// writeFiles writes the files that a command reads. The request of the page has their content.
func writeFiles(t *testing.T, request string) {
	t.Helper()
	want := object(t, request)
	lines, _ := want["endpoints"].([]any)
	files := map[string]any{"event.json": want["event"], "endpoints.jsonl": append(lines, sent{})[0]}
	for name, content := range files {
		text, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		if content == nil || len(lines) == 0 && name == "endpoints.jsonl" {
			continue
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func object(t *testing.T, text string) sent {
	t.Helper()
	var o sent
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

// made reports whether a function was asked what a page shows. Three things may differ: the operator is the caller's
// ARN, a token is random, and lists have a limit even if the page has none.
func (f *fake) made(t *testing.T, function, request string) bool {
	t.Helper()
	want := object(t, request)
	byEvent := want["event"] != nil || want["event_id"] != nil // which inspect refuses with a limit
	ignored := []string{"operator", "token"}
	if want["limit"] == nil && !byEvent {
		ignored = append(ignored, "limit")
	}
	without := func(r sent) sent {
		r = maps.Clone(r)
		for _, name := range ignored {
			delete(r, name)
		}
		return r
	}
	for n, got := range f.requests {
		if f.asked[n] == function && cmp.Equal(without(want), without(got)) {
			return true
		}
	}
	return false
}
