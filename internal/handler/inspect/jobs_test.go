package inspect

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// workedOff is a job of 25 pages, each with a delivery sent again and one refused, and the records of the former. It is
// found by two ids.
type workedOff struct {
	job    job.Job
	before string // the cursor that leads to the page with the job
	last   bool   // no page is behind its own
	fault  error  // of List
}

func (w workedOff) Get(_ context.Context, id string) (job.Job, bool, error) {
	w.job.ID = id
	return w.job, id == "job_1" || id == "job_3", nil
}

// List has the job on its first page, and another page behind that.
func (w workedOff) List(_ context.Context, s job.State, _ int, cursor string) ([]job.Job, string, error) {
	switch {
	case w.fault != nil:
		return nil, "", w.fault
	case s != "" && s != w.job.State || cursor != w.before:
		next := ""
		if s == w.job.State && cursor == "" {
			next = w.before
		}
		return nil, next, nil
	}
	if w.last {
		return []job.Job{w.job}, "", nil
	}
	return []job.Job{w.job}, "next", nil
}

func (w workedOff) Pages(_ context.Context, _ string, after, limit int) (pages []job.Page, more bool, err error) {
	for n := after + 1; n <= 25; n++ {
		if len(pages) == limit {
			return pages, true, nil
		}
		pages = append(pages, job.Page{
			Number: n, Done: []string{"msg_" + string(rune('a'+n))},
			Failures: []job.Failure{
				{ID: "msg_refused", Refused: true, Reason: "replay_limit"}, {ID: "msg_failed", Reason: "internal"},
			},
		})
	}
	return pages, false, nil
}

func TestHandler_jobs_showsProgressFailuresAndOutcome(t *testing.T) {
	w := &world{jobs: workedOff{job: job.Job{
		ID: "job_1", Act: job.Replay, State: job.Running, Operator: "ann", StartedAt: at, Selected: 9,
		Selector: job.Selector{TenantID: "acme", Status: "dead", Until: at},
		Progress: job.Progress{Done: 2, Refused: map[string]int{"replay_limit": 3}, UpdatedAt: at},
	}}}
	for n, state := range []delivery.State{
		delivery.Acknowledged, delivery.Dead, delivery.Waiting, delivery.Discarded, delivery.Purged, delivery.Queued,
	} {
		w.deliveries = append(w.deliveries, delivery.Record{Ref: ref("msg_" + string(rune('b'+n))), State: state})
	}
	const shown = `{"job_id":"job_1","act":"replay","state":"running","selector":{"tenant_id":"acme","endpoint_id":"",` +
		`"reason":"","status":"dead","since":null,"until":"2026-05-01T12:00:00Z"},"operator":"ann",` +
		`"started_at":"2026-05-01T12:00:00Z","updated_at":"2026-05-01T12:00:00Z","stopped_by":"","selected":9,"done":2,` +
		`"refused":{"replay_limit":3},"failed":{},"left":4}`
	const one = `"job_id":"job_1"`
	if diff := cmp.Diff(shown, w.ask(t, "job", one)); diff != "" {
		t.Errorf("job (-want +got)\n%s", diff)
	}
	if got := w.ask(t, "jobs", `"state":"done"`); got != `{"data":[],"next_cursor":null}` {
		t.Errorf("jobs that are done: %s", got)
	}
	for _, row := range []struct{ action, fields, want string }{
		{"jobs", `"state":"gone"`, "invalid_field state"},
		{"job_outcome", ``, "invalid_field job_id"},
		{"job", `"job_id":"job_2"`, "not_found job_id"},
		{"job_failures", one + `,"cursor":"x"`, "invalid_cursor cursor"},
	} {
		if got := testkit.Refusal(t, w.ask(t, row.action, row.fields)); got != row.want {
			t.Errorf("%s %s is refused as %q, want %q", row.action, row.fields, got, row.want)
		}
	}
	first := testkit.Read[operator.List[JobFailure]](t, w.ask(t, "job_failures", one))
	rest := one + `,"cursor":"` + *first.NextCursor + `"`
	second := testkit.Read[operator.List[JobFailure]](t, w.ask(t, "job_failures", rest))
	want := []JobFailure{{"msg_refused", "refused", "replay_limit"}, {"msg_failed", "failed", "internal"}}
	if diff := cmp.Diff(want, first.Data[:2]); diff != "" || len(first.Data) != 40 || len(second.Data) != 10 ||
		second.NextCursor != nil {
		t.Errorf("%d and %d failures (-want +got)\n%s", len(first.Data), len(second.Data), diff)
	}
	outcome := testkit.Read[JobOutcome](t, w.ask(t, "job_outcome", one))
	counts := JobOutcome{Sent: 20, Delivered: 1, DeadAgain: 2, UnderWay: 2, Discarded: 1, Unknown: 14}
	counts.NextCursor = outcome.NextCursor
	if diff := cmp.Diff(counts, outcome); diff != "" || outcome.NextCursor == nil {
		t.Errorf("outcome (-want +got)\n%s", diff)
	}
}

// A cursor of a list that differs in a single field, or in kind, would begin anywhere.
func TestHandler_takesNoCursorOfAnotherList(t *testing.T) {
	const letters = `"tenant_id":"acme","endpoint_id":"webhook_1","status":"dead","reason":"timeout",` +
		`"since":"2026-05-01T12:00:00Z","until":"2026-05-02T12:00:00Z"`
	const endpoints = `"tenant_id":"acme","state":"healthy","host":"a.example","description":"orders","limit":1`
	e := endpoint.Endpoint{TenantID: "acme", ID: "webhook_1", URL: "https://a.example", Description: "orders"}
	for _, row := range []struct{ list, fields, from, to string }{
		{"dead_letters", letters, "acme", "other"},
		{"dead_letters", letters, "webhook_1", "webhook_2"},
		{"dead_letters", letters, `"dead"`, `"replayed"`},
		{"dead_letters", letters, "timeout", "http_5xx"},
		{"dead_letters", letters, "01T12", "01T11"},
		{"dead_letters", letters, "02T12", "02T11"},
		{"deliveries", `"endpoint_id":"webhook_1"`, "webhook_1", "webhook_2"},
		{"endpoints", endpoints, "acme", "other"},
		{"endpoints", endpoints, "healthy", "failing"},
		{"endpoints", endpoints, "a.example", "b.example"},
		{"endpoints", endpoints, "orders", "order"},
		{"jobs", `"state":"running"`, "running", "done"},
		{"job_failures", `"job_id":"job_1"`, "failures", "outcome"},
		{"job_failures", `"job_id":"job_1"`, "job_1", "job_3"},
	} {
		w := &world{next: "more", jobs: workedOff{job: job.Job{State: job.Running}}, endpoints: []endpoint.Endpoint{e, e}}
		page := testkit.Read[operator.List[any]](t, w.ask(t, row.list, row.fields))
		cursor := `,"cursor":"` + *page.NextCursor + `"`
		list, others := strings.Replace(row.list, row.from, row.to, 1), strings.Replace(row.fields, row.from, row.to, 1)
		own := testkit.Refusal(t, w.ask(t, row.list, row.fields+cursor))
		other := testkit.Refusal(t, w.ask(t, list, others+cursor))
		if own != "" || other != "invalid_cursor cursor" {
			t.Errorf("%s of %s: %q, of %s: %q", row.list, row.from, own, row.to, other)
		}
	}
}
