package deliver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/rate"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

func (w *rig) limit(limit int) {
	w.change("webhook_1", func(e *endpoint.Endpoint) { e.RateLimit = limit })
}

// takes is the number of writes that took slots, or found none.
func (w *rig) takes() (n int) {
	for _, call := range w.calls {
		if call == "Take" {
			n++
		}
	}
	return n
}

// aged is a first attempt of an event that was sent so long ago.
func (w *rig) aged(event string, ago time.Duration) events.SQSMessage {
	m := message(event, "webhook_1")
	m.CreatedAt = m.CreatedAt.Add(-ago)
	return w.on("delivery", 1, m)
}

// The oldest of a batch are sent, as many as there are slots. The others are held under the lease, and use no place.
func TestHandler_Process_holdsWhatExceedsTheLimit(t *testing.T) {
	for name, limits := range map[string][2]int{
		"of its owner": {4, 0}, "of an operator": {9, 4}, "of an operator alone": {0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, status(204), func(w *rig) {
				w.change("webhook_1", func(e *endpoint.Endpoint) { e.RateLimit, e.Marks.RateLimit = limits[0], limits[1] })
				var records []events.SQSMessage
				for n := range 10 {
					records = append(records, w.aged(fmt.Sprint("e", n), time.Duration(n)*time.Second))
				}
				if returned := w.process(records...); len(returned) > 0 || len(w.posts) != 4 || w.takes() != 1 {
					w.Errorf("%d returned, %d posts, %d writes", len(returned), len(w.posts), w.takes())
				}
				var youngest []string
				for n := range 6 {
					youngest = append(youngest, message(fmt.Sprint("e", n), "webhook_1").DeliveryID)
				}
				var held []string
				for _, i := range w.held {
					held = append(held, i.Message.DeliveryID)
					if !i.Held || i.Message.Attempts != 0 || i.Message.Life.Reason != delivery.ReasonRateLimited {
						w.Errorf("it waits as %+v", i)
					}
					if got := w.aws.States[i.Message.DeliveryID]; got.State != delivery.Waiting || got.Attempts != 0 ||
						got.Reason != delivery.ReasonRateLimited {
						w.Errorf("it is recorded as %+v", got)
					}
				}
				slices.Sort(held)
				slices.Sort(youngest)
				if diff := cmp.Diff(youngest, held); diff != "" {
					w.Errorf("held (-want +got)\n%s", diff)
				}
				if got := w.aws.Circuits["webhook_1"]; got.HeldUntil.IsZero() || got.State != circuit.None {
					w.Errorf("under %+v", got)
				}
			})
		})
	}
}

// A limit is one write for a batch and an endpoint. While a process knows that no slot is free it writes nothing, and
// an endpoint without a limit costs nothing at all.
func TestHandler_Process_asksForSlotsOnceForABatch(t *testing.T) {
	in(t, status(204), func(w *rig) {
		h := w.handler()
		send := func(batch string) {
			var records []events.SQSMessage
			for n := range 5 {
				records = append(records, w.fresh(fmt.Sprint(batch, "a", n), "webhook_1"))
				records = append(records, w.fresh(fmt.Sprint(batch, "b", n), "webhook_2"))
			}
			w.processBy(h, records...)
		}
		want := func(doing string, takes, posts int) {
			w.Helper()
			if w.takes() != takes || len(w.posts) != posts {
				w.Errorf("%s: %d writes and %d posts, want %d and %d", doing, w.takes(), len(w.posts), takes, posts)
			}
			w.calls, w.posts = nil, nil
		}
		send("free")
		want("no limit", 0, 10)
		w.limit(10)
		send("one")
		want("a limit", 1, 10)
		send("two")
		want("what is left of the second", 1, 10)
		send("three")
		want("nothing is left", 1, 5)
		time.Sleep(askEvery - time.Millisecond)
		send("four")
		want("it knows so", 0, 5)
		time.Sleep(time.Millisecond)
		send("five")
		want("some are free again", 1, 10)
		w.aws.Rates[model.RateKey{EndpointID: "webhook_1"}] = time.Now().Add(time.Minute) // release takes the minute ahead
		time.Sleep(time.Second)
		send("six")
		want("release has taken all", 1, 5)
		time.Sleep(50 * time.Second)
		send("seven")
		want("it knows until when", 0, 5)
		w.limit(20)
		send("eight")
		want("another limit may leave some", 1, 5)
	})
}

// A slot that release has taken is for one attempt, in its time. Later, attempts take slots of another moment.
func TestHandler_Process_usesASlotOnce(t *testing.T) {
	for name, row := range map[string]struct {
		slot     time.Duration // from now
		receives int
		late     int // slots of late ones that are free
		posts    int
		takes    int
	}{
		"in its time":            {0, 1, 0, 1, 0},
		"by a clock behind":      {30 * time.Second, 1, 0, 1, 0},
		"a little later":         {-rate.Punctual, 1, 0, 1, 0},
		"late":                   {-time.Hour, 1, 1, 1, 1},
		"late, with many others": {-time.Hour, 1, 0, 0, 1},
		"received again":         {0, 2, 1, 0, 1},
		"without one":            {0, 0, 1, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, status(204), func(w *rig) {
				w.limit(1)
				w.aws.Rates[model.RateKey{EndpointID: "webhook_1"}] = time.Now().Add(time.Minute)
				if row.late == 0 {
					w.aws.Rates[model.RateKey{EndpointID: "webhook_1", Late: true}] = time.Now().Add(time.Minute)
				}
				m := message("e", "webhook_1")
				m.Attempts, m.Life = 3, delivery.Life{StartedAt: w.born, DueAt: w.born, Slot: w.born.Add(row.slot)}
				if row.receives == 0 {
					m.Life.Slot = time.Time{}
				}
				w.process(w.on("retry", max(row.receives, 1), m))
				if len(w.posts) != row.posts || w.takes() != row.takes {
					w.Fatalf("%d posts, %d writes", len(w.posts), w.takes())
				}
				if row.posts == 1 {
					return
				}
				// A retry without a slot keeps its place, and takes none with it.
				i := w.held[0]
				if got := i.Message; got.Attempts != 3 || !got.Life.Slot.IsZero() || !got.Life.DueAt.Equal(w.born) {
					w.Errorf("it waits as %+v", i.Message)
				}
			})
		})
	}
}

// A probe and a test count, and are not refused.
func TestHandler_Process_refusesNeitherProbesNorTests(t *testing.T) {
	in(t, status(204), func(w *rig) {
		w.limit(1)
		w.opened(time.Minute)
		probe := message("probe", "webhook_1")
		probe.Life = delivery.Life{StartedAt: w.born, Probe: w.born}
		w.process(w.on("retry", 1, probe))
		taken := w.aws.Rates[model.RateKey{EndpointID: "webhook_1"}]
		if len(w.posts) != 1 || !taken.Equal(time.Now().Add(time.Second)) {
			w.Errorf("%d posts, slots taken until %s", len(w.posts), time.Until(taken))
		}
		w.process(w.on("delivery", 1, trial("test", "webhook_1")), w.fresh("e", "webhook_1"))
		if len(w.posts) != 2 || len(w.held) != 1 {
			w.Errorf("%d posts, %d held", len(w.posts), len(w.held))
		}
	})
}

// Where slots cannot be taken, nothing is sent: it is an internal fault, and no place is used.
func TestHandler_Process_sendsNothingWithoutSlots(t *testing.T) {
	for _, v := range []model.Verdict{model.Refused, model.Lost, model.Stalled} {
		in(t, status(204), func(w *rig) {
			w.limit(10)
			w.meets(takeSlots, v)
			w.process(w.fresh("e", "webhook_1"), w.fresh("f", "webhook_2"))
			sent := w.sent["Retry"]
			if len(w.posts) != 1 || len(sent) != 1 || sent[0].Attempts != 0 {
				w.Errorf("%s: %d posts, sent on %+v", v, len(w.posts), sent)
			}
			if got := w.aws.States[message("e", "webhook_1").DeliveryID].Reason; got != delivery.ReasonInternal {
				w.Errorf("%s: it is recorded as %s", v, got)
			}
		})
	}
}

// Slots that cannot be taken hold up the other deliveries of one batch for half a second, and those of the next batches
// not at all. Otherwise an endpoint whose item DynamoDB throttles would delay everyone who shares a batch with it.
func TestHandler_Process_isHeldUpBySlotsSeldom(t *testing.T) {
	var began time.Time
	var waited []time.Duration
	other := func(ctx context.Context, url string) delivery.Response {
		if strings.HasSuffix(url, "webhook_2") {
			waited = append(waited, time.Since(began))
		}
		return status(204)(ctx, url)
	}
	in(t, other, func(w *rig) {
		w.limit(10)
		w.meets(takeSlots, model.Stalled)
		h := w.handler()
		batch := func(n int) {
			began = time.Now()
			w.processBy(h, w.fresh(fmt.Sprint("e", n), "webhook_1"), w.fresh(fmt.Sprint("f", n), "webhook_2"))
		}
		for n := range 3 {
			batch(n)
		}
		if sent := w.sent["Retry"]; len(sent) != 3 {
			w.Errorf("%d of 3 are tried again", len(sent))
		}
		time.Sleep(refusedFor)
		w.aws.Mend()
		batch(3)
	})
	if diff := cmp.Diff([]time.Duration{500 * time.Millisecond, 0, 0, 0}, waited); diff != "" {
		t.Errorf("the other deliveries waited for (-want +got):\n%s", diff)
	}
	in(t, status(204), func(w *rig) { // the first that is asked after that is sent
		w.limit(10)
		w.refuses(takeSlots)
		h := w.handler()
		w.processBy(h, w.fresh("e", "webhook_1"))
		w.aws.Mend()
		w.processBy(h, w.fresh("f", "webhook_1"))
		time.Sleep(refusedFor)
		w.processBy(h, w.fresh("g", "webhook_1"))
		if len(w.posts) != 1 || len(w.sent["Retry"]) != 2 {
			w.Errorf("%d posts, %d are tried again", len(w.posts), len(w.sent["Retry"]))
		}
	})
}

// Endpoints whose slots cannot be taken may use up the time for the whole batch. The next batch asks for the slots of
// the others, and from then on they are asked for first.
func TestHandler_Process_takesTheSlotsOfOthersBeforeThoseThatWereRefused(t *testing.T) {
	in(t, status(204), func(w *rig) {
		w.limit(10)
		all := make([]string, tableWrites, tableWrites+1)
		for n := range all {
			all[n] = fmt.Sprint("webhook_1", n)
			stuck := w.aws.Endpoints["webhook_1"]
			stuck.ID = all[n]
			w.aws.Endpoints[stuck.ID] = stuck
		}
		all = append(all, "webhook_1")
		w.meets(takeSlots+"(webhook_1", model.Stalled)
		stuck := w.aws.Judge
		w.aws.Judge = func(c *model.Call) model.Verdict {
			if c.Key == "webhook_1" {
				return model.Done
			}
			return stuck(c)
		}
		h := w.handler()
		var posts []int
		for n := range 3 {
			if n == 2 {
				time.Sleep(refusedFor)
			}
			var batch []events.SQSMessage
			for _, id := range all {
				batch = append(batch, w.fresh(fmt.Sprint("e", n, id), id))
			}
			w.processBy(h, batch...)
			posts = append(posts, len(w.posts))
		}
		if diff := cmp.Diff([]int{0, 1, 2}, posts); diff != "" {
			t.Errorf("posts after each batch (-want +got):\n%s", diff)
		}
	})
}

// A slow tenant's delivery takes its slot along to SlowQueue. Otherwise it would come to Backlog again and again.
func TestHandler_Process_takesASlotAlongToTheSlowLane(t *testing.T) {
	in(t, status(204), func(w *rig) {
		w.limit(1)
		w.slow()
		m := message("e", "webhook_1")
		m.Life = delivery.Life{StartedAt: w.born, DueAt: w.born, Slot: w.born.Add(time.Second)}
		w.process(w.on("retry", 1, m))
		if sent := w.sent["Slow"]; len(sent) != 1 || !sent[0].Life.Slot.Equal(m.Life.Slot) || w.takes() > 0 {
			w.Errorf("sent on %+v, %d writes", sent, w.takes())
		}
	})
}

// After 429 with Retry-After, the next first attempts are put off for as long as it asks, up to a minute, and only
// once. Everything else keeps to its schedule.
//
// Threat of a receiver: puts deliveries off for ever by `Retry-After`. Held by: first attempts once, by a minute;
// retries by 12 hours.
func TestHandler_Process_putsFirstAttemptsOffAsTheReceiverAsked(t *testing.T) {
	for after, want := range map[string]time.Duration{
		"": 0, "0": 0, "-5": 0, "soon": 0, "0.5": 0, "1": time.Second, "30": 30 * time.Second, "60": time.Minute,
		"61": time.Minute, "86400": time.Minute, "9223372036854775807": time.Minute, "99999999999999999999": time.Minute,
		"Sun, 06 Nov 1994 08:49:37 GMT": 0, "Sat, 01 Jan 2000 00:00:10 GMT": 10 * time.Second,
		"Fri, 31 Dec 9999 23:59:59 GMT": time.Minute,
	} {
		t.Run(after, func(t *testing.T) {
			answer := func(ctx context.Context, url string) delivery.Response {
				r := status(429)(ctx, url)
				r.RetryAfter = after
				return r
			}
			in(t, answer, func(w *rig) {
				w.process(w.retried("retry", "webhook_1", 1))
				w.posts, w.calls = nil, nil
				delayed := w.sentAt("first", "webhook_1")
				if delayed != want || (want > 0) != (len(w.posts) == 0) {
					w.Errorf("put off for %s, and %d posts", delayed, len(w.posts))
				}
				if got := w.aws.States[message("first", "webhook_1").DeliveryID]; want > 0 &&
					(got.Reason != delivery.ReasonRetryAfter || got.Attempts != 0 || got.State != delivery.Retrying) {
					w.Errorf("recorded as %+v", got)
				}
				w.posts = nil
				w.process(w.retried("second", "webhook_1", 0), w.on("delivery", 1, trial("test", "webhook_1")))
				if len(w.posts) != 2 {
					w.Errorf("%d posts of a retry and a test", len(w.posts))
				}
			})
		})
	}
}

// sentAt processes a first attempt, and returns its delay on RetryQueue; zero: it was not sent there.
func (w *rig) sentAt(event, endpointID string) time.Duration {
	w.Helper()
	before := len(w.sent["Retry"])
	w.process(w.fresh(event, endpointID))
	if len(w.posts) > 0 || len(w.sent["Retry"]) == before {
		return 0
	}
	began := time.Now()
	for len(w.aws.RetryQueue.Receive()) == 0 {
		time.Sleep(time.Second)
	}
	return time.Since(began)
}
