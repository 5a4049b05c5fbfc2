package commands

import (
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit/names"
)

// A suggested line is pasted as it is, into whatever shell the operator has. It asks about the tenant that it names,
// even if the id begins like a flag or has a pipe in it.
//
// Threat of a page: an id changes a suggested command. Held by: each word is quoted.
func TestSuggestions_nameATenantInEveryShell(t *testing.T) {
	tried := map[string]bool{}
	for _, tenant := range slices.Concat(names.Tenants(), []string{"-acme", "-y", "--", "-"}) {
		for _, state := range []api.State{api.StateOpen, api.StatePaused, api.StateDeleted, api.StateHealthy} {
			for _, paused := range []bool{true, false} {
				for _, command := range suggestedFor(t, tenant, state, paused) {
					if tried[command] {
						continue
					}
					tried[command] = true
					words := inShell(t, command)
					if diff := slices.Compare(words, inCmd(t, command)); diff != 0 {
						t.Errorf("sh and cmd.exe differ in %s", command)
					}
					takesWords(t, words, tenant)
				}
			}
		}
	}
}

// suggestedFor are the commands that endpoints show and status suggest for an endpoint in that state.
func suggestedFor(t *testing.T, tenant string, state api.State, paused bool) (commands []string) {
	t.Helper()
	health, letter := api.Health{State: state}, api.DeadLetter{DeliveryID: "msg_1"}
	for _, description := range []string{"crm", "our crm"} {
		f := fakeOf(
			to(api.GetEndpoint, api.Endpoint{
				TenantID: tenant, EndpointID: "webhook_1", Description: description, TenantPaused: paused, Health: health,
				Waiting: api.Waiting{Count: 3},
			}),
			to(api.ListDeadLetters, listOf(letter)),
			to(api.GetSummary, api.Summary{
				DeadLetters: map[deadletter.Status]api.LetterCount{deadletter.Dead: {Count: 1}},
				Causes: &api.Causes{Data: []api.Cause{{
					TenantID: tenant, EndpointID: "webhook_1", Description: description, State: state,
				}}},
			}),
			to(api.ListEndpoints, listOf(api.ListedEndpoint{
				TenantID: tenant, EndpointID: "webhook_1", Description: description, Health: health,
			})))
		for _, line := range [][]string{
			{"--stack", "prod", "endpoints", "show", "--tenant", tenant, "webhook_1"}, {"--stack", "prod", "status"},
		} {
			_, _, words := f.play(t, "", line...)
			commands = append(commands, nextOf(words)...)
		}
	}
	if len(commands) == 0 {
		t.Errorf("nothing is suggested for %s, which is %s", tenant, state)
	}
	return commands
}

// inShell are the words that sh makes of a line. The line fails the test where a shell would take its end for a
// comment.
func inShell(t rapid.TB, line string) []string {
	t.Helper()
	if strings.Contains(line, "#") {
		t.Errorf("zsh takes no comment: %s", line)
	}
	out, err := exec.Command("sh", "-c", `set -f; printf '%s\n' `+line).Output()
	if err != nil {
		t.Fatalf("sh: %s: %v", line, errors.Unwrap(err))
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// inCmd are the words that a program gets from cmd.exe, which knows double quotes alone. Outside of them it would
// interpret some characters, and % everywhere.
func inCmd(t rapid.TB, line string) (words []string) {
	t.Helper()
	word, inQuotes, begun := "", false, false
	for _, c := range line {
		switch {
		case c == '"':
			inQuotes, begun = !inQuotes, true
		case c == ' ' && !inQuotes:
			if begun {
				words = append(words, word)
			}
			word, begun = "", false
		case strings.ContainsRune("%!'`$", c), !inQuotes && strings.ContainsRune("&|<>^()@=,;+~", c):
			t.Errorf("cmd.exe or PowerShell interprets %c in %s", c, line)
		default:
			word, begun = word+string(c), true
		}
	}
	if inQuotes {
		t.Errorf("a quote is open in %s", line)
	}
	if begun {
		words = append(words, word)
	}
	return words
}

// takesWords runs a command line, and fails the test unless it asks about this tenant.
func takesWords(t *testing.T, line []string, tenant string) {
	t.Helper()
	f := &fake{later: slices.Repeat([]string{together(
		api.Endpoint{TenantID: tenant, EndpointID: "webhook_1"}, api.Survey{Complete: true}, api.Causes{},
	)}, 9)}
	code, _, words := f.play(t, "", append([]string{"--dry-run"}, line...)...)
	if line[0] == "test" && code == 0 { // its plan asks nothing
		return
	}
	if !slices.ContainsFunc(f.requests, func(r sent) bool { return r["tenant_id"] == tenant }) {
		t.Errorf("%q: code %d, asked %v\n%s", line, code, f.requests, words)
	}
}

func TestQuoted_isOneWordInEveryShell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := names.Any().Draw(t, "tenant")
		line := quoted(id)
		for _, words := range [][]string{inShell(t, line), inCmd(t, line)} {
			if !slices.Equal(words, []string{id}) {
				t.Errorf("%s is read as %q", line, words)
			}
		}
	})
}

// Each command that takes a tenant asks about it as it was typed: as the value of a flag, behind -- as an argument, and
// before the slash of an endpoint.
func TestCommands_askAboutTheTenantThatWasTyped(t *testing.T) {
	for _, tenant := range names.Tenants() {
		for _, line := range [][]string{
			{"keys", "list", "--tenant", tenant}, {"keys", "issue", "--tenant=" + tenant}, {"dead", "list", "--tenant", tenant},
			{"rejected", "list", "--tenant", tenant}, {"endpoints", "list", "--tenant", tenant},
			{"deliveries", "find", "--tenant", tenant, "--event", "evt_1"}, {"endpoints", "show", "--", tenant + "/crm"},
			{"endpoints", "pause", "--", tenant + "/crm"},
			{"endpoints", "limit", "--rate=5", "--reason=x", "--", tenant + "/crm"},
			{"dead", "replay", "--endpoint=" + tenant + "/crm"},
			{"tenants", "pause", "--", tenant}, {"tenants", "erase", "--", tenant},
		} {
			f := &fake{later: slices.Repeat([]string{together(api.Survey{Complete: true}, api.Erased{})}, 9)}
			_, _, words := f.play(t, "", append([]string{"--yes"}, line...)...)
			if !slices.ContainsFunc(f.requests, func(r sent) bool {
				selector, _ := r["selector"].(map[string]any)
				return r["tenant_id"] == tenant || selector["tenant_id"] == tenant
			}) {
				t.Errorf("%q: asked %v\n%s", line, f.requests, words)
			}
		}
	}
}

// With several stacks, or on the local one, a command that names none would ask another stack or be refused.
func TestCommands_suggestOnlyWhatLeadsToTheirStack(t *testing.T) {
	ended := api.Job{JobID: "job_1", Act: job.Publish, State: job.Stopped, Selected: 2, Done: 1}
	rejected := []api.RejectedEvent{{Reason: event.NotProcessed}, {Reason: event.InvalidEvent + "no type"}}
	counted := to(api.StartJob, api.Survey{Selected: 1, Ready: 1, Complete: true, Job: &ended})
	for line, f := range map[string]*fake{
		"rejected list":                          fakeOf(to(api.ListRejected, api.RejectedList{List: listOf(rejected...)})),
		"-y rejected publish --reason x":         fakeOf(counted),
		"-y rejected publish --reason x --watch": fakeOf(counted, to(api.GetJob, ended)),
		"dead list --limit 1": fakeOf(to(api.ListDeadLetters, api.List[api.DeadLetter]{
			Data: []api.DeadLetter{{}}, NextCursor: new("more"),
		})),
		"events find evt_1 --tenant acme": nowhere(),
		"types":                           {},
	} {
		_, out, words := f.play(t, "", append([]string{"--stack", "prod"}, strings.Fields(line)...)...)
		all := commandsIn.FindAllString(words, -1)
		if len(all) == 0 {
			t.Errorf("%s suggests nothing:\n%s%s", line, out, words)
		}
		for _, command := range all {
			if !strings.HasPrefix(command, "herald --stack prod ") {
				t.Errorf("%s suggests %s", line, command)
			}
		}
	}
}

// commandsIn finds herald with what stands behind it. Its name in front of a fault is no command.
var commandsIn = regexp.MustCompile(`\bherald [^\n]*`)
