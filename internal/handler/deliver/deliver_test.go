package deliver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

func TestAFirstSuccessIsAcknowledgedWithOneWrite(t *testing.T) {
	w := newWorld(status(204))
	if failed := w.process(t, fresh("a", "webhook_1"), fresh("b", "webhook_2")); len(failed) != 0 {
		t.Errorf("failed %v", failed)
	}
	if len(w.posts) != 2 || len(w.acked) != 2 || len(w.states)+len(w.sent)+len(w.hidden) != 0 {
		t.Errorf("%d posts, %d acknowledged, %d other states, %d sent, %d hidden", len(w.posts), len(w.acked), len(w.states), len(w.sent), len(w.hidden))
	}
	if r := w.acked[0]; r.State != delivery.Acknowledged || r.Attempts != 1 || r.LastStatus != 204 || r.EventType != "user.deleted" {
		t.Errorf("%+v", r)
	}
}

func TestAFirstFailureMovesToRetryQueue(t *testing.T) {
	w := newWorld(status(500))
	if failed := w.process(t, fresh("a", "webhook_1")); len(failed) != 0 {
		t.Errorf("failed %v: it belongs to RetryQueue now", failed)
	}
	m := w.moved(t)
	if m.Attempts != 1 || !m.Retrying || w.sent[0].Delay != 5*time.Second || !m.NotBefore.IsZero() || w.sent[0].Group != "webhook_1" {
		t.Errorf("%+v after %s", m, w.sent[0].Delay)
	}
	if r := w.states[0]; r.State != delivery.Retrying || r.Attempts != 1 || r.Reason != delivery.ReasonHTTP5xx || !r.NextAttemptAt.Equal(w.now.Add(5*time.Second)) {
		t.Errorf("%+v", r)
	}
}

// moved decodes the one message sent to RetryQueue.
func (w *world) moved(t *testing.T) delivery.Message {
	t.Helper()
	if len(w.sent) != 1 {
		t.Fatalf("%d messages on RetryQueue, want 1", len(w.sent))
	}
	r := queue.Record{Body: w.sent[0].Body, MessageAttributes: map[string]queue.Attribute{}}
	for name, a := range w.sent[0].Attributes {
		r.MessageAttributes[name] = queue.Attribute{StringValue: *a.StringValue}
	}
	m, err := queue.Decode(r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestALongFirstRetryAfterTravelsAsNotBefore(t *testing.T) {
	w := newWorld(func(context.Context, string) delivery.Response {
		return delivery.Response{Status: 429, Reason: delivery.ReasonHTTP429, RetryAfter: "3600"}
	})
	w.process(t, fresh("a", "webhook_1"))
	m := w.moved(t)
	if w.sent[0].Delay != retry.MaxDelay || !m.NotBefore.Equal(w.now.Add(time.Hour)) {
		t.Fatalf("delay %s, not before %s", w.sent[0].Delay, m.NotBefore)
	}

	// It is received after 900 s: no attempt, invisible for the rest of the hour.
	w.posts, w.states = nil, nil
	start := w.now
	w.now = start.Add(15 * time.Minute)
	early := record(m, retryARN, 1, w.now)
	if failed := w.process(t, early); !slices.Equal(failed, []string{early.MessageID}) || len(w.posts) != 0 || len(w.states) != 0 {
		t.Errorf("failed %v, %d posts, %d states", failed, len(w.posts), len(w.states))
	}
	if got := w.hidden[0].Wait; got != 45*time.Minute {
		t.Errorf("hidden for %s", got)
	}

	// Nor is there an attempt when a fault cost the first receive and the next one is early too.
	w.readErr = errAWS
	if w.process(t, record(m, retryARN, 2, start.Add(15*time.Minute))); len(w.posts) != 0 || w.hidden[1].Wait != 45*time.Minute {
		t.Errorf("%d posts, hidden for %s", len(w.posts), w.hidden[1].Wait)
	}
	w.readErr, w.hidden = nil, w.hidden[:1]

	// The second receive is retry 1, and the ninth retry is the tenth receive.
	w.now = start.Add(time.Hour)
	w.process(t, record(m, retryARN, 2, start.Add(15*time.Minute)))
	if got := w.states[0].Attempts; got != 2 || w.hidden[1].Wait != time.Hour {
		t.Errorf("attempts %d, hidden for %s", got, w.hidden[1].Wait)
	}
	w.process(t, record(m, retryARN, 10, start.Add(15*time.Minute)))
	if got := w.states[1].Attempts; got != 10 || w.hidden[2].Wait != 0 || len(w.posts) != 2 {
		t.Errorf("attempts %d, hidden for %s, %d posts", got, w.hidden[2].Wait, len(w.posts))
	}
}

func TestALaterFailureWaitsByVisibility(t *testing.T) {
	for count, wait := range map[int]time.Duration{1: 20 * time.Second, 2: 80 * time.Second, 8: 43_000 * time.Second, 9: 0} {
		w := newWorld(status(503))
		r := retried("a", "webhook_1", count)
		if failed := w.process(t, r); !slices.Equal(failed, []string{r.MessageID}) {
			t.Errorf("receive %d: failed %v", count, failed)
		}
		if len(w.posts) != 1 || len(w.hidden) != 1 || w.hidden[0].Wait != wait || w.hidden[0].ReceiptHandle != r.ReceiptHandle || len(w.sent) != 0 {
			t.Errorf("receive %d: %d posts, hidden %v, want %s", count, len(w.posts), w.hidden, wait)
		}
		if s := w.states[0]; s.Attempts != 1+count || s.LastStatus != 503 {
			t.Errorf("receive %d: %+v", count, s)
		}
	}
}

func TestAnExhaustedDeliveryIsNotPostedAgain(t *testing.T) {
	w := newWorld(status(200))
	r := retried("a", "webhook_1", 10)
	if failed := w.process(t, r); len(failed) != 1 || len(w.posts) != 0 || w.hidden[0].Wait != 0 || len(w.states)+len(w.acked) != 0 {
		t.Errorf("failed %v, %d posts, hidden %v", failed, len(w.posts), w.hidden)
	}
}

func TestTheProductionScheduleToDeath(t *testing.T) {
	w := newWorld(status(500))
	w.process(t, fresh("a", "webhook_1"))
	waits := []time.Duration{0, w.sent[0].Delay}
	for count := 1; w.hidden == nil || w.hidden[len(w.hidden)-1].Wait > 0; count++ {
		w.now = w.now.Add(waits[len(waits)-1])
		w.process(t, record(w.moved(t), retryARN, count, w.now))
		waits = append(waits, w.hidden[len(w.hidden)-1].Wait)
	}
	waits = waits[:len(waits)-1] // visibility 0 after the last
	var sum time.Duration
	for i, wait := range waits {
		sum += wait
		t.Logf("attempt %2d after %8s", i+1, wait)
	}
	t.Logf("dead after %s", sum)
	if len(w.posts) != 10 || len(waits) != 10 || sum < 31*time.Hour || sum > 32*time.Hour {
		t.Errorf("%d posts, %d waits, %s", len(w.posts), len(waits), sum)
	}
	if w.states[9].Attempts != 10 {
		t.Errorf("last state %+v", w.states[9])
	}
}

func TestEndpointsThatAreNotActive(t *testing.T) {
	gone := active("webhook_1")
	gone.Status = endpoint.Deleted
	disabled := active("webhook_1")
	disabled.Status = endpoint.Disabled
	for name, row := range map[string]struct {
		e                endpoint.Endpoint
		r                queue.Record
		failed, sent     int
		state            delivery.State
		reason           delivery.Reason
		attempts, hidden int
	}{
		"deleted: discarded":              {gone, fresh("a", "webhook_1"), 0, 0, delivery.Discarded, delivery.ReasonEndpointDeleted, 0, 0},
		"deleted while retrying":          {gone, retried("a", "webhook_1", 3), 0, 0, delivery.Discarded, delivery.ReasonEndpointDeleted, 4, 0},
		"never there":                     {endpoint.Endpoint{}, fresh("a", "webhook_9"), 0, 0, delivery.Discarded, delivery.ReasonEndpointDeleted, 0, 0},
		"disabled: waits on RetryQueue":   {disabled, fresh("a", "webhook_1"), 0, 1, delivery.Retrying, delivery.ReasonEndpointDisabled, 0, 0},
		"disabled: keeps its place there": {disabled, retried("a", "webhook_1", 2), 1, 0, delivery.Retrying, delivery.ReasonEndpointDisabled, 3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(200))
			w.endpoints["webhook_1"] = row.e
			failed := w.process(t, row.r)
			if len(w.posts) != 0 || len(failed) != row.failed || len(w.sent) != row.sent || len(w.hidden) != row.hidden {
				t.Fatalf("%d posts, failed %v, %d sent, %d hidden", len(w.posts), failed, len(w.sent), len(w.hidden))
			}
			if s := w.states[0]; s.State != row.state || s.Reason != row.reason || s.Attempts != row.attempts {
				t.Errorf("%+v", s)
			}
			if row.sent == 1 && w.moved(t).Attempts != 0 {
				t.Error("a POST is counted that was not made")
			}
		})
	}
}

func TestFaultsOfOursReachRetryQueueAndAreToldApart(t *testing.T) {
	for name, spoil := range map[string]func(*world){
		"DynamoDB fails": func(w *world) { w.readErr = errAWS },
		"KMS fails":      func(w *world) { w.secretErr = errAWS },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(200))
			spoil(w)
			if failed := w.process(t, fresh("a", "webhook_1"), fresh("b", "webhook_2")); len(failed) != 0 || len(w.sent) != 2 || len(w.posts) != 0 {
				t.Fatalf("failed %v, %d sent, %d posts", failed, len(w.sent), len(w.posts))
			}
			if s := w.states[0]; s.Reason != delivery.ReasonInternal || s.Attempts != 0 {
				t.Errorf("%+v", s)
			}
			if line := w.logs.lines[0]; line["fault"] != "ours" || line["error"] != errAWS.Error() {
				t.Errorf("log %v", line)
			}
		})
	}
}

func TestWhatCannotBeMovedStays(t *testing.T) {
	w := newWorld(status(500))
	w.sendErr = errAWS
	r := fresh("a", "webhook_1")
	if failed := w.process(t, r); !slices.Equal(failed, []string{r.MessageID}) {
		t.Errorf("failed %v", failed)
	}
	if s := w.states[0]; s.State != delivery.Retrying || s.LastStatus != 500 || !s.NextAttemptAt.IsZero() {
		t.Errorf("what the receiver answered is lost: %+v", s)
	}
}

func TestLosingStateLosesNoDelivery(t *testing.T) {
	w := newWorld(status(200))
	w.stateErr = errAWS
	if failed := w.process(t, fresh("a", "webhook_1")); len(failed) != 0 {
		t.Errorf("a delivered message comes back: %v", failed)
	}
	w.respond = status(500)
	if failed := w.process(t, fresh("b", "webhook_1")); len(failed) != 0 || len(w.sent) != 1 {
		t.Errorf("failed %v, %d on RetryQueue", failed, len(w.sent))
	}
	lost := func(l map[string]string) bool {
		return l["msg"] == "delivery state not written" && l["fault"] == "ours" && l["level"] == "ERROR"
	}
	if n := w.metrics(t)[measured{"StateWritesLost", telemetry.Dimensions{Fault: "ours"}}]; n != 2 || !slices.ContainsFunc(w.logs.lines, lost) {
		t.Errorf("nobody hears of it: %v counted, log %v", n, w.logs.lines)
	}
}

func TestAPanicHurtsItsRecordOnly(t *testing.T) {
	w := newWorld(func(_ context.Context, url string) delivery.Response {
		if strings.HasSuffix(url, "webhook_2") {
			panic("boom")
		}
		return delivery.Response{Status: 200}
	})
	if failed := w.process(t, fresh("a", "webhook_1"), fresh("b", "webhook_2"), fresh("c", "webhook_1")); len(failed) != 0 {
		t.Errorf("failed %v", failed)
	}
	if len(w.acked) != 2 || len(w.sent) != 1 || w.moved(t).DeliveryID != "b" {
		t.Errorf("%d acknowledged, %d moved", len(w.acked), len(w.sent))
	}
}

func TestDuplicatesInABatchAreSentOnce(t *testing.T) {
	w := newWorld(status(500))
	if failed := w.process(t, fresh("a", "webhook_1"), fresh("a", "webhook_1")); len(failed) != 0 || len(w.posts) != 1 || len(w.sent) != 1 {
		t.Errorf("failed %v, %d posts, %d sent", failed, len(w.posts), len(w.sent))
	}
	// On RetryQueue both messages stay: one may be the other received twice.
	w = newWorld(status(500))
	if failed := w.process(t, retried("a", "webhook_1", 1), retried("a", "webhook_1", 1)); len(failed) != 2 || len(w.posts) != 1 || len(w.hidden) != 2 {
		t.Errorf("failed %v, %d posts, %d hidden", failed, len(w.posts), len(w.hidden))
	}
}

func TestDuplicatesShareTheFateOfTheOneWithTheMostTriesLeft(t *testing.T) {
	w := newWorld(status(200))
	old, young := retried("a", "webhook_1", 10), retried("a", "webhook_1", 1)
	old.MessageID, young.MessageID = "old", "young"
	if failed := w.process(t, old, young); len(failed) != 0 || len(w.posts) != 1 {
		t.Errorf("failed %v, %d posts: an exhausted duplicate spoils a delivery", failed, len(w.posts))
	}
	// A replay is not the delivery it replays: taking one for the other would lose it.
	w = newWorld(status(500))
	again := fresh("a", "webhook_1")
	again.MessageAttributes["replay"] = queue.Attribute{StringValue: "1"}
	if w.process(t, fresh("a", "webhook_1"), again); len(w.posts) != 2 || len(w.sent) != 2 {
		t.Errorf("%d posts, %d moved, want both", len(w.posts), len(w.sent))
	}
}

func TestUnreadableMessagesAreLeftForRedrive(t *testing.T) {
	w := newWorld(status(200))
	bad := fresh("a", "webhook_1")
	delete(bad.MessageAttributes, "tenant_id")
	if failed := w.process(t, bad, fresh("b", "webhook_1")); !slices.Equal(failed, []string{bad.MessageID}) || len(w.acked) != 1 || len(w.hidden)+len(w.sent) != 0 {
		t.Errorf("failed %v, %d acknowledged", failed, len(w.acked))
	}
	if line := w.logs.lines[0]; line["outcome"] != "unreadable" || line["fault"] != "ours" || !strings.Contains(line["error"], "tenant_id") {
		t.Errorf("log %v", line)
	}
	if n := w.metrics(t)[measured{"NotAttempted", telemetry.Dimensions{Outcome: "unreadable", Reason: "unreadable", Fault: "ours"}}]; n != 1 {
		t.Errorf("%v counted", n)
	}
}

// hang answers like a receiver that never does, within an attempt timeout of 15 s.
func hang(ctx context.Context, _ string) delivery.Response {
	select {
	case <-ctx.Done():
	case <-time.After(15 * time.Second):
	}
	return delivery.Response{Reason: delivery.ReasonTimeout}
}

func TestAHangingEndpointsOtherFirstAttemptsGoToRetryQueueUnstarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(func(ctx context.Context, url string) delivery.Response {
			if strings.HasSuffix(url, "webhook_1") {
				return hang(ctx, url)
			}
			return delivery.Response{Status: 200}
		})
		h := w.handler()
		h.PerEndpoint = 2
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		started := time.Now()
		failed := h.Process(ctx, []queue.Record{fresh("a", "webhook_1"), fresh("b", "webhook_1"), fresh("c", "webhook_1"), fresh("d", "webhook_2")})
		if took := time.Since(started); len(failed) != 0 || len(w.posts) != 3 || len(w.sent) != 3 || len(w.acked) != 1 || took != 15*time.Second {
			t.Errorf("failed %v, %d posts, %d moved, %d acknowledged in %s", failed, len(w.posts), len(w.sent), len(w.acked), took)
		}
		if n := countReason(w.states, delivery.ReasonEndpointHanging); n != 1 {
			t.Errorf("%d never started, want 1", n)
		}

		// On RetryQueue every record gets its POST.
		w.posts = nil
		h.PerEndpoint = 3
		h.Process(ctx, []queue.Record{retried("a", "webhook_1", 1), retried("b", "webhook_1", 1), retried("c", "webhook_1", 1)})
		if len(w.posts) != 3 {
			t.Errorf("%d posts from RetryQueue, want 3", len(w.posts))
		}
	})
}

func TestEveryRetryGetsItsPostThoughTheOneBeforeItHung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		w := newWorld(func(ctx context.Context, url string) delivery.Response {
			if first { // one at a time
				first = false
				return hang(ctx, url)
			}
			return delivery.Response{Status: 200}
		})
		h := w.handler()
		h.PerEndpoint = 1
		failed := h.Process(t.Context(), []queue.Record{retried("a", "webhook_1", 1), retried("b", "webhook_1", 1), retried("c", "webhook_1", 1)})
		if len(failed) != 1 || len(w.posts) != 3 || len(w.acked) != 2 {
			t.Errorf("failed %v, %d posts, %d acknowledged", failed, len(w.posts), len(w.acked))
		}
	})
}

func countReason(states []delivery.Record, reason delivery.Reason) (n int) {
	for _, s := range states {
		if s.Reason == reason {
			n++
		}
	}
	return n
}

func TestWhatIsUnfinishedBeforeTheDeadlineIsHandedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(hang)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		started := time.Now()
		failed := w.handler().Process(ctx, []queue.Record{fresh("a", "webhook_1"), fresh("b", "webhook_2")})
		if took := time.Since(started); took != 8*time.Second || len(failed) != 0 || len(w.sent) != 2 {
			t.Errorf("failed %v, %d moved in %s", failed, len(w.sent), took)
		}
		if n := countReason(w.states, delivery.ReasonOutOfTime); n != 2 {
			t.Errorf("%d out of time: %+v", n, w.states)
		}
	})
}

func TestAtMostNAttemptsToOneEndpointAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		w := newWorld(func(context.Context, string) delivery.Response {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return delivery.Response{Status: 200}
		})
		h := w.handler()
		h.PerEndpoint = 3
		var records []queue.Record
		for i := range 9 {
			records = append(records, fresh(fmt.Sprint("d", i), "webhook_1"))
		}
		if failed := h.Process(t.Context(), records); len(failed) != 0 || len(w.acked) != 9 || most.Load() != 3 {
			t.Errorf("failed %v, %d acknowledged, %d at a time", failed, len(w.acked), most.Load())
		}
	})
}
