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

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

func TestHandler_Process_acknowledgesAFirstSuccessWithOneWrite(t *testing.T) {
	w := newWorld(status(204))
	failed := w.process(t, fresh("a", "webhook_1"), fresh("b", "webhook_2"))
	w.did(t, failed, effects{Posts: 2, Acknowledged: 2})
	first := delivery.Ref{
		DeliveryID: "a", TenantID: "t", EndpointID: "webhook_1", EventID: "e", CreatedAt: w.acked[0].CreatedAt,
	}
	second := delivery.Ref{
		DeliveryID: "b", TenantID: "t", EndpointID: "webhook_2", EventID: "e", CreatedAt: w.acked[1].CreatedAt,
	}
	want := delivery.Record{
		EventType: "user.deleted", State: delivery.Acknowledged, Attempts: 1, LastStatus: 204, DurationMS: 1,
		UpdatedAt: w.now,
	}
	for i, ref := range []delivery.Ref{first, second} {
		want.Ref = ref
		if diff := cmp.Diff(want, w.acked[i]); diff != "" {
			t.Errorf("record of %s (-want +got)\n%s", ref.DeliveryID, diff)
		}
	}
}

func TestHandler_Process_movesAFirstFailureToRetryQueue(t *testing.T) {
	w := newWorld(status(500))
	failed := w.process(t, fresh("a", "webhook_1"))
	w.did(t, failed, effects{Posts: 1, States: 1, Sent: waits(5 * time.Second)})
	want, err := queue.Decode(fresh("a", "webhook_1"))
	if err != nil {
		t.Fatal(err)
	}
	want.Retrying, want.Attempts = true, 1
	want.Life = delivery.Life{StartedAt: born, OwnDue: epoch.Add(5 * time.Second)}
	if diff := cmp.Diff(want, w.moved(t)); diff != "" {
		t.Errorf("message (-want +got)\n%s", diff)
	}
	if got := w.sent[0].Group; got != "t" {
		t.Errorf("group %q", got)
	}
	w.knows(t, 0, known{delivery.Retrying, delivery.ReasonHTTP5xx, 1, 500, w.now.Add(5 * time.Second)})
}

// moved decodes the one message sent to RetryQueue.
func (w *world) moved(t *testing.T) delivery.Message {
	t.Helper()
	if len(w.sent) != 1 {
		t.Fatalf("%d messages on RetryQueue, want 1", len(w.sent))
	}
	return messageOf(t, w.sent[0])
}

func TestHandler_Process_hidesAShortWaitAndParksALongOne(t *testing.T) {
	for name, row := range map[string]struct {
		used, receives int
		visibility     time.Duration
		backlog        time.Duration
		attempts       int
	}{
		"retry 1":                               {1, 1, 20 * time.Second, 0, 2},
		"retry 2":                               {1, 2, 80 * time.Second, 0, 3},
		"the first long wait":                   {1, 3, 0, 320 * time.Second, 4},
		"receives too many skip no long place":  {1, 9, 0, 320 * time.Second, 4},
		"back from Backlog, one long place on":  {4, 1, 0, 1280 * time.Second, 5},
		"nor do they skip the next one":         {4, 5, 0, 1280 * time.Second, 5},
		"the last but one":                      {8, 1, 0, retry.Cap, 9},
		"the last but one, received many times": {8, 40, 0, retry.Cap, 9},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(503))
			r := again(fresh("a", "webhook_1"), row.used, row.receives)
			failed := w.process(t, r)
			want := known{delivery.Retrying, delivery.ReasonHTTP5xx, row.attempts, 503, epoch.Add(row.visibility + row.backlog)}
			if row.backlog == 0 {
				w.did(t, failed, effects{Failed: []string{r.MessageId}, Posts: 1, States: 1, Hidden: waits(row.visibility)})
			} else {
				want.State = delivery.Waiting
				w.did(t, failed, effects{Posts: 1, States: 1, Parked: waits(row.backlog)})
			}
			w.knows(t, 0, want)
			for _, item := range w.parked {
				if item.Held || item.Message.Attempts != row.attempts {
					t.Errorf("parked %+v", item)
				}
				if s := w.states[0]; s.State != delivery.Waiting || s.NextAttemptAt != item.DueAt {
					t.Errorf("state %+v", s)
				}
			}
		})
	}
}

func TestHandler_Process_parksALongRetryAfter(t *testing.T) {
	for name, r := range map[string]events.SQSMessage{
		"of a first attempt": fresh("a", "webhook_1"), "of a retry": retried("a", "webhook_1", 1),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(func(context.Context, string) delivery.Response {
				return delivery.Response{Status: 429, Reason: delivery.ReasonHTTP429, RetryAfter: "3600"}
			})
			failed := w.process(t, r)
			w.did(t, failed, effects{Posts: 1, States: 1, Parked: waits(time.Hour)})
			m, due := w.parked[0].Message, epoch.Add(time.Hour)
			if m.NotBefore != due || m.Life.OwnDue != due { // nothing but an operator sends it before
				t.Errorf("%+v", m)
			}
		})
	}
}

// follow processes the record and returns it as it is received next, after the wait, as SQS or
// release would hand it over. over says that there is no next time.
func (w *world) follow(t *testing.T, r events.SQSMessage, count int) (next events.SQSMessage, counted int, over bool) {
	t.Helper()
	w.sent, w.hidden, w.parked = nil, nil, nil
	w.process(t, r)
	switch {
	case len(w.sent) == 1:
		w.advance(w.sent[0].Delay)
		return record(w.moved(t), retryARN, 1), 1, false
	case len(w.hidden) == 1:
		m, err := queue.Decode(r)
		if err != nil {
			t.Fatal(err)
		}
		w.advance(w.hidden[0].Wait)
		return record(m, retryARN, count+1), count + 1, false
	case len(w.parked) == 1:
		w.advance(max(w.parked[0].DueAt.Sub(w.now), time.Minute)) // release runs once a minute
		return record(messageOf(t, queue.ToRetryQueue(w.parked[0].Message, 0)), retryARN, 1), 1, false
	}
	return events.SQSMessage{}, 0, true
}

func TestHandler_Process_takesTheProductionScheduleToDeath(t *testing.T) {
	w := newWorld(status(500))
	var got []time.Duration
	for r, count, over := fresh("a", "webhook_1"), 1, false; !over; {
		before := w.now
		r, count, over = w.follow(t, r, count)
		got = append(got, w.now.Sub(before))
	}
	var want []time.Duration
	for _, seconds := range []int{5, 20, 80, 320, 1280, 5120, 20480, 43000, 43000, 0} { // dead at once after the last
		want = append(want, time.Duration(seconds)*time.Second)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("waits (-want +got)\n%s", diff)
	}
	if len(w.posts) != 10 || len(w.dead) != 1 {
		t.Fatalf("%d posts, %d dead", len(w.posts), len(w.dead))
	}
	w.knows(t, 9, known{delivery.Retrying, delivery.ReasonHTTP5xx, 10, 500, time.Time{}}) // deadletter writes the rest
	m := messageOf(t, w.dead[0])
	if m.Attempts != 10 || m.Life.Reason != delivery.ReasonHTTP5xx || m.Life.Status != 500 || m.Life.StartedAt != born {
		t.Errorf("dead letter %+v", m)
	}
}

func TestHandler_Process_postsToActiveEndpointsOnly(t *testing.T) {
	gone, disabled := active("webhook_1"), active("webhook_1")
	gone.Status, disabled.Status = endpoint.Deleted, endpoint.Disabled
	const deleted = delivery.ReasonEndpointDeleted
	for name, row := range map[string]struct {
		endpoint endpoint.Endpoint
		record   events.SQSMessage
		did      effects
		knows    known
	}{
		"deleted: discarded": {
			gone, fresh("a", "webhook_1"), effects{States: 1}, known{State: delivery.Discarded, Reason: deleted},
		},
		"deleted while retrying": {
			gone, retried("a", "webhook_1", 3), effects{States: 1},
			known{State: delivery.Discarded, Reason: deleted, Attempts: 3},
		},
		"never there": {
			endpoint.Endpoint{}, fresh("a", "webhook_9"), effects{States: 1}, known{State: delivery.Discarded, Reason: deleted},
		},
		"disabled: held to the end of its life": {
			disabled, fresh("a", "webhook_1"), effects{States: 1, Parked: waits(tenPlaces.Remaining(1))},
			known{State: delivery.Waiting, Reason: delivery.ReasonEndpointDisabled},
		},
		"disabled: keeps its place": {
			disabled, retried("a", "webhook_1", 2), effects{States: 1, Parked: waits(tenPlaces.Remaining(3))},
			known{State: delivery.Waiting, Reason: delivery.ReasonEndpointDisabled, Attempts: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(200))
			w.endpoints["webhook_1"] = row.endpoint
			failed := w.process(t, row.record)
			w.did(t, failed, row.did)
			w.knows(t, 0, row.knows)
		})
	}
}

func TestHandler_Process_sendsFaultsOfOursToRetryQueueAndTellsThemApart(t *testing.T) {
	for name, spoil := range map[string]func(*world){
		"DynamoDB fails": func(w *world) { w.readErr = errAWS },
		"KMS fails":      func(w *world) { w.secretErr = errAWS },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(200))
			spoil(w)
			failed := w.process(t, fresh("a", "webhook_1"), fresh("b", "webhook_2"))
			w.did(t, failed, effects{States: 2, Sent: waits(5*time.Second, 5*time.Second)})
			w.knows(t, 0, known{State: delivery.Retrying, Reason: delivery.ReasonInternal, Next: epoch.Add(5 * time.Second)})
			w.says(t, 0, map[string]string{"fault": "ours", "error": errAWS.Error()})
		})
	}
}

func TestHandler_Process_countsNoAttemptThatFailedByAFaultOfOurs(t *testing.T) {
	w := newWorld(func(context.Context, string) delivery.Response {
		return delivery.Response{Reason: delivery.ReasonInternal}
	})
	failed := w.process(t, fresh("a", "webhook_1"))
	w.did(t, failed, effects{Posts: 1, States: 1, Sent: waits(5 * time.Second)})
	w.knows(t, 0, known{State: delivery.Retrying, Reason: delivery.ReasonInternal, Next: epoch.Add(5 * time.Second)})
}

func TestHandler_Process_returnsWhatCannotBeMoved(t *testing.T) {
	w := newWorld(status(500))
	w.sendErr = errAWS
	failed := w.process(t, fresh("a", "webhook_1"))
	w.did(t, failed, effects{Failed: []string{"id-a"}, Posts: 1, States: 1})
	// SQS alone knows when it comes back
	w.knows(t, 0, known{State: delivery.Retrying, Reason: delivery.ReasonHTTP5xx, Attempts: 1, Status: 500})
}

func TestHandler_Process_losesNoDeliveryWithItsState(t *testing.T) {
	w := newWorld(status(200))
	w.stateErr = errAWS
	failed := w.process(t, fresh("a", "webhook_1"))
	w.did(t, failed, effects{Posts: 1, Acknowledged: 1})
	w.says(t, 0, map[string]string{"msg": "delivery state not written", "fault": "ours", "level": "ERROR"})
	w.forget()
	w.respond = status(500)
	failed = w.process(t, fresh("b", "webhook_1"))
	w.did(t, failed, effects{Posts: 1, States: 1, Sent: waits(5 * time.Second)})
	if n := w.metrics(t)[measured{"StateWritesLost", telemetry.Dimensions{Fault: "ours"}}]; n != 2 {
		t.Errorf("%v lost writes counted", n)
	}
}

func TestHandler_Process_isolatesAPanic(t *testing.T) {
	w := newWorld(func(_ context.Context, url string) delivery.Response {
		if strings.HasSuffix(url, "webhook_2") {
			panic("boom")
		}
		return delivery.Response{Status: 200}
	})
	failed := w.process(t, fresh("a", "webhook_1"), fresh("b", "webhook_2"), fresh("c", "webhook_1"))
	w.did(t, failed, effects{Posts: 3, Acknowledged: 2, States: 1, Sent: waits(5 * time.Second)})
	if m := w.moved(t); m.DeliveryID != "b" {
		t.Errorf("%s is moved", m.DeliveryID)
	}
}

func TestHandler_Process_sendsDuplicatesInABatchOnce(t *testing.T) {
	w := newWorld(status(500))
	failed := w.process(t, fresh("a", "webhook_1"), fresh("a", "webhook_1"))
	w.did(t, failed, effects{Posts: 1, States: 1, Sent: waits(5 * time.Second)})

	// On RetryQueue both messages stay: one may be the other received twice.
	w = newWorld(status(500))
	failed = w.process(t, retried("a", "webhook_1", 1), retried("a", "webhook_1", 1))
	w.did(t, failed, effects{
		Failed: []string{"id-a", "id-a"}, Posts: 1, States: 1, Hidden: waits(20*time.Second, 20*time.Second),
	})
}

func TestHandler_Process_letsTheDuplicateWithTheMostTriesLeftSpeak(t *testing.T) {
	old, young := again(fresh("a", "webhook_1"), 9, 1), retried("a", "webhook_1", 1)
	old.MessageId, young.MessageId = "old", "young"
	for name, records := range map[string][]events.SQSMessage{
		"the one at its last place first": {old, young},
		"the one at its last place last":  {young, old},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(500))
			w.did(t, w.process(t, records...), effects{
				Failed: []string{records[0].MessageId, records[1].MessageId}, Posts: 1, States: 1,
				Hidden: waits(20*time.Second, 20*time.Second),
			})
		})
	}
}

func TestHandler_Process_takesAReplayForADeliveryOfItsOwn(t *testing.T) {
	w := newWorld(status(500))
	replay := fresh("a", "webhook_1")
	replay = sqsevent.With(replay, "replay", "1")
	failed := w.process(t, fresh("a", "webhook_1"), replay) // taking one for the other would lose it
	w.did(t, failed, effects{Posts: 2, States: 2, Sent: waits(5*time.Second, 5*time.Second)})
}

func TestHandler_Process_leavesUnreadableMessagesForRedrive(t *testing.T) {
	w := newWorld(status(200))
	bad := fresh("a", "webhook_1")
	bad.MessageId = "bad"
	bad = sqsevent.With(bad, "tenant_id", "")
	failed := w.process(t, bad, fresh("b", "webhook_1"))
	w.did(t, failed, effects{Failed: []string{"bad"}, Posts: 1, Acknowledged: 1})
	w.says(t, 0, map[string]string{
		"msg": "no attempt", "outcome": "unreadable", "reason": "unreadable", "fault": "ours", "message_id": "bad",
		"error": "unreadable delivery message: attribute tenant_id is missing",
	})
	unreadable := telemetry.Dimensions{Outcome: "unreadable", Reason: "unreadable", Fault: "ours"}
	if n := w.metrics(t)[measured{"NotAttempted", unreadable}]; n != 1 {
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

func TestHandler_Process_sendsAHangingEndpointsOtherFirstAttemptsToRetryQueue(t *testing.T) {
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
		failed := h.Process(ctx, []events.SQSMessage{
			fresh("a", "webhook_1"), fresh("b", "webhook_1"), fresh("c", "webhook_1"), fresh("d", "webhook_2"),
		})
		sent := waits(5*time.Second, 5*time.Second, 0) // what was not started waits for nothing
		slices.SortFunc(w.sent, func(a, b queue.Outgoing) int { return int(b.Delay - a.Delay) })
		w.did(t, failed, effects{Posts: 3, Acknowledged: 1, States: 3, Sent: sent})
		if took := time.Since(started); took != 15*time.Second {
			t.Errorf("took %s", took)
		}
		if n := countReason(w.states, delivery.ReasonEndpointHanging); n != 1 {
			t.Errorf("%d never started, want 1", n)
		}

		// On RetryQueue every record gets its POST.
		w.forget()
		h.PerEndpoint = 3
		h.Process(ctx, []events.SQSMessage{
			retried("a", "webhook_1", 1), retried("b", "webhook_1", 1), retried("c", "webhook_1", 1),
		})
		if len(w.posts) != 3 {
			t.Errorf("%d posts from RetryQueue, want 3", len(w.posts))
		}
	})
}

func TestHandler_Process_postsEveryRetryThoughTheOneBeforeItHung(t *testing.T) {
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
		failed := h.Process(t.Context(), []events.SQSMessage{
			retried("a", "webhook_1", 1), retried("b", "webhook_1", 1), retried("c", "webhook_1", 1),
		})
		if len(failed) != 1 || len(w.posts) != 3 || len(w.acked) != 2 { // which of the three is first, nobody knows
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

func TestHandler_Process_handsOnWhatIsUnfinishedBeforeTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(hang)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		started := time.Now()
		failed := w.handler().Process(ctx, []events.SQSMessage{fresh("a", "webhook_1"), fresh("b", "webhook_2")})
		w.did(t, failed, effects{Posts: 2, States: 2, Sent: waits(5*time.Second, 5*time.Second)})
		if took := time.Since(started); took != 8*time.Second {
			t.Errorf("took %s", took)
		}
		if n := countReason(w.states, delivery.ReasonOutOfTime); n != 2 {
			t.Errorf("%d out of time: %+v", n, w.states)
		}
	})
}

func TestHandler_Process_makesAtMostNAttemptsToOneEndpointAtATime(t *testing.T) {
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
		var records []events.SQSMessage
		for i := range 9 {
			records = append(records, fresh(fmt.Sprint("d", i), "webhook_1"))
		}
		w.did(t, h.Process(t.Context(), records), effects{Posts: 9, Acknowledged: 9})
		if most.Load() != 3 {
			t.Errorf("%d at a time", most.Load())
		}
	})
}
