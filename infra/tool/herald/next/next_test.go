package next_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// The states are those of the runbook's table. An act that control would refuse in a state is not offered.
func TestOf_offersWhatTheStateTakes(t *testing.T) {
	for name, c := range map[string]struct {
		in   next.Situation
		want string
	}{
		"healthy":                {next.Situation{State: api.StateHealthy}, "test pause"},
		"healthy, with letters":  {next.Situation{State: api.StateHealthy, Dead: true}, "replay test pause"},
		"flapping, with letters": {next.Situation{State: api.StateFlapping, Dead: true}, "replay test pause"},
		"recovering":             {next.Situation{State: api.StateRecovering, Waiting: 2}, "test release pause"},
		"failing, with letters": {
			next.Situation{State: api.StateFailing, Dead: true, Waiting: 1}, "test release pause replay",
		},
		"open, nothing waits": {next.Situation{State: api.StateOpen}, "pause"},
		"open, with letters":  {next.Situation{State: api.StateOpen, Waiting: 30, Dead: true}, "release pause replay"},
		"at its limit, with letters": {
			next.Situation{State: api.StateRated, Waiting: 9, Dead: true}, "replay test pause",
		},
		"paused":                      {next.Situation{State: api.StatePaused, Waiting: 3}, "resume"},
		"paused with its tenant":      {next.Situation{State: api.StatePaused, TenantPaused: true}, "resume_tenant"},
		"disabled, with letters":      {next.Situation{State: api.StateDisabled, Dead: true}, "replay"},
		"unreadable":                  {next.Situation{State: api.StateUnreadable}, ""},
		"deleted, with letters":       {next.Situation{State: api.StateDeleted, Dead: true}, "purge"},
		"deleted, without":            {next.Situation{State: api.StateDeleted}, ""},
		"a state of a later version":  {next.Situation{State: "new"}, "test pause"},
		"paused, with letters":        {next.Situation{State: api.StatePaused, Dead: true}, "resume replay"},
		"disabled, nothing to act on": {next.Situation{State: api.StateDisabled, Waiting: 5}, ""},
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
	for state, says := range map[api.State]string{
		api.StateOpen: "waits with the 30 others that wait", api.StatePaused: "30 others", api.StateDisabled: "30 others",
		api.StateFailing: "may die again", api.StateHealthy: "", api.StateFlapping: "", api.StateRecovering: "",
	} {
		steps := next.Of(next.Situation{State: state, Waiting: 30, Dead: true})
		at := slices.IndexFunc(steps, func(s next.Step) bool { return s.Act == next.Replay })
		if got := steps[at].Warning; !strings.Contains(got, says) || (got == "") != (says == "") {
			t.Errorf("%s: %q, want %q", state, got, says)
		}
	}
	one := next.Situation{State: api.StateOpen, Waiting: 1}.ReplayWarning(next.Replay)
	if !strings.Contains(one, "the 1 other that waits") {
		t.Error(one)
	}
}

func TestHealth_putsOutagesFirst(t *testing.T) {
	states := []api.State{api.StateHealthy, api.StateFailing, api.StatePaused, api.StateOpen}
	slices.SortFunc(states, func(a, b api.State) int { return next.Health(a) - next.Health(b) })
	want := []api.State{api.StateOpen, api.StatePaused, api.StateFailing, api.StateHealthy}
	if !slices.Equal(states, want) {
		t.Error(states)
	}
}

func TestGroups_areThoseWithSomethingToDo(t *testing.T) {
	counts := map[api.State]int{api.StateOpen: 4}
	for name, c := range map[string]struct {
		in   []api.State
		want []string
	}{
		"none": {nil, nil},
		"the worst first": {[]api.State{api.StateFailing, api.StatePaused, api.StateHealthy, api.StateOpen, api.StatePaused},
			[]string{"4 endpoints are open: tell their owners",
				"2 endpoints are paused (compromised, a test): resume them when their owners agree",
				"crm is failing: tell its owner"}},
		"nothing to do":               {[]api.State{api.StateRecovering, api.StateDisabled}, []string{"crm is disabled"}},
		"a state of a later version":  {[]api.State{"new", "new"}, []string{"2 endpoints are new"}},
		"unreadable, with its repair": {[]api.State{api.StateUnreadable}, []string{"crm is unreadable: repair its row"}},
	} {
		var got []string
		for _, g := range next.Groups(c.in, func(s api.State) api.State { return s }, counts) {
			got = append(got, g.Says("crm", []string{"compromised", "a test"}))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
