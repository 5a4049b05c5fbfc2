package inspect

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// of is an event with an id of its own, as its publisher wrote it.
func of(message, id, body string) rejected.Event {
	return rejected.Event{MessageID: message, EventID: id, Reason: "invalid event: type: unknown", Body: body}
}

// Threat of an operator: reads rejected events without a trace, by their ids. Held by: such a search shows no body.
func TestHandler_rejectedEvents_findsAnEventWithoutItsBody(t *testing.T) {
	const acme = `{"tenant_id":"acme","type":"user.renamed"}`
	for name, row := range map[string]struct {
		fields string
		want   []string
		result api.Result
	}{
		"of a tenant, and where nobody can tell whose it is": {
			`"event_id":"evt_1","tenant_id":"acme"`, []string{"1 acme user.renamed", "3  "}, api.ResultFound,
		},
		"of any tenant": {
			`"event_id":"evt_1"`, []string{"1 acme user.renamed", "2 big user.created", "3  "}, api.ResultFound,
		},
		"by the id of its message, where it has no other": {`"event_id":"4"`, []string{"4 acme "}, api.ResultFound},
		"not by the id of its message, where it has one":  {`"event_id":"1"`, nil, api.ResultNotFound},
		"another":                     {`"event_id":"evt_2"`, nil, api.ResultNotFound},
		"of a tenant that lacks it":   {`"event_id":"4","tenant_id":"big"`, nil, api.ResultNotFound},
		"with a reason that it lacks": {`"event_id":"evt_1","reason":"not_processed"`, nil, api.ResultNotFound},
	} {
		inAccount(t, func(a *account) {
			a.reject(of("1", "evt_1", acme), of("2", "evt_1", `{"tenant_id":"big","type":"user.created"}`),
				of("3", "evt_1", "<html>"), of("4", "4", `{"tenant_id":"acme"}`))
			got := read[api.RejectedList](a, "rejected_events", row.fields)
			var places []string
			for _, e := range got.Data {
				if e.Body != nil {
					t.Errorf("%s: a body is shown", name)
				}
				places = append(places, fmt.Sprint(e.MessageID, " ", e.TenantID, " ", e.EventType))
			}
			if diff := cmp.Diff(row.want, places, inAnyOrder); diff != "" || got.Result != row.result || got.Searched != 4 {
				t.Errorf("%s: %s of %d (-want +got):\n%s", name, got.Result, got.Searched, diff)
			}
			if len(a.lines) > 0 || a.rejected.Visible() != 4 {
				t.Errorf("%s: %d audit lines, %d events are visible", name, len(a.lines), a.rejected.Visible())
			}
		})
	}
}

func TestHandler_rejectedEvents_saysHowFarItLookedForAnEvent(t *testing.T) {
	const lost = `"event_id":"evt_lost","tenant_id":"acme"`
	for n, want := range map[int]api.Result{maxSearched - 1: api.ResultNotFound, maxSearched + 1: api.ResultPart} {
		inAccount(t, func(a *account) {
			a.reject(slices.Repeat([]rejected.Event{anEvent("1")}, n)...)
			got := read[api.RejectedList](a, "rejected_events", lost)
			if got.Result != want || got.Searched != min(n, maxSearched) || a.rejected.Visible() != n {
				t.Errorf("of %d events: %s of %d, %d are visible", n, got.Result, got.Searched, a.rejected.Visible())
			}
		})
	}
}

// Two operators may look at once: what one of them holds, the other cannot meet.
//
// Threat of a slip: takes an event that another looks at for lost. Held by: "not found" needs a queue that hides none.
func TestHandler_rejectedEvents_saysThatAnEventMayBeHidden(t *testing.T) {
	inAccount(t, func(a *account) {
		a.reject(of("1", "evt_1", "{}"))
		a.depths = map[string][3]string{"url/rejected": {"0", "1", "0"}}
		a.received()
		got := read[api.RejectedList](a, "rejected_events", `"event_id":"evt_1"`)
		if got.Result != api.ResultPart || got.Note != noteHidden {
			t.Errorf("%s, %q", got.Result, got.Note)
		}
	})
}

func TestHandler_rejectedEvents_saysThatAJobPublishes(t *testing.T) {
	inAccount(t, func(a *account) {
		a.reject(of("1", "evt_1", "{}"))
		a.Jobs["job_1"] = model.JobRow{Job: job.Job{ID: "job_1", Act: job.Publish, State: job.Running, StartedAt: at}}
		got := read[api.RejectedList](a, "rejected_events", `"event_id":"evt_1"`)
		if got.Result != api.ResultPublishing || a.rejected.Visible() != 1 {
			t.Errorf("%s, %d are visible", got.Result, a.rejected.Visible())
		}
	})
}
