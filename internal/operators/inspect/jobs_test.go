package inspect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit"
)

func TestHandler_jobs_showsProgressFailuresAndOutcome(t *testing.T) {
	inAccount(t, func(a *account) { a.showsAJob() })
}

// workedOff is a job of 25 pages, each with a delivery sent again and two failures.
func (a *account) workedOff(id string, state job.State) {
	var pages []job.Page
	for n := 1; n <= 25; n++ {
		pages = append(pages, job.Page{
			Number: n, Done: []string{"msg_" + string(rune('a'+n))},
			Failures: []job.Failure{
				{ID: "msg_refused", Refused: true, Reason: "replay_limit"}, {ID: "msg_failed", Reason: "internal"},
			},
		})
	}
	a.putJob(job.Job{
		ID: id, Act: job.Replay, State: state, Operator: "ann", StartedAt: at, Selected: 9,
		Selector: job.Selector{TenantID: "acme", Status: "dead", Until: at},
		Progress: job.Progress{Done: 2, Refused: map[string]int{"replay_limit": 3}, UpdatedAt: at},
	}, pages...)
}

func (a *account) showsAJob() {
	a.Helper()
	a.workedOff("job_1", job.Running)
	for n, state := range []delivery.State{
		delivery.Acknowledged, delivery.Dead, delivery.Waiting, delivery.Discarded, delivery.Purged, delivery.Queued,
	} {
		a.putDeliveries(delivery.Record{Ref: ref("msg_" + string(rune('b'+n))), State: state})
	}
	a.putDeliveries(delivery.Record{Ref: ref("msg_h"), State: delivery.Waiting, NextAttemptAt: at})
	const shown = `{"job_id":"job_1","act":"replay","state":"running","selector":{"tenant_id":"acme","endpoint_id":"",` +
		`"reason":"","status":"dead","since":null,"until":"2026-05-01T12:00:00Z"},"operator":"ann",` +
		`"started_at":"2026-05-01T12:00:00Z","updated_at":"2026-05-01T12:00:00Z","stopped_by":"","selected":9,"done":2,` +
		`"refused":{"replay_limit":3},"failed":{},"left":4}`
	const one = `"job_id":"job_1"`
	if diff := cmp.Diff(shown, a.ask("job", one)); diff != "" {
		a.Errorf("job (-want +got)\n%s", diff)
	}
	if got := a.ask("jobs", `"state":"done"`); got != `{"data":[],"next_cursor":null}` {
		a.Errorf("jobs that are done: %s", got)
	}
	for _, row := range []struct{ action, fields, want string }{
		{"jobs", `"state":"gone"`, "invalid_field state"},
		{"job_outcome", ``, "invalid_field job_id"},
		{"job", `"job_id":"job_2"`, "not_found job_id"},
		{"job_failures", one + `,"cursor":"x"`, "invalid_cursor cursor"},
	} {
		if got := testkit.Refusal(a.T, a.ask(row.action, row.fields)); got != row.want {
			a.Errorf("%s %s is refused as %q, want %q", row.action, row.fields, got, row.want)
		}
	}
	first := read[api.List[api.JobFailure]](a, "job_failures", one)
	rest := one + `,"cursor":"` + *first.NextCursor + `"`
	second := read[api.List[api.JobFailure]](a, "job_failures", rest)
	want := []api.JobFailure{
		{ID: "msg_refused", Result: "refused", Reason: "replay_limit"},
		{ID: "msg_failed", Result: "failed", Reason: "internal"},
	}
	if diff := cmp.Diff(want, first.Data[:2]); diff != "" || len(first.Data) != 40 || len(second.Data) != 10 ||
		second.NextCursor != nil {
		a.Errorf("%d and %d failures (-want +got)\n%s", len(first.Data), len(second.Data), diff)
	}
	outcome := read[api.JobOutcome](a, "job_outcome", one)
	counts := api.JobOutcome{Sent: 20, Delivered: 1, DeadAgain: 2, UnderWay: 3, Held: 1, Discarded: 1, Unknown: 13}
	counts.NextCursor = outcome.NextCursor
	if diff := cmp.Diff(counts, outcome); diff != "" || outcome.NextCursor == nil {
		a.Errorf("outcome (-want +got)\n%s", diff)
	}
}

// A cursor of a list that differs in a single field, or in kind, would begin anywhere.
func TestHandler_takesNoCursorOfAnotherList(t *testing.T) {
	const letters = `"tenant_id":"acme","endpoint_id":"webhook_1","status":"dead","reason":"timeout",` +
		`"since":"2026-05-01T12:00:00Z","until":"2026-05-02T12:00:00Z","limit":2`
	const endpoints = `"tenant_id":"acme","state":"healthy","host":"a.example","description":"orders","limit":1`
	e := endpoint.Endpoint{TenantID: "acme", ID: "webhook_1", URL: "https://a.example", Description: "orders"}
	second := e
	second.ID = "webhook_2"
	for _, row := range []struct{ list, fields, from, to string }{
		{"dead_letters", letters, "acme", "other"},
		{"dead_letters", letters, "webhook_1", "webhook_2"},
		{"dead_letters", letters, `"dead"`, `"replayed"`},
		{"dead_letters", letters, "timeout", "http_5xx"},
		{"dead_letters", letters, "01T12", "01T11"},
		{"dead_letters", letters, "02T12", "02T11"},
		{"deliveries", `"endpoint_id":"webhook_1","limit":2`, "webhook_1", "webhook_2"},
		{"endpoints", endpoints, "acme", "other"},
		{"endpoints", endpoints, "healthy", "failing"},
		{"endpoints", endpoints, "a.example", "b.example"},
		{"endpoints", endpoints, "orders", "order"},
		{"jobs", `"state":"running","limit":2`, "running", "done"},
		{"job_failures", `"job_id":"job_1"`, "failures", "outcome"},
		{"job_failures", `"job_id":"job_1"`, "job_1", "job_3"},
	} {
		inAccount(t, func(a *account) {
			a.putEndpoints(e, second)
			for n := range 3 {
				id := fmt.Sprint("msg_", n)
				a.putLetters(deadletter.Record{Ref: ref(id), Status: deadletter.Dead, Reason: "timeout", DiedAt: at.Add(time.Hour)})
				a.putDeliveries(delivery.Record{Ref: ref(id), State: delivery.Dead})
				a.workedOff(fmt.Sprint("job_", n+1), job.Running)
			}
			page := read[api.List[any]](a, row.list, row.fields)
			if page.NextCursor == nil {
				t.Fatalf("%s with %s has one page", row.list, row.fields)
			}
			cursor := `,"cursor":"` + *page.NextCursor + `"`
			list, others := strings.Replace(row.list, row.from, row.to, 1), strings.Replace(row.fields, row.from, row.to, 1)
			own := testkit.Refusal(t, a.ask(row.list, row.fields+cursor))
			other := testkit.Refusal(t, a.ask(list, others+cursor))
			if own != "" || other != "invalid_cursor cursor" {
				t.Errorf("%s of %s: %q, of %s: %q", row.list, row.from, own, row.to, other)
			}
		})
	}
}
