package deliver

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/delivery"
)

// effects is what invocations did to the world.
type effects struct {
	Failed               []string // message ids that go back to their queue
	Posts                int
	Acknowledged, States int             // writes of delivery records
	Sent                 []time.Duration // delays of what went to RetryQueue
	Hidden               []time.Duration // visibility timeouts of what stays there
	Parked               []time.Duration // until what was put into Backlog is due
	Dead                 int             // sent to DeadLetterQueue
}

func waits(list ...time.Duration) []time.Duration { return list }

// did compares all effects so far.
func (w *world) did(t *testing.T, failed []string, want effects) {
	t.Helper()
	got := effects{
		Failed: failed, Posts: len(w.posts), Acknowledged: len(w.acked), States: len(w.states), Dead: len(w.dead),
	}
	for _, m := range w.sent {
		got.Sent = append(got.Sent, m.Delay)
	}
	for _, c := range w.hidden {
		got.Hidden = append(got.Hidden, c.Wait)
	}
	for _, item := range w.parked {
		got.Parked = append(got.Parked, item.DueAt.Sub(w.now))
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("effects (-want +got)\n%s", diff)
	}
}

// forget empties what the world has seen.
func (w *world) forget() {
	w.posts, w.acked, w.states, w.sent, w.hidden = nil, nil, nil, nil, nil
	w.parked, w.dead, w.calls, w.writes = nil, nil, nil, nil
}

// known is what a delivery record says of the last attempt.
type known struct {
	State    delivery.State
	Reason   delivery.Reason
	Attempts int
	Status   int
	Next     time.Time
}

// knows compares the i-th record written of a delivery that is not acknowledged.
func (w *world) knows(t *testing.T, i int, want known) {
	t.Helper()
	r := w.states[i]
	got := known{State: r.State, Reason: r.Reason, Attempts: r.Attempts, Status: r.LastStatus, Next: r.NextAttemptAt}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record %d (-want +got)\n%s", i, diff)
	}
}

// says compares the named members of the i-th line logged.
func (w *world) says(t *testing.T, i int, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for key := range want {
		got[key] = w.logs.lines[i][key]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("line %d (-want +got)\n%s", i, diff)
	}
}
