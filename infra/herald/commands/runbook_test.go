package commands

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/herald/answers"
	"github.com/herald-webhooks/herald/infra/herald/exit"
)

var (
	shown = regexp.MustCompile(`^(inspect|replay|replay:delete|control|apikeys|webhooks): (\{.*\})$`)
	word  = regexp.MustCompile(`"[^"]*"|\S+`)
)

// Every command line of the runbook fits a terminal, and makes the requests below it.
func TestRunbook_showsTheRequestOfEachCommand(t *testing.T) {
	text, err := os.ReadFile("../../docs/operators.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	command, played := "", 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		request := shown.FindStringSubmatch(line)
		if request == nil {
			command, _ = strings.CutPrefix(line, "herald ")
			continue
		}
		if line := "herald " + command; len(line) > 80 {
			t.Errorf("more than a line: %s", line)
		}
		t.Run(command, func(t *testing.T) { playRunbook(t, command, request[1], request[2]) })
		played++
	}
	if played < 35 {
		t.Errorf("played %d commands", played)
	}
}

// playRunbook looks for the request among those that the command makes.
func playRunbook(t *testing.T, command, function, request string) {
	t.Helper()
	var want answers.Row
	if err := json.Unmarshal([]byte(request), &want); err != nil {
		t.Fatal(err)
	}
	event, err := json.Marshal(want["event"])
	if err != nil {
		t.Fatal(err)
	}
	lines, _ := want["endpoints"].([]any)
	endpoints, err := json.Marshal(append(lines, answers.Row{})[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"event.json": event, "endpoints.jsonl": endpoints} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const answer = `{"data":[],"next_cursor":null,"ready":1,"complete":true,"job":{"job_id":"job_1"},
		"state":"acknowledged","act":"replay","done":1,"failed":{"internal":1},"endpoint_id":"webhook_…",
		"dead_letters":{"dead":{"count":1}}}`
	const imported = `{"data":[{"result":"would_create"}]}`
	f := &fake{later: slices.Repeat([]string{answer}, 10), answers: map[string]string{"webhooks import": imported}}
	args := word.FindAllString(command, -1)
	for n := range args {
		args[n] = strings.Trim(args[n], `"`)
	}
	code, _, words := f.play(t, "y\n", args...)
	if code != exit.Done && code != exit.Unhealthy {
		t.Fatalf("exit code %d: %s", code, words)
	}
	for _, got := range f.requests {
		got["operator"] = want["operator"] // the caller's ARN
		delete(got, "token")
		byEvent := want["event"] != nil || want["event_id"] != nil // which inspect refuses with a limit
		if want["limit"] == nil && !byEvent && got["limit"] == 100.0 {
			delete(got, "limit")
		}
	}
	delete(want, "token")
	made := false
	for n, got := range f.requests {
		made = made || cmp.Equal(want, got) && f.asked[n] == function
	}
	if !made {
		t.Errorf("made %v of %v, want %v of %s", f.requests, f.asked, want, function)
	}
}
