package inspect

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/job"
)

// workedOff is a job of 25 pages, each with a delivery sent again and one refused, and the records of the former.
type workedOff struct{ job job.Job }

func (w workedOff) Get(_ context.Context, id string) (job.Job, bool, error) {
	return w.job, id == w.job.ID, nil
}

func (w workedOff) List(_ context.Context, s job.State, _ int, _ string) ([]job.Job, string, error) {
	if s != "" && s != w.job.State {
		return nil, "", nil
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

type outcomes struct{ Deliveries }

func (outcomes) BatchGet(_ context.Context, ids []string) (map[string]delivery.Record, error) {
	states := []delivery.State{
		delivery.Acknowledged, delivery.Dead, delivery.Waiting, delivery.Discarded, delivery.Purged, delivery.Queued,
	}
	records := map[string]delivery.Record{}
	for n, id := range ids {
		if n < len(states) {
			records[id] = delivery.Record{State: states[n]}
		}
	}
	return records, nil
}

func TestHandler_jobs_showsProgressFailuresAndOutcome(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := &Handler{
		Deliveries: outcomes{}, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return at },
		Jobs: workedOff{job.Job{
			ID: "job_1", Act: job.Replay, State: job.Running, Operator: "ann", StartedAt: at, Selected: 9,
			Selector: deadletter.Selector{TenantID: "acme", Status: deadletter.Dead, Until: at},
			Progress: job.Progress{Done: 2, Refused: map[string]int{"replay_limit": 3}, UpdatedAt: at},
		}},
	}
	const shown = `{"job_id":"job_1","act":"replay","state":"running","selector":{"tenant_id":"acme","endpoint_id":"",` +
		`"reason":"","status":"dead","since":null,"until":"2026-01-02T03:04:05Z"},"operator":"ann",` +
		`"started_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z","stopped_by":"","selected":9,"done":2,` +
		`"refused":{"replay_limit":3},"failed":{},"left":4}`
	const none = `{"data":[],"next_cursor":null}`
	for request, want := range map[string]string{
		`"action":"job","job_id":"job_1"`: shown,
		`"action":"jobs","state":"done"`:  none,
		`"action":"jobs","state":"gone"`:  refusedAs("invalid_field", "must be running, stopped or done", "state"),
		`"action":"job_outcome"`:          refusedAs("invalid_field", "is required", "job_id"),
		`"action":"job","job_id":"job_2"`: refusedAs(
			"not_found", "no job has this id, or it is more than 90 days old", "job_id"),
		`"action":"job_failures","job_id":"job_1","cursor":"x"`: refusedAs(
			"invalid_cursor", "not a next_cursor of this list", "cursor"),
	} {
		if diff := cmp.Diff(want, string(invoke(t, h, request))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", request, diff)
		}
	}
	type failures struct {
		Data       []JobFailure `json:"data"`
		NextCursor *string      `json:"next_cursor"`
	}
	first := decode[failures](t, invoke(t, h, `"action":"job_failures","job_id":"job_1"`))
	rest := `"action":"job_failures","job_id":"job_1","cursor":"` + *first.NextCursor + `"`
	second := decode[failures](t, invoke(t, h, rest))
	want := []JobFailure{{"msg_refused", "refused", "replay_limit"}, {"msg_failed", "failed", "internal"}}
	if diff := cmp.Diff(want, first.Data[:2]); diff != "" || len(first.Data) != 40 || len(second.Data) != 10 ||
		second.NextCursor != nil {
		t.Errorf("%d and %d failures (-want +got)\n%s", len(first.Data), len(second.Data), diff)
	}
	outcome := decode[JobOutcome](t, invoke(t, h, `"action":"job_outcome","job_id":"job_1"`))
	counts := JobOutcome{Sent: 20, Delivered: 1, DeadAgain: 2, UnderWay: 2, Discarded: 1, Unknown: 14}
	counts.NextCursor = outcome.NextCursor
	if diff := cmp.Diff(counts, outcome); diff != "" || outcome.NextCursor == nil {
		t.Errorf("outcome (-want +got)\n%s", diff)
	}
}

func invoke(t *testing.T, h *Handler, request string) []byte {
	t.Helper()
	out, err := h.Function().Invoke(t.Context(), []byte(`{"operator":"ann",`+request+`}`))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func decode[T any](t *testing.T, text []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func refusedAs(code, message, field string) string {
	return `{"error":{"code":"` + code + `","message":"` + message + `","field":"` + field + `"}}`
}
