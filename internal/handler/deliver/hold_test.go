package deliver

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// in is the item of webhook_1 in a state.
func in(state health.State) health.Item {
	return health.Item{
		TenantID: "t", EndpointID: "webhook_1", Version: 7, State: state, Since: epoch.Add(-time.Hour), Held: true,
		Changed: epoch.Add(-time.Hour),
	}
}

func paused() health.Item {
	i := in(health.None)
	i.Paused = true
	return i
}

// claimed is the number of a probe.
var claimed = epoch.UnixNano() + 1

func probing(number int64) health.Item {
	i := in(health.Open)
	i.Probe, i.Probes = number, 1
	return i
}

var ours = telemetry.Dimensions{Fault: "ours"}

func disabled() endpoint.Endpoint {
	e := active("webhook_1")
	e.Status = endpoint.Disabled
	return e
}

func TestHandler_Process_asksTheHealthOfAnEndpoint(t *testing.T) {
	lived := delivery.Life{StartedAt: born, DiesAt: epoch.Add(time.Hour), OwnDue: epoch.Add(-time.Minute)}
	over, probe, last := lived, lived, lived
	over.DiesAt, probe.Probe, last.Last = epoch.Add(-time.Second), claimed, true
	begins, held := fresh("a", "webhook_1"), waits(tenPlaces.Remaining(1))
	from := func(l delivery.Life) events.SQSMessage { return living(fresh("a", "webhook_1"), 4, 1, l) }
	tenant := health.Item{TenantID: "t", Version: 3, Paused: true, Changed: epoch.Add(-time.Hour)}
	discards := health.Item{TenantID: "t", EndpointID: "webhook_1", Version: 7, DiscardedBefore: epoch}
	posted, later := effects{Posts: 1, Acknowledged: 1}, effects{States: 1, Parked: waits(time.Hour)}
	openedSince := probing(claimed + 2)
	openedSince.Since = epoch.Add(2 * time.Millisecond)
	pausedNow := paused()
	pausedNow.Changed = epoch
	for name, row := range map[string]struct {
		items  []health.Item
		record events.SQSMessage
		did    effects
		reason delivery.Reason
	}{
		"open: a first attempt waits": {
			[]health.Item{in(health.Open)}, begins, effects{States: 1, Parked: held}, "circuit_open",
		},
		"open: a retry waits":             {[]health.Item{in(health.Open)}, from(lived), later, "circuit_open"},
		"open: its probe is sent":         {[]health.Item{probing(claimed)}, from(probe), posted, ""},
		"open: so is one that comes late": {[]health.Item{probing(claimed + 1)}, from(probe), posted, ""},
		"open: one of an opening before is not": {
			[]health.Item{openedSince}, from(probe), later, "circuit_open",
		},
		"open: a last attempt is made": {[]health.Item{in(health.Open)}, from(last), posted, ""},
		"open: no life ends without one": {
			[]health.Item{in(health.Open)}, from(over), effects{States: 1, Parked: waits(-time.Second)}, "circuit_open",
		},
		"paused": {
			[]health.Item{paused()}, begins, effects{States: 1, Parked: held}, "endpoint_paused",
		},
		"paused: a last attempt waits, too": {[]health.Item{paused()}, from(last), later, "endpoint_paused"},
		"paused: a life ends": {
			[]health.Item{paused()}, from(over), effects{States: 1, Dead: 1}, "endpoint_paused",
		},
		"paused: a life that ended before waits for the recovery": {
			[]health.Item{pausedNow}, from(over), effects{States: 1, Parked: waits(-time.Second)}, "endpoint_paused",
		},
		"its tenant is paused":        {[]health.Item{tenant}, begins, effects{States: 1, Parked: held}, "endpoint_paused"},
		"recovering: it goes out":     {[]health.Item{in(health.Recovering)}, from(lived), posted, ""},
		"discarded by an operator":    {[]health.Item{discards}, begins, effects{States: 1}, "discarded"},
		"failing: everything goes on": {[]health.Item{in(health.Failing)}, begins, posted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(200))
			for _, i := range row.items {
				w.health[cmp.Or(i.EndpointID, i.TenantID)] = i
			}
			failed := w.process(t, row.record)
			w.did(t, failed, row.did)
			for _, s := range w.states {
				if s.Reason != row.reason {
					t.Errorf("reason %s", s.Reason)
				}
			}
			for _, item := range w.parked {
				if life := item.Message.Life; !item.Held || life.Reason != row.reason || life.Probe != 0 || life.Last {
					t.Errorf("parked %+v", item)
				}
			}
		})
	}
}

// A replay to an endpoint that is held waits, and all its places are left when it comes back.
func TestHandler_Process_holdsAReplayWithoutUsingAPlace(t *testing.T) {
	w := newWorld(status(503))
	w.health["webhook_1"] = in(health.Open)
	replayed := fresh("a", "webhook_1")
	replayed = sqsevent.With(replayed, "replay", "1")
	w.did(t, w.process(t, replayed), effects{States: 1, Parked: waits(tenPlaces.Remaining(1))})
	m := w.parked[0].Message
	if m.Replay != 1 || m.Attempts != 0 || !w.parked[0].Held {
		t.Fatalf("parked %+v", w.parked[0])
	}
	delete(w.health, "webhook_1")
	w.process(t, living(replayed, m.Attempts, 1, m.Life)) // as release sends it
	if last := w.states[len(w.states)-1]; last.Replay != 1 || last.Attempts != 1 || last.State != delivery.Retrying {
		t.Errorf("after one attempt: %+v", last)
	}
}

// The endpoint's health item is stored before any delivery is held.
func TestHandler_hold_storesTheItemFirst(t *testing.T) {
	for name, given := range map[string]func(*world){
		"disabled":             func(w *world) { w.endpoints["webhook_1"] = disabled() },
		"its tenant is paused": func(w *world) { w.health["t"] = health.Item{TenantID: "t", Version: 3, Paused: true} },
		"disabled while its circuit is open": func(w *world) {
			w.endpoints["webhook_1"], w.health["webhook_1"] = disabled(), in(health.Open)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(200))
			given(w)
			failed := w.process(t, fresh("a", "webhook_1"), fresh("b", "webhook_1"))
			w.did(t, failed, effects{States: 2, Parked: waits(tenPlaces.Remaining(1), tenPlaces.Remaining(1))})
			if diff := gocmp.Diff([]string{"health", "backlog"}, w.calls); diff != "" {
				t.Errorf("calls (-want +got)\n%s", diff)
			}
			if i := w.health["webhook_1"]; !i.Held {
				t.Errorf("held under %+v", i)
			}
		})
	}
}

// racing changes the item under a write, so that it is refused.
type racing struct {
	*world
	changes []func(*world)
}

func (r *racing) Apply(ctx context.Context, write health.Write) (health.Item, bool, error) {
	if len(r.changes) > 0 {
		change := r.changes[0]
		r.changes = r.changes[1:]
		change(r.world)
	}
	return r.world.Apply(ctx, write)
}

func TestHandler_hold_decidesAgainWhenItIsRefused(t *testing.T) {
	put := func(i health.Item) func(*world) { return func(w *world) { w.health["webhook_1"] = i } }
	version := func(n int64) func(*world) {
		i := in(health.Failing)
		i.Version = n
		return put(i)
	}
	stands, drops := in(health.Disabled), in(health.Disabled)
	drops.DiscardedBefore = epoch
	first, retry := fresh("a", "webhook_1"), living(fresh("a", "webhook_1"), 4, 2, delivery.Life{StartedAt: born})
	held := waits(tenPlaces.Remaining(1))
	for name, row := range map[string]struct {
		changes []func(*world)
		record  events.SQSMessage
		did     effects
	}{
		"another process was faster":     {[]func(*world){put(stands)}, first, effects{States: 1, Parked: held}},
		"the second try is taken":        {[]func(*world){version(9)}, first, effects{States: 1, Parked: held}},
		"an operator discards meanwhile": {[]func(*world){put(drops)}, first, effects{States: 1}},
		"twice refused: a first attempt": {
			[]func(*world){version(9), version(11)}, first, effects{States: 1, Sent: waits(5 * time.Second)},
		},
		"twice refused: a retry stays put": {
			[]func(*world){version(9), version(11)}, retry,
			effects{Failed: []string{"id-a"}, States: 1, Hidden: waits(20 * time.Second)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(200))
			w.endpoints["webhook_1"] = disabled()
			h := w.handler()
			h.Health = &racing{w, row.changes}
			w.did(t, h.Process(t.Context(), []events.SQSMessage{row.record}), row.did)
			if len(w.posts) != 0 {
				t.Error("a disabled endpoint is sent something")
			}
		})
	}
}

// What cannot be held waits on RetryQueue and is tried again: soon, since nothing is POSTed.
func TestHandler_hold_keepsOnRetryQueueWhatCannotBeHeld(t *testing.T) {
	for name, row := range map[string]struct {
		record events.SQSMessage
		did    effects
	}{
		"a first attempt": {fresh("a", "webhook_1"), effects{States: 1, Sent: waits(5 * time.Second)}},
		"a retry": {
			retried("a", "webhook_1", 2), effects{Failed: []string{"id-a"}, States: 1, Hidden: waits(20 * time.Second)},
		},
		"after many receives, 900 s at most": {
			retried("a", "webhook_1", 30), effects{Failed: []string{"id-a"}, States: 1, Hidden: waits(retry.MaxDelay)},
		},
	} {
		for what, spoil := range map[string]func(*world){
			"EndpointHealth is not writable": func(w *world) { w.holdErr = errAWS },
			"Backlog is not writable":        func(w *world) { w.parkErr = errAWS },
		} {
			t.Run(what+": "+name, func(t *testing.T) {
				w := newWorld(status(200))
				w.endpoints["webhook_1"] = disabled()
				spoil(w)
				w.did(t, w.process(t, row.record), row.did)
				w.says(t, 0, map[string]string{"reason": "endpoint_disabled", "fault": "ours", "error": errAWS.Error()})
				if what[0] == 'E' && slices.Contains(w.calls, "backlog") {
					t.Error("held before the item exists")
				}
				for _, sent := range w.sent {
					if m := messageOf(t, sent); m.Attempts != 0 || m.Life.DiesAt.IsZero() {
						t.Errorf("sent %+v", m)
					}
				}
			})
		}
	}
}

func TestHandler_park_keepsOnRetryQueueWhatBacklogDoesNotTake(t *testing.T) {
	answer := func(after string) func(context.Context, string) delivery.Response {
		return func(context.Context, string) delivery.Response {
			return delivery.Response{Status: 503, Reason: delivery.ReasonHTTP5xx, RetryAfter: after}
		}
	}
	for name, row := range map[string]struct {
		record events.SQSMessage
		after  string
		did    effects
	}{
		"a first attempt, 900 s at most": {
			fresh("a", "webhook_1"), "3600", effects{States: 1, Posts: 1, Sent: waits(900 * time.Second)},
		},
		"a retry, for its own wait": {
			retried("a", "webhook_1", 3), "",
			effects{Failed: []string{"id-a"}, States: 1, Posts: 1, Hidden: waits(320 * time.Second)},
		},
		"a retry, 900 s at most": {
			again(fresh("a", "webhook_1"), 5, 1), "",
			effects{Failed: []string{"id-a"}, States: 1, Posts: 1, Hidden: waits(900 * time.Second)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(answer(row.after))
			w.parkErr = errAWS
			w.did(t, w.process(t, row.record), row.did)
			w.says(t, 0, map[string]string{"fault": "ours", "error": errAWS.Error()})
			if n := w.metrics(t)[measured{"BacklogPutsLost", ours}]; n != 1 {
				t.Errorf("%v lost puts counted", n)
			}
		})
	}
}

func TestHandler_sendToDeadLetterQueue_returnsWhatCannotDieNow(t *testing.T) {
	w := newWorld(status(500))
	w.deadErr = errors.New("ServiceUnavailable")
	failed := w.process(t, again(fresh("a", "webhook_1"), 9, 2))
	w.did(t, failed, effects{Failed: []string{"id-a"}, Posts: 1, States: 1, Hidden: waits(20 * time.Second)})
	w.says(t, 0, map[string]string{"outcome": "dead", "fault": "ours"})
}

// Messages of one delivery that come in different batches are parked as items of their own. A message
// that comes again, because the answer to its put was lost, has the item that it had.
func TestHandler_park_makesAnItemOfEveryMessage(t *testing.T) {
	w := newWorld(status(500))
	first := again(fresh("a", "webhook_1"), 4, 1)
	second := first
	second.MessageId = "id-of-the-other"
	for _, r := range []events.SQSMessage{first, second, first} {
		if failed := w.process(t, r); len(failed) != 0 {
			t.Errorf("failed %v", failed)
		}
	}
	if len(w.parked) != 3 || w.parked[0].Key == w.parked[1].Key || w.parked[0].Key != w.parked[2].Key {
		t.Errorf("parked %+v", w.parked)
	}
}
