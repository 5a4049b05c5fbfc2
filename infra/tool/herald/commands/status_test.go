package commands

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

func TestStatus_putsItsAnswersIntoWords(t *testing.T) {
	f := fakeOf(
		to(api.GetSummary, api.Summary{
			Endpoints: api.EndpointCounts{
				States:      map[api.State]int{api.StateOpen: 4, api.StateFailing: 3},
				SlowTenants: 2, Slow: []api.SlowTenant{{TenantID: "ini\u009btech", Until: now.Add(7*time.Hour + 48*time.Minute)}},
			},
			Waiting: api.Backlogged{Count: 112, Held: 112, NextDueAt: time.Date(2026, 5, 9, 8, 0, 0, 0, time.UTC)},
		}),
		to(api.ListEndpoints, listOf(api.ListedEndpoint{
			Health: api.Health{State: api.StateOpen, Failures: 28}, Waiting: api.Waiting{Count: 31},
		})))
	contains(t, strings.Join(strings.Fields(f.ends(t, exit.Unhealthy, "status")), " "),
		"endpoints 3 failing, 4 open slow tenants ini\ufffdtech until 2026-05-02 16:48:00Z (in 7h48m0s), and 1 more",
		"waiting 112, all held",
		"the first dies at 2026-05-09 08:00:00Z, unless sent", "Endpoints in trouble TENANT ID", "FAILURES WAITING OUTAGE",
		"28 31")
	const due = " held for their endpoints; the first is due at 2026-05-02 09:30:00Z (in 30m0s)"
	for want, waiting := range map[string]api.Backlogged{
		"5, of these 1" + due:                       {Count: 5, Held: 1},
		"more than 1000000, of these 1000000" + due: {Count: 1e6, Held: 1e6, More: true},
	} {
		waiting.NextDueAt = now.Add(30 * time.Minute)
		f.say(to(api.GetSummary, api.Summary{
			Endpoints: api.EndpointCounts{States: map[api.State]int{api.StateOpen: 1000}, More: true}, Waiting: waiting,
		}))
		f.ends(t, exit.Unhealthy, "status", want, "1000 open, and more")
	}
}

func TestStatus_showsWhatItGot(t *testing.T) {
	f := fakeOf(answered{"inspect summary", `<html>`},
		to(api.ListEndpoints, listOf(api.ListedEndpoint{Description: "crm"})))
	f.ends(t, exit.Unhealthy, "status", "crm", "the summary could not be shown: inspect answered no JSON")
	delete(f.answers, "inspect endpoints")
	f.say(to(api.GetSummary, api.Summary{
		Causes: &api.Causes{Data: []api.Cause{{Reason: delivery.ReasonTimeout}}},
	}))
	f.ends(t, exit.Unhealthy, "status", "timeout", "the endpoints in trouble could not be shown")
	f.answers = nil // everything fails
	f.ends(t, exit.Failed, "status")
}

// Two requests at once, one of which reads the dead letters: however many there are, they are read once.
func TestStatus_asksTwiceAndNeverByItselfForTheCauses(t *testing.T) {
	f := fakeOf(to(api.ListEndpoints, listOf[api.ListedEndpoint]()), to(api.GetSummary, api.Summary{
		DeadLetters: map[deadletter.Status]api.LetterCount{deadletter.Dead: {Count: 10000}},
		Causes:      &api.Causes{Data: []api.Cause{{Reason: delivery.ReasonTimeout, Count: 10000}}},
	}))
	f.ends(t, exit.Unhealthy, "status", "timeout", "10000")
	asked := map[string]any{}
	for _, r := range f.requests {
		asked[fmt.Sprint(r["action"])] = r["causes"]
	}
	if diff := cmp.Diff(map[string]any{"summary": true, "endpoints": nil}, asked); diff != "" || len(f.requests) != 2 {
		t.Errorf("%d requests (-want +got)\n%s", len(f.requests), diff)
	}
}

// Programs find the causes of death beside the summary.
func TestStatus_asJSONHasEachAnswerOnce(t *testing.T) {
	f := fakeOf(to(api.ListEndpoints, listOf[api.ListedEndpoint]()), to(api.GetSummary, api.Summary{
		Waiting: api.Backlogged{Count: 3}, Causes: &api.Causes{Data: []api.Cause{{Count: 7}}},
	}))
	out := f.ends(t, exit.Done, "-o json status")
	var got struct {
		Summary   map[string]jsontext.Value     `json:"summary"`
		Causes    api.Causes                    `json:"causes"`
		Endpoints *api.List[api.ListedEndpoint] `json:"endpoints"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	_, twice := got.Summary["causes"]
	if twice || got.Summary["waiting"] == nil || len(got.Causes.Data) != 1 || got.Endpoints == nil {
		t.Errorf("prints %s", out)
	}
}

// An outage of many endpoints is one thing to do.
func TestStatus_namesManyEndpointsInOneSentence(t *testing.T) {
	var open []api.ListedEndpoint
	for _, tenant := range []string{"acme", "globex", "hooli", "initech", "umbrella", "wonka"} {
		open = append(open, api.ListedEndpoint{
			TenantID: tenant, EndpointID: "webhook_" + tenant, Description: "crm", Health: api.Health{State: api.StateOpen},
			Contact: "ops@" + tenant + ".example",
		})
	}
	paused := api.ListedEndpoint{
		TenantID: "acme", EndpointID: "webhook_1", Description: "log",
		Health: api.Health{State: api.StatePaused, PauseReason: "compromised"},
	}
	f := fakeOf(to(api.ListEndpoints, listOf(append(open, paused)...)), to(api.GetSummary, api.Summary{
		Endpoints:   api.EndpointCounts{States: map[api.State]int{api.StateOpen: 7, api.StatePaused: 1}},
		DeadLetters: map[deadletter.Status]api.LetterCount{deadletter.Replaying: {Count: 4}},
	}))
	_, _, words := f.play(t, "", "status")
	contains(t, words,
		"7 endpoints are open: tell their owners: acme/crm, globex/crm, hooli/crm, initech/crm, umbrella/crm, and 2 more\n"+
			"next: herald endpoints list --state open\n"+
			"acme/log is paused (compromised): resume it when its owner agrees\nnext: herald endpoints show acme/log\n",
		"next: herald dead list --status replaying\n")
	if strings.Contains(words, "ops@") {
		t.Errorf("a contact is where others can read it: %s", words)
	}
}
