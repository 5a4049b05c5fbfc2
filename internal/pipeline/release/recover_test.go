package release

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func TestRun_recoversOldestFirstAndSpreadsTheArrivals(t *testing.T) {
	inAccount(t, func(a *account) {
		items := a.held(hook, 300)
		a.store(hook, circuit.Recovering)
		a.run()
		for n, m := range a.sent {
			if want := time.Duration(n) * time.Minute / 120; m.ID != items[n].Message.DeliveryID || m.Delay != want {
				a.Fatalf("number %d is %s after %s, want %s", n, m.ID, m.Delay, want)
			}
		}
		pace := circuit.Pace{Quota: 120, Oldest: items[0].Message.CreatedAt}
		if got := a.Circuits[hook]; len(a.sent) != 120 || got.Pace != pace || got.State != circuit.Recovering {
			a.Errorf("%d sent, then %+v", len(a.sent), got)
		}
		time.Sleep(time.Minute)
		a.run()
		if got := a.Circuits[hook]; len(a.sent) != 300 || got.State != circuit.None {
			a.Errorf("%d sent after two runs, then %+v", len(a.sent), got)
		}
		a.logged(`"msg":"circuit changed","endpoint_id":"webhook_1","from":"recovering","to":"none"`)
	})
}

// A delivery that an endpoint asked to wait for, or that has no other place, is neither sent early nor awaited.
func TestRun_putsBackWhatItDoesNotSendEarly(t *testing.T) {
	inAccount(t, func(a *account) {
		later := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
		asked := a.held(hook, 1, func(i *backlog.Item) { i.NotBefore = later })[0]
		last := a.held(hook, 1, func(i *backlog.Item) { i.Message.Attempts, i.Message.Life.DueAt = 9, later })[0]
		young := a.due(hook, time.Hour, func(i *backlog.Item) { i.StoredAt = time.Now().Add(time.Millisecond) })
		old := a.due(hook, time.Hour)
		a.store(hook, circuit.Recovering)
		a.run()
		if diff := cmp.Diff(idsOf(old), ids(a.sent)); diff != "" {
			a.Errorf("sent (-want +got)\n%s", diff)
		}
		for _, i := range []backlog.Item{asked, last, young} {
			if got := a.Backlog.Items[i.Key]; got.Held || !got.DueAt.Round(time.Second).Equal(later.Round(time.Second)) {
				a.Errorf("%s waits until %s, held %t", i.Message.DeliveryID, got.DueAt, got.Held)
			}
		}
		if got := a.Circuits[hook].State; got != circuit.None {
			a.Errorf("it is %s", got)
		}
		a.logged(`"put_back":2`)
	})
}

// The item of a recovered endpoint loses its lease when that has ended and nothing is held, and goes when
// the next recovery may begin.
func TestRun_forgetsAnEndpointThatHasRecovered(t *testing.T) {
	inAccount(t, func(a *account) {
		a.held(hook, 1)
		a.store(hook, circuit.Recovering)
		a.minutes(6)
		if got := a.Circuits[hook]; got.State != circuit.None || got.HeldUntil.IsZero() || len(a.sent) != 1 {
			a.Errorf("while the lease lasts: %+v", got)
		}
		a.minutes(2)
		if got, stored := a.Circuits[hook]; !stored || !got.HeldUntil.IsZero() {
			a.Errorf("after the lease: %+v", got)
		}
		a.minutes(3)
		if got, stored := a.Circuits[hook]; stored {
			a.Errorf("after ten minutes: %+v", got)
		}
	})
}

// A lease that ends while the shards are read says nothing about items that were put behind the reads.
func TestRun_forgetsAnEndpointOnlyByReadsThatBeganAfterItsLease(t *testing.T) {
	inAccount(t, func(a *account) {
		a.store(hook, circuit.None)
		a.latency = 3 * time.Second
		time.Sleep(5*time.Minute - 10*time.Second)
		a.run()
		if _, stored := a.Circuits[hook]; !stored {
			a.Error("forgotten by reads that began too early")
		}
		a.run()
		if got, stored := a.Circuits[hook]; stored {
			a.Errorf("not forgotten: %+v", got)
		}
	})
}

// A delivery that an operator releases waits neither for Retry-After nor for a probe, and goes from its last place too.
func TestRun_doesWhatAnOperatorOrders(t *testing.T) {
	inAccount(t, func(a *account) {
		want := a.held(hook, 1, func(i *backlog.Item) { i.NotBefore = time.Now().Add(time.Hour) })
		want = append(want, a.due(hook, time.Hour, func(i *backlog.Item) { i.Message.Attempts = 9 }))
		a.store(hook, circuit.Open, func(i *circuit.Item) { i.ProbedAt = i.Since })
		time.Sleep(time.Second)
		a.change(hook, func(e *endpoint.Endpoint) { e.Marks.ReleasedAt = time.Now() })
		a.during("Read", func(i *circuit.Item) { i.Version++ })
		if a.run(); len(a.sent) > 0 || a.calls["ReadShard"] > 0 {
			a.Errorf("although the change of state was refused, %d were sent after %d reads", len(a.sent), a.calls["ReadShard"])
		}
		a.refuse("")
		a.run()
		if diff := cmp.Diff(idsOf(want...), ids(a.sent)); diff != "" {
			a.Errorf("sent (-want +got)\n%s", diff)
		}
	})
}

// An endpoint with a slow queue does not hold up another endpoint in the same recovery. Nothing is sent twice, although
// there are more endpoints than are read at once.
func TestRun_recoversEndpointsSideBySide(t *testing.T) {
	inAccount(t, func(a *account) {
		a.latency = 10 * time.Millisecond
		want := map[string]int{}
		for n := range 3 * atOnce {
			id := fmt.Sprintf("webhook_%02d", n)
			a.held(id, 150)
			a.store(id, circuit.Recovering)
			want[id] = 120
		}
		a.refuses = func(call string, k backlog.Key) bool { return call == "ReadShard" && k.EndpointID == "webhook_07" }
		delete(want, "webhook_07")
		if took := a.run(); took > 45*time.Second {
			a.Errorf("took %s", took)
		}
		if diff := cmp.Diff(want, a.sentTo()); diff != "" {
			a.Errorf("sent (-want +got)\n%s", diff)
		}
		if sent := ids(a.sent); len(slices.Compact(sent)) != len(a.sent) {
			a.Error("something was sent twice")
		}
		for id := range want {
			if got := a.Circuits[id].Pace.Quota; got != 120 {
				a.Errorf("the quota of %s is stored as %d", id, got)
			}
		}
	})
}

func TestRun_dividesItsBudget(t *testing.T) {
	inAccount(t, func(a *account) {
		paced := func(i *circuit.Item) { i.Pace.Quota = 960 }
		for n := range 30 {
			id := fmt.Sprintf("webhook_%02d@big", n)
			a.held(id, 700)
			a.store(id, circuit.Recovering, paced)
		}
		for _, id := range []string{"webhook_1@small", "webhook_1@slow", "webhook_2@slow"} {
			a.held(id, 700)
			a.store(id, circuit.Recovering, paced)
		}
		a.Slow["slow"] = time.Now().Add(time.Hour)
		a.run()
		got := map[string]int{}
		for id, n := range a.sentTo() {
			got[tenantOf(id)] += n
		}
		// 18,000 less the 700 that small has and the 120 of slow.
		if diff := cmp.Diff(map[string]int{"big": 17180, "small": 700, "slow": 120}, got); diff != "" {
			a.Errorf("sent (-want +got)\n%s", diff)
		}
	})
}

// No pages are kept in two cases: while other kinds of work have their turn, and if there are more searches than can be
// read at once.
func TestGoOn_forgetsPages(t *testing.T) {
	inAccount(t, func(a *account) {
		h, troubles := a.handler(), []trouble{}
		for n := range atOnce + 1 {
			id := fmt.Sprintf("webhook_%d", n)
			a.held(id, 9)
			troubles = append(troubles, trouble{
				key:  dynamo.EndpointKey{TenantID: acme, EndpointID: id},
				gate: endpoint.Gate{Found: true},
				plan: circuit.Plan{Item: circuit.Item{State: circuit.Recovering, Since: time.Now()}},
			})
		}
		all := func(circuit.Plan) bool { return true }
		searcher := h.workers(time.Now(), inventory{}, nil, circuitWriter{}).sweeps.searcher
		many := searchesFor(troubles, all)
		if _, left := searcher.goOn(a.Context(), many, time.Now().Add(time.Minute)); left {
			a.Error("it found no end")
		}
		a.latency = time.Second
		few := searchesFor(troubles[:1], all)
		few[0].allow(100)
		a.held(many[0].key.EndpointID, 300)
		if _, left := searcher.goOn(a.Context(), few, time.Now().Add(time.Second)); !left {
			a.latency = 0
			a.Error("it found an end")
		}
		for _, s := range append(many, few...) {
			for _, shard := range s.waiting.shards {
				if len(shard.read) > 0 {
					a.Fatalf("a page of %s is kept", s.key.EndpointID)
				}
			}
		}
	})
}

// A delivery that failed again in a recovery waits for its schedule, and it is older than most of the rest.
func TestRun_recoversWhatIsBehindMuchThatWaits(t *testing.T) {
	inAccount(t, func(a *account) {
		for range 3500 {
			a.due(hook, 12*time.Hour, func(i *backlog.Item) { i.StoredAt = time.Now() })
		}
		want := a.held(hook, 100)
		a.store(hook, circuit.Recovering)
		a.latency = 250 * time.Millisecond
		a.run()
		if diff := cmp.Diff(idsOf(want...), ids(a.sent)); diff != "" {
			a.Errorf("sent (-want +got)\n%s", diff)
		}
	})
}

// An endpoint that flaps changes its circuit in every run, while the run works. A recovery still keeps its pace, its
// end and its held deliveries. Only a circuit that opens ends the pace.
func TestRun_storesItsResultBesideAnAttempts(t *testing.T) {
	type row struct {
		held               int
		was, attempt, want circuit.State
		quota              int
	}
	inAccounts(t, map[string]row{
		"a recovery goes on": {150, circuit.Recovering, circuit.Recovering, circuit.Recovering, 120},
		"a recovery fails":   {150, circuit.Recovering, circuit.Open, circuit.Open, 0},
		"nothing is left":    {0, circuit.Recovering, circuit.Recovering, circuit.None, 0},
		"the last one fails": {0, circuit.Recovering, circuit.Open, circuit.Open, 0},
		"something is held":  {1, circuit.None, circuit.None, circuit.Recovering, 0},
	}, func(a *account, _ string, c row) {
		a.held(hook, c.held)
		a.store(hook, c.was)
		a.during("ReadShard", func(i *circuit.Item) {
			if i.Failures == 0 {
				i.Version, i.Failures, i.State = i.Version+1, 1, c.attempt
			}
		})
		a.run()
		if got := a.Circuits[hook]; got.Pace.Quota != c.quota || got.State != c.want {
			a.Errorf("stored %+v", got)
		}
	})
}

// A search that only looks for something held reads no more than it needs.
func TestRun_looksNoFurtherThanTheFirstHeld(t *testing.T) {
	inAccount(t, func(a *account) {
		a.held(hook, 1000)
		a.store(hook, circuit.None, func(i *circuit.Item) { i.RecoveredAt = i.Since })
		if a.run(); a.calls["ReadShard"] != backlog.Shards {
			a.Errorf("%d reads", a.calls["ReadShard"])
		}
		a.logged(`"seen_held":200`) // a page of each shard
	})
}

func TestRun_forgetsTenantsThatAreSlowNoMore(t *testing.T) {
	inAccount(t, func(a *account) {
		a.Slow["past"] = time.Now().Add(-24 * time.Hour)
		a.Slow["recent"] = time.Now().Add(-23 * time.Hour)
		a.run()
		if _, kept := a.Slow["past"]; kept || len(a.Slow) != 1 {
			a.Errorf("kept %v", a.Slow)
		}
	})
}

// A tenant's recoveries that have much to pass over, since receivers asked to wait, cost others' nothing.
func TestRun_recoversBesideEndpointsThatAskToWait(t *testing.T) {
	inAccount(t, func(a *account) {
		a.latency = 300 * time.Millisecond
		for n := range 30 {
			id := fmt.Sprint("webhook_asks", n, "@other")
			for range 2000 {
				a.due(id, time.Hour, func(i *backlog.Item) { i.NotBefore = time.Now().Add(10 * time.Hour) })
			}
			a.store(id, circuit.Recovering)
		}
		a.held(hook, 900)
		a.store(hook, circuit.Recovering)
		a.minutes(2)
		if got := a.sentTo()[hook]; got != 120+240 {
			a.Errorf("%d were sent", got)
		}
	})
}

// A circuit leads to the deliveries that wait. It stays where a run has not seen everything, or could not move it.
func TestRun_keepsTheCircuitOfWhatItHasNotSeen(t *testing.T) {
	inAccounts(t, map[string]func(call string, k backlog.Key) bool{
		"a shard cannot be read":       func(call string, k backlog.Key) bool { return call == "ReadShard" && k.Shard == 3 },
		"an item cannot be deleted":    func(call string, _ backlog.Key) bool { return call == "DeleteOf" },
		"a whole call deletes nothing": func(call string, _ backlog.Key) bool { return call == "Delete" },
	}, func(a *account, _ string, refuses func(string, backlog.Key) bool) {
		a.held(hook, 1)
		a.store(hook, circuit.None, func(i *circuit.Item) { i.HeldUntil = i.Since.Add(-time.Hour) })
		a.change(hook, deleted)
		a.refuses = refuses
		a.run()
		if _, kept := a.Circuits[hook]; !kept {
			a.Error("its circuit is forgotten")
		}
		a.refuse("")
		a.run()
		if _, kept := a.Circuits[hook]; kept || len(a.left(hook)) > 0 {
			a.Errorf("kept %t, %d wait", kept, len(a.left(hook)))
		}
	})
}

// If no queue takes its messages, a recovery ends for this run, after one page was offered. Two kinds of work meet the
// same fault here, and the log has it once.
func TestRun_endsARecoveryThatNoQueueTakes(t *testing.T) {
	inAccount(t, func(a *account) {
		a.held(hook, 100)
		a.due("webhook_due", 0)
		a.store(hook, circuit.Recovering)
		a.refuse("RetryQueue")
		if a.run(); a.calls["RetryQueue"] != 3+1 || len(a.left(hook)) != 100 {
			a.Errorf("%d calls, %d wait", a.calls["RetryQueue"], len(a.left(hook)))
		}
		if n := strings.Count(a.logs.String(), `"action":"sending"`); n != 1 {
			a.Errorf("%d lines about it", n)
		}
		a.logged(`"Faults":[26]`)
	})
}

// The quota grows with the age of the oldest delivery. While that age is unknown, no delivery counts as late.
func TestRecoveries_wanted(t *testing.T) {
	began := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	settings := circuit.New(time.Minute, 30*time.Second)
	r := outflow{settings: settings, now: func() time.Time { return began.Add(time.Hour) }}
	for name, row := range map[string]struct {
		oldest time.Time
		over   bool
		want   int
	}{
		"nothing is to be sent":        {time.Time{}, true, 0},
		"the oldest is not found yet":  {time.Time{}, false, settings.RecoveryLimit},
		"the oldest has waited longer": {began.Add(-48 * time.Hour), true, 2 * settings.RecoveryLimit},
	} {
		t.Run(name, func(t *testing.T) {
			item := circuit.Item{State: circuit.Recovering, Since: began}
			item.Pace = circuit.Pace{Quota: settings.RecoveryLimit, Oldest: began.Add(-48*time.Hour - time.Minute)}
			s := &search{trouble: trouble{plan: circuit.Plan{Item: item}}, finding: finding{oldest: row.oldest}, over: row.over}
			if got := r.wanted(s); got != row.want {
				t.Errorf("%d, want %d", got, row.want)
			}
		})
	}
}
