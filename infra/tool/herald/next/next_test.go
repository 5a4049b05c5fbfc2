package next_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/tool/herald/next"
)

// The states are those of the runbook's table. An act that control would refuse in a state is not offered.
func TestOf_offersWhatTheStateTakes(t *testing.T) {
	for name, c := range map[string]struct {
		in   next.Situation
		want string
	}{
		"healthy":                {next.Situation{State: "healthy"}, "test pause"},
		"healthy, with letters":  {next.Situation{State: "healthy", Dead: true}, "replay test pause"},
		"flapping, with letters": {next.Situation{State: "flapping", Dead: true}, "replay test pause"},
		"recovering":             {next.Situation{State: "recovering", Waiting: 2}, "test release pause"},
		"failing, with letters": {
			next.Situation{State: "failing", Dead: true, Waiting: 1}, "test release pause replay",
		},
		"open, nothing waits": {next.Situation{State: "open"}, "pause"},
		"open, with letters":  {next.Situation{State: "open", Waiting: 30, Dead: true}, "release pause replay"},
		"at its limit, with letters": {
			next.Situation{State: "waiting for its rate", Waiting: 9, Dead: true}, "replay test pause",
		},
		"paused":                      {next.Situation{State: "paused", Waiting: 3}, "resume"},
		"paused with its tenant":      {next.Situation{State: "paused", TenantPaused: true}, "resume_tenant"},
		"disabled, with letters":      {next.Situation{State: "disabled", Dead: true}, "replay"},
		"unreadable":                  {next.Situation{State: "unreadable"}, ""},
		"deleted, with letters":       {next.Situation{State: "deleted", Dead: true}, "purge"},
		"deleted, without":            {next.Situation{State: "deleted"}, ""},
		"a state of a later version":  {next.Situation{State: "new"}, "test pause"},
		"paused, with letters":        {next.Situation{State: "paused", Dead: true}, "resume replay"},
		"disabled, nothing to act on": {next.Situation{State: "disabled", Waiting: 5}, ""},
	} {
		var got []string
		for _, s := range next.Of(c.in) {
			got = append(got, s.Act)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

func TestOf_warnsOfAReplayThatWouldWait(t *testing.T) {
	for state, says := range map[string]string{
		"open": "waits with the 30 others that wait", "paused": "30 others", "disabled": "30 others",
		"failing": "may die again", "healthy": "", "flapping": "", "recovering": "",
	} {
		steps := next.Of(next.Situation{State: state, Waiting: 30, Dead: true})
		at := slices.IndexFunc(steps, func(s next.Step) bool { return s.Act == next.Replay })
		if got := steps[at].Warning; !strings.Contains(got, says) || (got == "") != (says == "") {
			t.Errorf("%s: %q, want %q", state, got, says)
		}
	}
	one := next.Situation{State: "open", Waiting: 1}.ReplayWarning(next.Replay)
	if !strings.Contains(one, "the 1 other that waits") {
		t.Error(one)
	}
}

func TestHealth_putsOutagesFirst(t *testing.T) {
	states := []string{"healthy", "failing", "paused", "open"}
	slices.SortFunc(states, func(a, b string) int { return next.Health(a) - next.Health(b) })
	if got := strings.Join(states, " "); got != "open paused failing healthy" {
		t.Error(got)
	}
}
