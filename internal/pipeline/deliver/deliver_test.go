package deliver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

func TestHandler_Process_acknowledgesASuccessWithOneWrite(t *testing.T) {
	in(t, status(204), func(w *rig) {
		if returned := w.process(w.fresh("e1", "webhook_1"), w.fresh("e2", "webhook_2")); len(returned) > 0 {
			w.Errorf("returned %v", returned)
		}
		if diff := cmp.Diff([]string{"Read", "Open", "Open", "States"}, w.calls); diff != "" || w.acknowledged() != 2 {
			w.Errorf("%d acknowledged, calls (-want +got):\n%s", w.acknowledged(), diff)
		}
	})
}

func TestHandler_Process_sendsAFailureOn(t *testing.T) {
	in(t, status(503), func(w *rig) {
		first, second, fourth, last := w.fresh("first", "webhook_1"), w.retried("second", "webhook_1", 1),
			w.retried("fourth", "webhook_1", 3), w.retried("last", "webhook_1", 9)
		lane := message("lane", "webhook_2")
		if diff := cmp.Diff([]string(nil), w.process(first)); diff != "" {
			w.Errorf("a first attempt returned (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"id-second"}, w.process(second, fourth, last)); diff != "" {
			w.Errorf("retries returned (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"id-lane"}, w.process(w.on("slow", 1, lane))); diff != "" {
			w.Errorf("of SlowQueue returned (-want +got):\n%s", diff)
		}
		delay := time.Until(w.aws.RetryQueue.Next())
		if len(w.sent["Retry"]) != 1 || w.sent["Retry"][0].Attempts != 1 || delay != 5*time.Second {
			w.Errorf("on RetryQueue %+v after %s", w.sent["Retry"], delay)
		}
		want := map[string]time.Duration{"handle-second": 20 * time.Second, "handle-lane": 5 * time.Second}
		if diff := cmp.Diff(want, w.hidden); diff != "" {
			w.Errorf("hidden (-want +got):\n%s", diff)
		}
		if len(w.held) != 1 || w.held[0].Held || w.held[0].Message.EventID != "fourth" || w.held[0].Message.Attempts != 4 {
			w.Errorf("in Backlog %+v", w.held)
		}
		if len(w.sent["DeadLetter"]) != 1 || w.sent["DeadLetter"][0].Life.Reason != delivery.ReasonHTTP5xx {
			w.Errorf("on DeadLetterQueue %+v", w.sent["DeadLetter"])
		}
	})
}

// TestDecide has all that holds a delivery.
func TestHandler_Process_holdsUnderALease(t *testing.T) {
	in(t, status(200), func(w *rig) {
		w.change("webhook_1", func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled })
		w.process(w.fresh("e1", "webhook_1"), w.retried("e2", "webhook_1", 4))
		if diff := cmp.Diff([]string{"Read", "Hold", "Put", "Put", "States", "States"}, w.calls); diff != "" {
			w.Errorf("calls (-want +got):\n%s", diff)
		}
		for _, i := range w.held {
			if !i.Held || !i.DueAt.Equal(i.Message.Life.StartedAt.Add(7*24*time.Hour)) {
				w.Errorf("%s: held %v, due %s", i.Message.EventID, i.Held, i.DueAt)
			}
		}
		time.Sleep(3 * time.Minute)
		w.calls = nil
		w.process(w.fresh("e3", "webhook_1"))
		if slices.Contains(w.calls, "Hold") {
			w.Error("another lease although one lasts for two minutes")
		}
		time.Sleep(time.Minute + time.Second)
		w.process(w.fresh("e4", "webhook_1"))
		if !slices.Contains(w.calls, "Hold") {
			w.Error("no new lease although less than two function timeouts are left")
		}
	})
}

func (w *rig) change(id string, change func(e *endpoint.Endpoint)) {
	e := w.aws.Endpoints[id]
	change(&e)
	w.aws.Endpoints[id] = e
}

func (w *rig) opened(ago time.Duration) {
	w.aws.Circuits["webhook_1"] = circuit.Item{
		TenantID: "acme", EndpointID: "webhook_1", Version: 1, State: circuit.Open, Since: time.Now().Add(-ago), Failures: 9,
	}
}

// A call that AWS refuses is a fault in log and metrics. infra/proofs/invariants proves that nothing is lost by it.
func TestHandler_Process_saysWhatAWSRefuses(t *testing.T) {
	for call, metric := range map[string]string{
		sendDead: "SendsLost", sendRetry: "SendsLost", sendSlow: "SendsLost", storeLease: "LeasesLost",
		putBacklog: "BacklogPutsLost", hide: "VisibilityLost", writeStates: "StateWritesLost",
		storeState: "CircuitWritesLost",
	} {
		t.Run(call, func(t *testing.T) {
			in(t, status(503), func(w *rig) {
				w.refuses(call)
				w.change("webhook_2", func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled })
				w.process(w.fresh("first", "webhook_1"), w.fresh("held", "webhook_2"))
				w.process(w.retried("short", "webhook_1", 1), w.retried("last", "webhook_1", 9))
				w.slow()
				w.process(w.retried("of a tenant that became slow", "webhook_3", 1))
				if !w.logged(`"` + metric + `":[`) {
					w.Errorf("%s does not count", metric)
				}
			})
		})
	}
}

// Where another process has put the same message at a time that is not earlier, because its clock is ahead, release may
// be about to delete that item. The delivery waits on a queue, and is put once that time has passed.
func TestHandler_Process_putsAgainBehindAClockThatIsAhead(t *testing.T) {
	for _, ahead := range []time.Duration{0, time.Millisecond, time.Second, 10 * time.Second} {
		t.Run(ahead.String(), func(t *testing.T) {
			in(t, status(200), func(w *rig) {
				w.change("webhook_1", func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled })
				first, again := w.fresh("first", "webhook_1"), w.retried("again", "webhook_1", 4)
				w.process(first)
				w.process(again)
				for _, i := range w.held {
					i.StoredAt, i.Message.Attempts = i.StoredAt.Add(ahead), 3
					w.aws.Backlog.Set(i, time.Now())
				}
				returned := append(w.process(first), w.process(again)...)
				if !slices.Equal(returned, []string{"id-again"}) || len(w.sent["Retry"]) != 1 || !w.logged("BacklogPutsLost") {
					w.Errorf("returned %v, sent %v", returned, w.sent)
				}
				for receives := 2; len(returned) > 0 && receives < 6; receives++ {
					time.Sleep(max(time.Second, w.hidden["handle-again"]))
					m := message("again", "webhook_1")
					m.Attempts, m.Life = 4, delivery.Life{StartedAt: w.born, DueAt: w.born}
					returned = w.process(w.on("retry", receives, m))
				}
				if i := w.held[len(w.held)-1]; len(returned) > 0 || w.aws.Backlog.Items[i.Key].Message.Attempts != 4 {
					w.Errorf("returned %v, stored %+v", returned, w.aws.Backlog.Items[i.Key])
				}
			})
		})
	}
}

// A row that is broken is an internal error for the deliveries of its endpoint, and uses up none of their places.
// Other deliveries do not notice.
func TestHandler_Process_readsPastABrokenRow(t *testing.T) {
	in(t, status(200), func(w *rig) {
		w.aws.BreakEndpoint(dynamo.EndpointKey{TenantID: "acme", EndpointID: "webhook_1"})
		first := w.process(w.fresh("e1", "webhook_1"), w.fresh("e2", "webhook_2"))
		again := w.process(w.retried("last", "webhook_1", 9), w.retried("other", "webhook_2", 9))
		if diff := cmp.Diff([]string{"id-last"}, append(first, again...)); diff != "" || len(w.posts) != 2 {
			w.Errorf("%d POSTs, returned (-want +got)\n%s", len(w.posts), diff)
		}
		sent := w.sent["Retry"]
		if len(sent) != 1 || sent[0].EventID != "e1" || sent[0].Attempts != 0 || len(w.held)+len(w.sent["DeadLetter"]) > 0 {
			w.Errorf("held %+v, sent %+v", w.held, w.sent)
		}
		last := w.aws.States[message("last", "webhook_1").DeliveryID]
		if last.Attempts != 9 || last.Reason != delivery.ReasonInternal || last.State != delivery.Retrying {
			w.Errorf("recorded as %+v", last)
		}
	})
}

func TestHandler_Process_isolatesAPanicAndWhatCannotBeRead(t *testing.T) {
	panics := func(ctx context.Context, url string) delivery.Response {
		if strings.HasSuffix(url, "webhook_2") {
			panic("receiver")
		}
		return status(200)(ctx, url)
	}
	in(t, panics, func(w *rig) {
		foreign := w.fresh("e3", "webhook_1")
		foreign.MessageAttributes = w.fresh("e4", "webhook_1").MessageAttributes
		foreign.Body = `{"type":"user.banned","data":{}}` // not of that delivery id
		foreign.MessageId = "id-foreign"
		returned := w.process(w.fresh("e1", "webhook_1"), w.fresh("e2", "webhook_2"), foreign)
		if diff := cmp.Diff([]string{"id-foreign"}, returned); diff != "" {
			w.Errorf("returned (-want +got):\n%s", diff)
		}
		if w.acknowledged() != 1 || len(w.sent["Retry"]) != 1 || w.sent["Retry"][0].EventID != "e2" {
			w.Errorf("acknowledged %d, on RetryQueue %v", w.acknowledged(), w.sent["Retry"])
		}
		if !w.logged("no attempt", "unreadable") || !w.logged("panic in a record", "stack") {
			w.Errorf("the log says neither: %s", w.logs)
		}
	})
}

// What follows a POST is isolated as well: the other deliveries of the batch were POSTed, and must not be again.
func TestHandler_Process_isolatesAPanicAfterAPOST(t *testing.T) {
	in(t, status(200), func(w *rig) {
		h := w.handler()
		drawn := 0
		h.Random = func() float64 {
			drawn++
			if drawn == 1 {
				panic("random")
			}
			return 0
		}
		if returned := w.processBy(h, w.fresh("e1", "webhook_1"), w.fresh("e2", "webhook_2")); len(returned) > 0 {
			w.Errorf("returned %v", returned)
		}
		if w.acknowledged() != 1 || len(w.posts) != 2 || len(w.sent["Retry"]) != 1 || !w.logged("panic in a record") {
			w.Errorf("acknowledged %d of %d, on RetryQueue %v", w.acknowledged(), len(w.posts), w.sent["Retry"])
		}
	})
}

func TestHandler_Process_sendsDuplicatesOnce(t *testing.T) {
	in(t, status(503), func(w *rig) {
		late, early := w.as("late", w.retried("e1", "webhook_1", 2)), w.retried("e1", "webhook_1", 1)
		replay := message("e1", "webhook_1")
		replay.Replay = 1
		other := w.as("replay", w.on("retry", 1, replay))
		w.meets(hide, model.Partly) // of the two, the first is refused
		if w.process(late, early); !w.logged("VisibilityLost") {
			w.Error("a lost change of visibility of the first duplicate does not count")
		}
		w.inbox.Mend()
		w.posts = nil
		returned := w.process(late, early, other)
		want := []string{"id-late", "id-e1", "id-replay"}
		if diff := cmp.Diff(want, returned); diff != "" || len(w.posts) != 2 {
			w.Errorf("%d POSTs, returned (-want +got):\n%s", len(w.posts), diff)
		}
		if w.hidden["handle-late"] != 20*time.Second || w.hidden["handle-e1"] != 20*time.Second {
			w.Errorf("the one with the most tries left does not speak for both: %v", w.hidden)
		}
	})
}

func TestHandler_Process_sendsAHangingEndpointsOtherFirstAttemptsOn(t *testing.T) {
	in(t, hangs, func(w *rig) {
		w.rules.PerEndpoint = 1
		var records []events.SQSMessage
		for n := range 4 {
			records = append(records, w.fresh(fmt.Sprint("e", n), "webhook_1"))
		}
		if returned := w.process(records...); len(returned) > 0 || len(w.posts) != 1 {
			w.Errorf("%d POSTs, returned %v", len(w.posts), returned)
		}
		places := map[int]int{}
		for _, m := range w.sent["Retry"] {
			places[m.Attempts]++
		}
		if diff := cmp.Diff(map[int]int{0: 3, 1: 1}, places); diff != "" {
			w.Errorf("places used on RetryQueue (-want +got):\n%s", diff)
		}
	})
}

func TestHandler_Process_handsOnWhatIsUnfinishedBeforeTheDeadline(t *testing.T) {
	in(t, hangs, func(w *rig) {
		ctx, cancel := context.WithTimeout(w.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		returned := w.handler().Process(ctx, []events.SQSMessage{w.fresh("e1", "webhook_1"), w.fresh("e2", "webhook_2")})
		if took := time.Since(began); took != 8*time.Second || len(returned) > 0 {
			w.Errorf("took %s, returned %v", took, returned)
		}
		for _, m := range w.sent["Retry"] {
			if m.Attempts != 0 {
				w.Errorf("%s has used a place", m.EventID)
			}
		}
		if len(w.sent["Retry"]) != 2 || len(w.aws.Circuits) > 0 {
			w.Errorf("on RetryQueue %v, circuits %v", w.sent["Retry"], w.aws.Circuits)
		}
	})
}

func TestHandler_Process_remembersCircuitsItCannotRead(t *testing.T) {
	in(t, status(200), func(w *rig) {
		w.opened(time.Minute)
		h := w.handler()
		w.processBy(h, w.fresh("e1", "webhook_1"))
		w.refuses(readCircuits)
		w.processBy(h, w.fresh("e2", "webhook_1"))
		if len(w.held) != 2 {
			w.Errorf("held %d of 2", len(w.held))
		}
		time.Sleep(time.Minute + time.Second)
		w.processBy(h, w.fresh("e3", "webhook_1"))
		if len(w.posts) != 1 {
			w.Error("what was read more than a minute ago still counts")
		}
	})
}

func TestHandler_Process_asksOnceASecondWhereNothingIsStored(t *testing.T) {
	in(t, status(200), func(w *rig) {
		h := w.handler()
		w.processBy(h, w.fresh("e1", "webhook_1"))
		w.processBy(h, w.fresh("e2", "webhook_1"), w.fresh("e3", "webhook_2"))
		time.Sleep(time.Second)
		w.processBy(h, w.fresh("e4", "webhook_1"))
		w.change("webhook_1", func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled })
		w.processBy(h, w.fresh("e5", "webhook_1")) // stores a lease
		w.processBy(h, w.fresh("e6", "webhook_1"))
		w.processBy(h, w.fresh("e7", "webhook_1"))
		if diff := cmp.Diff([]int{1, 1, 1, 0, 1, 1}, w.asked); diff != "" {
			w.Errorf("endpoints of each batch whose circuit was asked for (-want +got):\n%s", diff)
		}
		if len(w.posts) != 4 {
			w.Errorf("%d POSTs, want 4: rows are always read", len(w.posts))
		}
	})
}

func TestHandler_recordCircuits(t *testing.T) {
	in(t, status(503), func(w *rig) {
		h := w.handler()
		w.processBy(h, w.fresh("alone", "webhook_1"))
		if len(w.aws.Circuits) > 0 {
			w.Error("a first attempt that is answered and fails alone is written")
		}
		w.processBy(h, w.retried("e1", "webhook_1", 1))
		stores := func() (n int) {
			for _, c := range w.calls {
				if c == "Store" {
					n++
				}
			}
			return n
		}
		for n := range 5 { // within a second
			w.processBy(h, w.retried(fmt.Sprint("e1", n), "webhook_1", 1))
		}
		if got := stores(); got != 1 {
			w.Errorf("%d writes in a second, want 1", got)
		}
		w.respond = status(200)
		w.processBy(h, w.retried("e2", "webhook_1", 1)) // ends the run of failures, however soon
		i := w.aws.Circuits["webhook_1"]
		if ok, tried := i.Recent.Share(time.Now()); i.State != circuit.None || ok != 1 || tried != 8 {
			w.Errorf("state %q, %d of %d attempts succeeded", i.State, ok, tried)
		}
	})
}

// A dead delivery is not attempted again while DeadLetterQueue refuses it, whatever it died of.
func TestHandler_Process_keepsTheDeadInBacklogWhileTheirQueueRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		endpoint endpoint.Status
		used     int
		age      time.Duration
		want     delivery.Life
		posts    int
	}{
		"of its last place": {endpoint.Active, 9, 0, delivery.Life{Reason: delivery.ReasonHTTP5xx, Status: 503}, 1},
		"of age": {
			endpoint.Disabled, 4, 8 * 24 * time.Hour, delivery.Life{Reason: delivery.ReasonEndpointDisabled}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, status(503), func(w *rig) {
				w.change("webhook_1", func(e *endpoint.Endpoint) { e.Status = row.endpoint })
				w.refuses(sendDead)
				m := message("last", "webhook_1")
				m.Attempts, m.Life = row.used, delivery.Life{StartedAt: w.born.Add(-row.age), DueAt: w.born}
				returned := w.process(w.on("retry", 1, m))
				if len(returned) > 0 || len(w.held) != 1 || w.held[0].Held {
					w.Fatalf("returned %v, in Backlog %+v", returned, w.held)
				}
				w.change("webhook_1", func(e *endpoint.Endpoint) { e.Status = endpoint.Active })
				again := w.held[0].Message
				returned = w.process(w.on("retry", 1, again))
				if len(returned) > 0 || len(w.posts) != row.posts || len(w.held) != 2 {
					w.Errorf("%d POSTs, returned %v, in Backlog %+v", len(w.posts), returned, w.held)
				}
				w.aws.Mend()
				w.process(w.on("retry", 1, again))
				var got delivery.Life
				for _, dead := range w.sent["DeadLetter"] {
					got = delivery.Life{Reason: dead.Life.Reason, Status: dead.Life.Status}
				}
				if diff := cmp.Diff(row.want, got); diff != "" || len(w.posts) != row.posts {
					w.Errorf("%d POSTs, dead (-want +got):\n%s", len(w.posts), diff)
				}
			})
		})
	}
}

// Chat products have a host for all tenants: each tenant has its own slots there.
func TestHandler_Process_boundsTheAttemptsOfATenantAtAHost(t *testing.T) {
	var mu sync.Mutex
	now, most := map[string]int{}, map[string]int{} // by tenant
	slow := func(_ context.Context, url string) delivery.Response {
		tenant := strings.Split(url, "/")[3]
		mu.Lock()
		now[tenant]++
		now["all"]++
		most[tenant], most["all"] = max(most[tenant], now[tenant]), max(most["all"], now["all"])
		mu.Unlock()
		time.Sleep(time.Second)
		mu.Lock()
		now[tenant]--
		now["all"]--
		mu.Unlock()
		return delivery.Response{Status: 204, Elapsed: time.Second}
	}
	in(t, slow, func(w *rig) {
		w.rules.PerEndpoint = 2
		var records []events.SQSMessage
		for n := range 8 {
			tenant, id := []string{"acme", "globex"}[n%2], fmt.Sprint("webhook_host_", n)
			w.aws.Endpoints[id] = endpoint.Endpoint{
				ID: id, TenantID: tenant, URL: fmt.Sprintf("https://chat.example/%s/%d", tenant, n),
				Status: endpoint.Active, SecretVersion: 1,
			}
			m := message(fmt.Sprint("e", n), id)
			m.TenantID, m.DeliveryID = tenant, delivery.ID(tenant, m.EventID, id, delivery.ContentOf(m.Body))
			records = append(records, w.on("delivery", 1, m))
		}
		w.process(records...)
	})
	if diff := cmp.Diff(map[string]int{"acme": 2, "globex": 2, "all": 4}, most); diff != "" {
		t.Errorf("attempts at a time (-want +got):\n%s", diff)
	}
}
