package deliver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

func TestTwinsWaitAlikeInWhicheverOrderTheyCome(t *testing.T) {
	for _, counts := range [][2]int{{3, 2}, {2, 3}} {
		w := newWorld(status(500))
		var records []queue.Record
		for _, count := range counts {
			r := retried("a", "webhook_1", count)
			r.MessageID, r.ReceiptHandle = fmt.Sprint("id-", count), fmt.Sprint("handle-", count)
			records = append(records, r)
		}
		failed := w.process(t, records...)
		if len(failed) != 2 || len(w.posts) != 1 || len(w.hidden) != 2 {
			t.Fatalf("%v: failed %v, %d posts, hidden %v", counts, failed, len(w.posts), w.hidden)
		}
		for i, p := range w.hidden {
			if p.ReceiptHandle != records[i].ReceiptHandle || p.Wait != 80*time.Second { // what the second receive waits
				t.Errorf("%v: %s is hidden for %s", counts, p.ReceiptHandle, p.Wait)
			}
		}
	}
}

func TestOnlyTheMessageThatWasNotSentStays(t *testing.T) {
	w := newWorld(func(_ context.Context, url string) delivery.Response {
		if url == active("webhook_2").URL {
			return delivery.Response{Status: 200}
		}
		return delivery.Response{Status: 500, Reason: delivery.ReasonHTTP5xx}
	})
	w.unsent = "c"
	failed := w.process(t, fresh("a", "webhook_2"), fresh("b", "webhook_1"), fresh("c", "webhook_1"), fresh("d", "webhook_1"))
	if !slices.Equal(failed, []string{"id-c"}) || len(w.sent) != 2 {
		t.Errorf("failed %v, %d sent", failed, len(w.sent))
	}
	for _, s := range w.states {
		if s.NextAttemptAt.IsZero() != (s.DeliveryID == "c") {
			t.Errorf("%s: next attempt at %s", s.DeliveryID, s.NextAttemptAt)
		}
	}
	w.onlyOneIsOurs(t, "c", "SendsLost")
}

func TestOnlyTheMessageWhoseVisibilityDidNotChangeIsLost(t *testing.T) {
	w := newWorld(func(_ context.Context, url string) delivery.Response {
		if url == active("webhook_2").URL {
			return delivery.Response{Status: 200}
		}
		return delivery.Response{Status: 500, Reason: delivery.ReasonHTTP5xx}
	})
	w.unchanged = "handle-c"
	failed := w.process(t, retried("a", "webhook_2", 1), retried("b", "webhook_1", 1), retried("c", "webhook_1", 1), retried("d", "webhook_1", 1))
	if !slices.Equal(failed, []string{"id-b", "id-c", "id-d"}) || len(w.hidden) != 2 {
		t.Errorf("failed %v, hidden %v", failed, w.hidden)
	}
	w.onlyOneIsOurs(t, "c", "ParksLost")
}

// onlyOneIsOurs checks who is to blame in a batch of a, which the receiver took, and b, c and
// d, which it did not, where SQS lost one.
func (w *world) onlyOneIsOurs(t *testing.T, lost, metric string) {
	t.Helper()
	for i, want := range []map[string]string{{"delivery_id": "a"}, {"delivery_id": "b", "fault": "receiver"}, {"delivery_id": "c", "fault": "receiver"}, {"delivery_id": "d", "fault": "receiver"}} {
		level := map[string]string{"": "INFO", "receiver": "WARN"}[want["fault"]]
		if want["delivery_id"] == lost {
			want["fault"], want["error"], level = "ours", errAWS.Error(), "ERROR"
		}
		got := w.logs.lines[i]
		for _, key := range []string{"delivery_id", "fault", "error"} {
			if got[key] != want[key] || got["level"] != level {
				t.Errorf("line %d: %v, want %v at %s", i, got, want, level)
			}
		}
	}
	metrics := w.metrics(t)
	maps.DeleteFunc(metrics, func(m measured, _ float64) bool { return m.name == "AttemptMillis" })
	if want := map[measured]float64{
		{metric, telemetry.Dimensions{Fault: "ours"}}:                                               1,
		{"Attempts", telemetry.Dimensions{Outcome: "acknowledged"}}:                                 1,
		{"Attempts", telemetry.Dimensions{Outcome: "retry", Reason: "http_5xx", Fault: "receiver"}}: 3,
	}; !maps.Equal(metrics, want) {
		t.Errorf("metrics %v, want %v", metrics, want)
	}
}

// advance moves the clock.
func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// SQS counts a message's invisibility from its receive, and refuses what exceeds 12 h in total.
func TestNoWaitEndsMoreThanTheCapAfterTheReceive(t *testing.T) {
	const took = 1000 * time.Second
	w := newWorld(nil)
	w.respond = func(context.Context, string) delivery.Response {
		w.advance(took)
		return delivery.Response{Status: 429, Reason: delivery.ReasonHTTP429, RetryAfter: "43000"}
	}
	m, err := queue.Decode(fresh("b", "webhook_1"))
	if err != nil {
		t.Fatal(err)
	}
	m.NotBefore = w.now.Add(retry.Cap)
	w.process(t, retried("a", "webhook_1", 8), record(m, retryARN, 1, w.now))
	if len(w.posts) != 1 || len(w.hidden) != 2 {
		t.Fatalf("%d posts, hidden %v", len(w.posts), w.hidden)
	}
	for _, p := range w.hidden {
		if p.Wait != retry.Cap-took {
			t.Errorf("%s is hidden for %s after %s", p.ReceiptHandle, p.Wait, took)
		}
	}

	// A message sent to RetryQueue was never received there.
	w.process(t, fresh("c", "webhook_1"))
	if m := w.moved(t); !m.NotBefore.Equal(w.now.Add(retry.Cap)) {
		t.Errorf("not before %s, want the whole Retry-After from %s", m.NotBefore, w.now)
	}
}

func TestWaitsAreSpreadAtRandom(t *testing.T) {
	w := newWorld(status(500))
	h := w.handler()
	h.Random = func() float64 { return 0.9 }
	h.Process(t.Context(), []queue.Record{fresh("a", "webhook_1")})
	h.Process(t.Context(), []queue.Record{retried("b", "webhook_1", 1)})
	for _, wait := range []struct{ got, bare time.Duration }{{w.sent[0].Delay, 5 * time.Second}, {w.hidden[0].Wait, 20 * time.Second}} {
		if spread := float64(wait.got) / float64(wait.bare); spread < 1.179 || spread > 1.181 { // 0.9 of 20 %
			t.Errorf("%s is %.3f of %s", wait.got, spread, wait.bare)
		}
	}
}

func TestADeliveryThatDiesCountsTenAttempts(t *testing.T) {
	w := newWorld(status(500))
	w.process(t, fresh("a", "webhook_1"))
	for count := 1; count <= 9; count++ {
		w.process(t, record(w.moved(t), retryARN, count, w.now))
	}
	if last := w.logs.lines[9]; len(w.logs.lines) != 10 || last["outcome"] != "dead" || last["attempt"] != "10" || last["fault"] != "receiver" {
		t.Errorf("%d lines, the last %v", len(w.logs.lines), last)
	}
	attempts := 0.0
	for m, n := range w.metrics(t) {
		if m.name == "Attempts" {
			attempts += n
		}
	}
	if attempts != 10 {
		t.Errorf("%v attempts counted", attempts)
	}

	w.process(t, record(w.moved(t), retryARN, 10, w.now)) // exhausted: received before SQS moved it
	line := w.logs.lines[10]
	if line["msg"] != "no attempt" || line["reason"] != "exhausted" || line["attempt"] != "10" || line["fault"] != "" || len(w.posts) != 10 {
		t.Errorf("%d posts, log %v", len(w.posts), line)
	}
	if got, want := w.metrics(t), map[measured]float64{{"NotAttempted", telemetry.Dimensions{Outcome: "dead", Reason: "exhausted"}}: 1}; !maps.Equal(got, want) {
		t.Errorf("metrics %v, want %v", got, want)
	}
}
