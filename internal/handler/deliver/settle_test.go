package deliver

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

func TestHandler_returnToQueue_hidesDuplicatesAlikeInWhicheverOrderTheyCome(t *testing.T) {
	for _, counts := range [][2]int{{3, 2}, {2, 3}} {
		w := newWorld(status(500))
		var records []events.SQSMessage
		var failed []string
		var want []queue.VisibilityChange
		for _, count := range counts {
			r := retried("a", "webhook_1", count)
			r.MessageId, r.ReceiptHandle = fmt.Sprint("id-", count), fmt.Sprint("handle-", count)
			records, failed = append(records, r), append(failed, r.MessageId)
			// what the second receive waits
			want = append(want, queue.VisibilityChange{ReceiptHandle: r.ReceiptHandle, Wait: 80 * time.Second})
		}
		got := w.process(t, records...)
		w.did(t, got, effects{Failed: failed, Posts: 1, States: 1, Hidden: waits(80*time.Second, 80*time.Second)})
		if diff := cmp.Diff(want, w.hidden); diff != "" {
			t.Errorf("%v (-want +got)\n%s", counts, diff)
		}
		w.says(t, 0, map[string]string{"msg": "attempt", "duplicate": ""})
		w.says(t, 1, map[string]string{"msg": "no attempt", "duplicate": "true"})
	}
}

// oneTaken is a receiver that takes what goes to webhook_2 only.
func oneTaken(_ context.Context, url string) delivery.Response {
	if url == active("webhook_2").URL {
		return delivery.Response{Status: 200}
	}
	return delivery.Response{Status: 500, Reason: delivery.ReasonHTTP5xx}
}

func TestHandler_sendToRetryQueue_returnsOnlyTheMessageThatWasNotSent(t *testing.T) {
	w := newWorld(oneTaken)
	w.unsent = "c"
	failed := w.process(t,
		fresh("a", "webhook_2"), fresh("b", "webhook_1"), fresh("c", "webhook_1"), fresh("d", "webhook_1"))
	w.did(t, failed, effects{
		Failed: []string{"id-c"}, Posts: 4, Acknowledged: 1, States: 3, Sent: waits(5*time.Second, 5*time.Second),
	})
	for _, s := range w.states {
		if s.NextAttemptAt.IsZero() != (s.DeliveryID == "c") {
			t.Errorf("%s: next attempt at %s", s.DeliveryID, s.NextAttemptAt)
		}
	}
	w.onlyOneIsOurs(t, "c", "SendsLost")
}

func TestHandler_returnToQueue_losesOnlyTheMessageWhoseVisibilityDidNotChange(t *testing.T) {
	w := newWorld(oneTaken)
	w.unchanged = "handle-c"
	failed := w.process(t, retried("a", "webhook_2", 1),
		retried("b", "webhook_1", 1), retried("c", "webhook_1", 1), retried("d", "webhook_1", 1))
	w.did(t, failed, effects{
		Failed: []string{"id-b", "id-c", "id-d"}, Posts: 4, Acknowledged: 1, States: 3,
		Hidden: waits(20*time.Second, 20*time.Second),
	})
	w.onlyOneIsOurs(t, "c", "ParksLost")
}

// onlyOneIsOurs checks who is to blame in a batch of a, which the receiver took, and b, c and
// d, which it did not, where SQS lost one.
func (w *world) onlyOneIsOurs(t *testing.T, lost, metric string) {
	t.Helper()
	w.says(t, 0, map[string]string{"delivery_id": "a", "level": "INFO", "fault": "", "error": ""})
	for i, id := range []string{"b", "c", "d"} {
		want := map[string]string{"delivery_id": id, "level": "WARN", "fault": "receiver", "error": ""}
		if id == lost {
			want = map[string]string{"delivery_id": id, "level": "ERROR", "fault": "ours", "error": errAWS.Error()}
		}
		w.says(t, i+1, want)
	}
	got := w.metrics(t)
	maps.DeleteFunc(got, func(m measured, _ float64) bool { return m.name == "AttemptMillis" })
	want := map[measured]float64{
		{metric, telemetry.Dimensions{Fault: "ours"}}:                                               1,
		{"Attempts", telemetry.Dimensions{Outcome: "acknowledged"}}:                                 1,
		{"Attempts", telemetry.Dimensions{Outcome: "retry", Reason: "http_5xx", Fault: "receiver"}}: 3,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(measured{})); diff != "" {
		t.Errorf("metrics (-want +got)\n%s", diff)
	}
}

// advance moves the clock.
func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// A wait counts from the end of its attempt, whatever this function does afterwards.
func TestHandler_settle_countsWaitsFromTheEndOfTheAttempt(t *testing.T) {
	w := newWorld(status(500))
	h := w.handler()
	h.Backlog = lateBacklog{w, 3 * time.Second}
	h.Process(t.Context(), []events.SQSMessage{again(fresh("a", "webhook_1"), 4, 1), retried("b", "webhook_1", 1)})
	w.did(t, nil, effects{ // 3 s later
		Posts: 2, States: 2, Hidden: waits(17 * time.Second), Parked: waits(1277 * time.Second),
	})
}

// lateBacklog takes its time.
type lateBacklog struct {
	*world
	takes time.Duration
}

func (l lateBacklog) Put(ctx context.Context, items []backlog.Item) []error {
	l.advance(l.takes)
	return l.world.Put(ctx, items)
}

func TestHandler_settle_spreadsWaitsAtRandom(t *testing.T) {
	w := newWorld(status(500))
	h := w.handler()
	h.Random = func() float64 { return 0.5 }
	h.Process(t.Context(), []events.SQSMessage{fresh("a", "webhook_1")})
	failed := h.Process(t.Context(), []events.SQSMessage{retried("b", "webhook_1", 1)})
	w.did(t, failed, effects{ // half of 20 %
		Failed: []string{"id-b"}, Posts: 2, States: 2, Sent: waits(5500 * time.Millisecond), Hidden: waits(22 * time.Second),
	})
}

func TestHandler_report_countsTenAttemptsOfADeliveryThatDies(t *testing.T) {
	w := newWorld(status(500))
	for r, count, over := fresh("a", "webhook_1"), 1, false; !over; {
		r, count, over = w.follow(t, r, count)
	}
	if n := len(w.logs.lines); n != 10 {
		t.Fatalf("%d lines", n)
	}
	w.says(t, 9, map[string]string{"msg": "attempt", "outcome": "dead", "attempt": "10", "fault": "receiver"})
	attempts := 0.0
	for m, n := range w.metrics(t) {
		if m.name == "Attempts" {
			attempts += n
		}
	}
	if attempts != 10 {
		t.Errorf("%v attempts counted", attempts)
	}
}
