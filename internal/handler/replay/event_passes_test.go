package replay

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// eventsOf are rejected events of these tenants.
func eventsOf(n int, tenant func(n int) string) []rejected.Event {
	all := make([]rejected.Event, n)
	for i := range all {
		all[i] = rejected.Event{
			MessageID: strconv.Itoa(i), Body: `{"tenant_id":"` + tenant(i) + `"}`, SentAt: at, Reason: "not_processed",
		}
	}
	return all
}

// A sweep may discard: where it is given no ids, it selects nothing.
func TestNamedEvents_answer_selectsOnlyWhatIsNamed(t *testing.T) {
	w := newWorld()
	w.rejected = eventsOf(3, strconv.Itoa)
	acted := sweep{invalid: true, act: func(_ context.Context, events []rejected.Event) []outcome {
		return outcomes(resultDiscarded, "", events...)
	}}
	n := namedEvents{events: eventQueue{queue: w, log: slog.New(slog.DiscardHandler)}}
	got, err := n.answer(t.Context(), &operator.Call{}, nil, acted)
	if diff := cmp.Diff(RejectedResults{Data: []RejectedResult{}, Complete: true}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// More events than the rate allows in an invocation stay on the queue, and still the job ends.
func TestHandler_workJobs_passesRefusedEventsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, all := newStore(t, 0), eventsOf(3000, func(int) string { return "acme" })
		w.rejected = all
		ask[Survey](t, w, strings.Replace(startReplay, "replay", "publish", 1)+`,"reason":"processed"}`)
		w.rejected = all
		time.Sleep(job.LooksOver)
		w.wake(t)
		if done := w.jobs[job.ID("t")]; done.State != job.Done || done.Refused["invalid_event"] != 3000 {
			t.Errorf("%+v", done)
		}
	})
}

// A queue that no invocation passes in one go is passed by several: each goes on behind the last, and the end is met.
// A second job waits until then: the events that one passes are hidden from the others until all of it is back.
func TestHandler_workJobs_publishesForOneJobAtATimeAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, all := newStore(t, 0), eventsOf(10_000, func(n int) string { return []string{"acme", "other"}[n%2] })
		w.rejected = all
		publish := strings.Replace(startReplay, "replay", "publish", 1) + `}`
		ask[Survey](t, w, publish)
		time.Sleep(time.Second) // the second one is the later
		w.rejected = all
		ask[Survey](t, w, strings.NewReplacer(`"t"`, `"u"`, "acme", "other").Replace(publish))
		w.rejected, w.restored, w.takes = all, nil, 100*time.Millisecond
		time.Sleep(job.LooksOver)
		first, minutes := w.finish(t, "t")
		if first.Refused["invalid_event"] != 5000 || first.Pages != 3 || minutes != 3 || w.jobs[job.ID("u")].Pages != 0 {
			t.Errorf("after %d minutes: %+v, beside it %+v", minutes, first.Progress, w.jobs[job.ID("u")].Progress)
		}
		if returned := len(w.restored); returned == 0 || returned > 4000 {
			t.Errorf("%d events are returned at once, want those of the last invocation", returned)
		}
		w.rejected = all
		second, _ := w.finish(t, "u")
		waited := second.HiddenSince.Sub(first.UpdatedAt)
		if second.Refused["invalid_event"] != 5000 || waited < job.HideFor {
			t.Errorf("begun after %s: %+v", waited, second.Progress)
		}
	})
}
