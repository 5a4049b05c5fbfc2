package release

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

func TestRun_recoversOldestFirstAndSpreadsTheArrivals(t *testing.T) {
	inWorld(t, func(w *world) {
		items := w.held(hook, 300)
		w.store(hook, circuit.Recovering)
		w.run()
		for n, m := range w.sent {
			if want := time.Duration(n) * time.Minute / 120; m.ID != items[n].Message.DeliveryID || m.Delay != want {
				w.Fatalf("number %d is %s after %s, want %s", n, m.ID, m.Delay, want)
			}
		}
		pace := circuit.Pace{Quota: 120, Oldest: items[0].Message.CreatedAt}
		if got := w.circuits[hook]; len(w.sent) != 120 || got.Pace != pace || got.State != circuit.Recovering {
			w.Errorf("%d sent, then %+v", len(w.sent), got)
		}
		time.Sleep(time.Minute)
		w.run()
		if got := w.circuits[hook]; len(w.sent) != 300 || got.State != circuit.None {
			w.Errorf("%d sent after two runs, then %+v", len(w.sent), got)
		}
		w.logged(`"msg":"circuit changed","endpoint_id":"webhook_1","from":"recovering","to":"none"`)
	})
}

// What an endpoint asked to wait for, and what has no other place, is neither sent early nor awaited.
func TestRun_putsBackWhatItDoesNotSendEarly(t *testing.T) {
	inWorld(t, func(w *world) {
		later := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
		asked := w.held(hook, 1, func(i *backlog.Item) { i.NotBefore = later })[0]
		last := w.held(hook, 1, func(i *backlog.Item) { i.Message.Attempts, i.Message.Life.DueAt = 9, later })[0]
		young := w.due(hook, time.Hour, func(i *backlog.Item) { i.StoredAt = time.Now().Add(time.Millisecond) })
		old := w.due(hook, time.Hour)
		w.store(hook, circuit.Recovering)
		w.run()
		if diff := cmp.Diff(idsOf(old), ids(w.sent)); diff != "" {
			w.Errorf("sent (-want +got)\n%s", diff)
		}
		for _, i := range []backlog.Item{asked, last, young} {
			if got := w.waiting[i.Key]; got.Held || !got.DueAt.Round(time.Second).Equal(later.Round(time.Second)) {
				w.Errorf("%s waits until %s, held %t", i.Message.DeliveryID, got.DueAt, got.Held)
			}
		}
		if got := w.circuits[hook].State; got != circuit.None {
			w.Errorf("it is %s", got)
		}
		w.logged(`"put_back":2`)
	})
}

// The item of a recovered endpoint loses its lease when that has ended and nothing is held, and goes when
// the next recovery may begin.
func TestRun_forgetsAnEndpointThatHasRecovered(t *testing.T) {
	inWorld(t, func(w *world) {
		w.held(hook, 1)
		w.store(hook, circuit.Recovering)
		w.minutes(6)
		if got := w.circuits[hook]; got.State != circuit.None || got.HeldUntil.IsZero() || len(w.sent) != 1 {
			w.Errorf("while the lease lasts: %+v", got)
		}
		w.minutes(2)
		if got, stored := w.circuits[hook]; !stored || !got.HeldUntil.IsZero() {
			w.Errorf("after the lease: %+v", got)
		}
		w.minutes(3)
		if got, stored := w.circuits[hook]; stored {
			w.Errorf("after ten minutes: %+v", got)
		}
	})
}

// A lease that ends while the shards are read says nothing about what was put behind the reads.
func TestRun_forgetsAnEndpointOnlyByReadsThatBeganAfterItsLease(t *testing.T) {
	inWorld(t, func(w *world) {
		w.store(hook, circuit.None)
		w.latency = 3 * time.Second
		time.Sleep(5*time.Minute - 10*time.Second)
		w.run()
		if _, stored := w.circuits[hook]; !stored {
			w.Error("forgotten by reads that began too early")
		}
		w.run()
		if got, stored := w.circuits[hook]; stored {
			w.Errorf("not forgotten: %+v", got)
		}
	})
}

// What an operator releases waits neither for Retry-After nor for a probe, and goes from its last place too.
func TestRun_doesWhatAnOperatorOrders(t *testing.T) {
	inWorld(t, func(w *world) {
		want := w.held(hook, 1, func(i *backlog.Item) { i.NotBefore = time.Now().Add(time.Hour) })
		want = append(want, w.due(hook, time.Hour, func(i *backlog.Item) { i.Message.Attempts = 9 }))
		w.store(hook, circuit.Open, func(i *circuit.Item) { i.ProbedAt = i.Since })
		time.Sleep(time.Second)
		w.change(hook, func(e *endpoint.Endpoint) { e.Marks.ReleasedAt = time.Now() })
		w.during("Read", func(i *circuit.Item) { i.Version++ })
		if w.run(); len(w.sent) > 0 {
			w.Errorf("%d were sent although the change of state was refused", len(w.sent))
		}
		w.refuse("")
		w.run()
		if diff := cmp.Diff(idsOf(want...), ids(w.sent)); diff != "" {
			w.Errorf("sent (-want +got)\n%s", diff)
		}
	})
}

// An endpoint whose messages are taken slowly does not hold up another in the same recovery, and where there
// are more than are read at once, nothing is sent twice.
func TestRun_recoversEndpointsSideBySide(t *testing.T) {
	inWorld(t, func(w *world) {
		w.latency = 10 * time.Millisecond
		want := map[string]int{}
		for n := range 3 * atOnce {
			id := fmt.Sprintf("webhook_%02d", n)
			w.held(id, 150)
			w.store(id, circuit.Recovering)
			want[id] = 120
		}
		w.refuses = func(call string, k backlog.Key) bool { return call == "ReadShard" && k.EndpointID == "webhook_07" }
		delete(want, "webhook_07")
		if took := w.run(); took > 45*time.Second {
			w.Errorf("took %s", took)
		}
		if diff := cmp.Diff(want, w.sentTo()); diff != "" {
			w.Errorf("sent (-want +got)\n%s", diff)
		}
		if sent := ids(w.sent); len(slices.Compact(sent)) != len(w.sent) {
			w.Error("something was sent twice")
		}
		for id := range want {
			if got := w.circuits[id].Pace.Quota; got != 120 {
				w.Errorf("the quota of %s is stored as %d", id, got)
			}
		}
	})
}

func TestRun_dividesItsBudget(t *testing.T) {
	inWorld(t, func(w *world) {
		paced := func(i *circuit.Item) { i.Pace.Quota = 960 }
		for n := range 30 {
			id := fmt.Sprintf("webhook_%02d@big", n)
			w.held(id, 700)
			w.store(id, circuit.Recovering, paced)
		}
		for _, id := range []string{"webhook_1@small", "webhook_1@slow", "webhook_2@slow"} {
			w.held(id, 700)
			w.store(id, circuit.Recovering, paced)
		}
		w.slow["slow"] = time.Now().Add(time.Hour)
		w.run()
		got := map[string]int{}
		for id, n := range w.sentTo() {
			got[tenantOf(id)] += n
		}
		// 18,000 less the 960 that small may have and the 120 of slow.
		if diff := cmp.Diff(map[string]int{"big": 16920, "small": 700, "slow": 120}, got); diff != "" {
			w.Errorf("sent (-want +got)\n%s", diff)
		}
	})
}

// Where there are more searches than lanes, and where other kinds of work have their turn, no pages are kept.
func TestGoOn_forgetsPages(t *testing.T) {
	inWorld(t, func(w *world) {
		h, troubles := w.handler(), []trouble{}
		for n := range atOnce + 1 {
			id := fmt.Sprintf("webhook_%d", n)
			w.held(id, 9)
			troubles = append(troubles, trouble{
				key:  dynamo.EndpointKey{TenantID: acme, EndpointID: id},
				plan: circuit.Plan{Item: circuit.Item{State: circuit.Recovering, Since: time.Now()}},
			})
		}
		all := func(circuit.Plan) bool { return true }
		searcher := h.workers(time.Now(), inventory{}, nil, circuitWriter{}).sweeps.searcher
		many := searchesFor(troubles, all)
		if _, left := searcher.goOn(w.Context(), many, time.Now().Add(time.Minute)); left {
			w.Error("it found no end")
		}
		w.latency = time.Second
		few := searchesFor(troubles[:1], all)
		few[0].allow(100)
		w.held(many[0].key.EndpointID, 300)
		if _, left := searcher.goOn(w.Context(), few, time.Now().Add(time.Second)); !left {
			w.latency = 0
			w.Error("it found an end")
		}
		for _, s := range append(many, few...) {
			for _, shard := range s.waiting.shards {
				if len(shard.read) > 0 {
					w.Fatalf("a page of %s is kept", s.key.EndpointID)
				}
			}
		}
	})
}

// What failed again in a recovery waits for its schedule, and is older than most of the rest.
func TestRun_recoversWhatIsBehindMuchThatWaits(t *testing.T) {
	inWorld(t, func(w *world) {
		for range 3500 {
			w.due(hook, 12*time.Hour, func(i *backlog.Item) { i.StoredAt = time.Now() })
		}
		want := w.held(hook, 100)
		w.store(hook, circuit.Recovering)
		w.latency = 250 * time.Millisecond
		w.run()
		if diff := cmp.Diff(idsOf(want...), ids(w.sent)); diff != "" {
			w.Errorf("sent (-want +got)\n%s", diff)
		}
	})
}

// An attempt that changes the circuit during a run loses neither the pace of a recovery, unless the circuit has opened,
// nor its end, nor what is held: an endpoint that flaps changes its circuit in every run.
func TestRun_storesItsResultBesideAnAttempts(t *testing.T) {
	type row struct {
		held               int
		was, attempt, want circuit.State
		quota              int
	}
	inWorlds(t, map[string]row{
		"a recovery goes on": {150, circuit.Recovering, circuit.Recovering, circuit.Recovering, 120},
		"a recovery fails":   {150, circuit.Recovering, circuit.Open, circuit.Open, 0},
		"nothing is left":    {0, circuit.Recovering, circuit.Recovering, circuit.None, 0},
		"something is held":  {1, circuit.None, circuit.None, circuit.Recovering, 0},
	}, func(w *world, _ string, c row) {
		w.held(hook, c.held)
		w.store(hook, c.was)
		w.during("ReadShard", func(i *circuit.Item) {
			if i.Failures == 0 {
				i.Version, i.Failures, i.State = i.Version+1, 1, c.attempt
			}
		})
		w.run()
		if got := w.circuits[hook]; got.Pace.Quota != c.quota || got.State != c.want {
			w.Errorf("stored %+v", got)
		}
	})
}

// A search that only looks for something held reads no more than it needs.
func TestRun_looksNoFurtherThanTheFirstHeld(t *testing.T) {
	inWorld(t, func(w *world) {
		w.held(hook, 1000)
		w.store(hook, circuit.None, func(i *circuit.Item) { i.RecoveredAt = i.Since })
		if w.run(); w.calls["ReadShard"] != backlog.Shards {
			w.Errorf("%d reads", w.calls["ReadShard"])
		}
	})
}

func TestRun_forgetsTenantsThatAreSlowNoMore(t *testing.T) {
	inWorld(t, func(w *world) {
		w.slow["past"] = time.Now().Add(-24 * time.Hour)
		w.slow["recent"] = time.Now().Add(-23 * time.Hour)
		w.run()
		if _, kept := w.slow["past"]; kept || len(w.slow) != 1 {
			w.Errorf("kept %v", w.slow)
		}
	})
}

// A tenant's recoveries that have much to pass over, since receivers asked to wait, cost others' nothing.
func TestRun_recoversBesideEndpointsThatAskToWait(t *testing.T) {
	inWorld(t, func(w *world) {
		w.latency = 300 * time.Millisecond
		for n := range 30 {
			id := fmt.Sprint("webhook_asks", n, "@other")
			for range 2000 {
				w.due(id, time.Hour, func(i *backlog.Item) { i.NotBefore = time.Now().Add(10 * time.Hour) })
			}
			w.store(id, circuit.Recovering)
		}
		w.held(hook, 900)
		w.store(hook, circuit.Recovering)
		w.minutes(2)
		if got := w.sentTo()[hook]; got != 120+240 {
			w.Errorf("%d were sent", got)
		}
	})
}
