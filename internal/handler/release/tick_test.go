package release

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
)

// With calls of AWS that take 12 ms.
func TestTick_sendsTwoThousandASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const endpoints, each = 1000, 40
		w := newWorld()
		w.latency = 12 * time.Millisecond
		for n := range endpoints {
			w.park(fmt.Sprintf("webhook_%d", n), each, false)
		}
		took := w.tick(t)
		if rate := float64(len(w.sent)) / took.Seconds(); rate < 2000 || len(w.sent) != endpoints*each {
			t.Errorf("%d in %s, %.0f a second", len(w.sent), took, rate)
		}
	})
}

func (w *world) open(id string) {
	now := time.Now()
	w.health[id] = health.Item{
		TenantID: acme, EndpointID: id, Version: 1, State: health.Open, Since: now, Changed: now, Held: true,
		NextProbe: now.Add(24 * time.Hour),
	}
}

func (w *world) sentTo() map[string]int {
	to := map[string]int{}
	for _, m := range w.sent {
		to[m.Endpoint]++
	}
	return to
}

func (w *world) recovering(id string) {
	now := time.Now()
	w.health[id] = health.Item{
		TenantID: acme, EndpointID: id, Version: 1, State: health.Recovering, Since: now, Changed: now, Held: true,
	}
}

// However much there is of one kind, the others get their time, and what they do not use is not lost.
func TestTick_sharesItsTimeAmongTheKindsOfWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.latency = 400 * time.Millisecond
		w.park("webhook_due", 60_000, false)
		w.park("webhook_back", 500, true)
		w.recovering("webhook_back")
		w.park("webhook_open", 5, true)
		now := time.Now()
		w.health["webhook_open"] = health.Item{
			TenantID: acme, EndpointID: "webhook_open", Version: 1, State: health.Open,
			Since: now, Changed: now, Held: true, NextProbe: now,
		}
		began := time.Now()
		took := w.tick(t)
		first, last, sent := map[string]time.Duration{}, map[string]time.Duration{}, map[string]int{}
		for _, m := range w.sent {
			if sent[m.Endpoint]++; sent[m.Endpoint] == 1 {
				first[m.Endpoint] = m.At.Sub(began)
			}
			last[m.Endpoint] = m.At.Sub(began)
		}
		// A quarter of 45 s is over after 11.25 s: then the probe goes, then what recovers.
		for id, until := range map[string]time.Duration{
			"webhook_open": 16 * time.Second, "webhook_back": 20 * time.Second,
		} {
			if first[id] == 0 || first[id] > until {
				t.Errorf("the first to %s went after %s, want %s at most", id, first[id], until)
			}
		}
		if sent["webhook_open"] != 1 || sent["webhook_back"] != 120 {
			t.Errorf("sent %v", sent)
		}
		if last["webhook_due"] < 40*time.Second || took > 50*time.Second {
			t.Errorf("the last that was due went after %s, the tick took %s", last["webhook_due"], took)
		}
		for _, want := range []string{`"late_s":`, `"due":`, `"probe":1`, `"recovery":120`} {
			if !strings.Contains(w.logs.String(), want) {
				t.Errorf("the line lacks %s: %s", want, w.logs.String())
			}
		}
	})
}

// A shard that does not delete gets no more duplicates than a page a lane; the rest goes on.
func TestTick_leavesAPartitionAloneThatDoesNotDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		ill := partition{"webhook_1", 3}
		w.refuses = func(k backlog.Key) bool { return partitionOf(k) == ill }
		w.park("webhook_1", 4000, false)
		w.park("webhook_2", 4000, false)
		w.tick(t)
		sick := len(w.shards[ill])
		if left := w.left("webhook_1") + w.left("webhook_2"); left != sick {
			t.Errorf("%d wait, want the %d of that shard", left, sick)
		}
		if again := len(w.sent) - (8000 - sick); again > lanes*pageSize || again == 0 {
			t.Errorf("%d of %d were sent and not deleted", again, sick)
		}
	})
}

// An endpoint that nobody answers for does not hold up another in the same recovery.
func TestTick_recoversEndpointsSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.latency = 10 * time.Millisecond
		w.slow = func(m queue.Outgoing) time.Duration {
			if m.Group == acme && strings.Contains(*m.Attributes["endpoint_id"].StringValue, "_7") {
				return 2 * time.Second
			}
			return 0
		}
		want := map[string]int{}
		for n := range 40 { // more than crowd: pages are read again
			id := fmt.Sprintf("webhook_%d", n)
			w.park(id, 300, true)
			w.recovering(id)
			want[id] = 120
		}
		if took := w.tick(t); took > 45*time.Second {
			t.Errorf("took %s", took)
		}
		got := map[string]int{}
		seen := map[string]bool{}
		for _, m := range w.sent {
			got[m.Endpoint]++
			if seen[m.ID] {
				t.Errorf("%s was sent twice", m.ID)
			}
			seen[m.ID] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sent (-want +got)\n%s", diff)
		}
		for id := range want {
			if i := w.health[id]; i.Ticks != 1 || i.Quota != 120 || !i.Full {
				t.Errorf("%s goes on from %+v", id, i)
			}
		}
	})
}

// The budget of a tick is shared by all that recover.
func TestTick_keepsToTheBudgetOfATick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for n := range 200 {
			id := fmt.Sprintf("webhook_%03d", n)
			w.park(id, 130, true)
			w.recovering(id)
		}
		w.tick(t)
		if len(w.sent) != health.Default().Budget {
			t.Errorf("%d sent", len(w.sent))
		}
	})
}

// A tick that is cut off goes on where it was, at the same pace, and sends only what was not deleted.
func TestTick_isCutOffByTimeWithoutHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.latency = 5 * time.Second
		w.park("webhook_back", 300, true)
		w.recovering("webhook_back")
		w.park("webhook_due", 1000, false)
		w.tick(t)
		cut := len(w.sent)
		w.latency = 0
		time.Sleep(time.Minute)
		w.tick(t)
		ids := map[string]int{}
		for _, m := range w.sent {
			ids[m.ID]++
		}
		if left := w.left("webhook_due"); left != 0 || len(ids) < 1000 || len(w.sent) != len(ids) {
			t.Errorf("%d at first, then %d of %d, %d left", cut, len(w.sent), len(ids), left)
		}
	})
}

// A batch that acted on a holding state may store something in a shard that was read already, however
// long the reads of the others take.
func TestTick_forgetsAnEndpointOnlyByReadsThatBeganAfterTheLastBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.recovering("webhook_back")
		time.Sleep(110 * time.Second) // the last batch is over after 120 s
		w.latency = 3 * time.Second
		w.tick(t)
		if w.health["webhook_back"].State != health.Recovering {
			t.Error("forgotten by reads that began too early")
		}
		time.Sleep(time.Minute)
		w.tick(t)
		if len(w.health) != 0 {
			t.Errorf("not forgotten: %+v", w.health)
		}
	})
}

// A dead letter that names a reason was sent by Herald, one without was moved there by SQS.
func TestTick_givesNoReasonToWhatItSendsToRetryQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.park("webhook_due", 1, false)
		w.park("webhook_back", 1, true)
		w.recovering("webhook_back")
		w.park("webhook_open", 1, true)
		now := time.Now()
		w.health["webhook_open"] = health.Item{
			TenantID: acme, EndpointID: "webhook_open", Version: 1, State: health.Open,
			Since: now, Changed: now, Held: true, NextProbe: now,
		}
		w.tick(t)
		if len(w.sent) != 3 {
			t.Errorf("%d sent", len(w.sent))
		}
		for _, m := range w.sent {
			if m.Life.Reason != "" || m.Life.Status != 0 {
				t.Errorf("%s says %q, %d", m.Endpoint, m.Life.Reason, m.Life.Status)
			}
		}
	})
}

// However much is over of one open endpoint, the others have their last attempts.
func TestTick_sharesLastAttemptsAmongEndpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.open("webhook_big")
		w.open("webhook_small")
		w.park("webhook_big", 2*maxEnding, true)
		w.park("webhook_small", 10, true)
		time.Sleep(70 * time.Minute)
		w.tick(t)
		want := map[string]int{"webhook_big": health.Default().Last, "webhook_small": 10}
		if diff := cmp.Diff(want, w.sentTo()); diff != "" {
			t.Errorf("sent (-want +got)\n%s", diff)
		}
	})
}

// To an endpoint that answers, what is over goes at the pace of a recovery, and the rest is not read
// in every tick.
func TestTick_sendsWhatIsOverAtThePaceOfARecovery(t *testing.T) {
	for _, state := range []health.State{health.None, health.Failing} {
		t.Run("state "+string(state), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.park("webhook_1", 6000, false)
				time.Sleep(2 * time.Hour)
				if now := time.Now(); state != health.None {
					w.health["webhook_1"] = health.Item{
						TenantID: acme, EndpointID: "webhook_1", Version: 1, State: state,
						Since: now, Changed: now, FailedAt: now,
					}
				}
				w.tick(t)
				limit := health.Default().RecoveryLimit
				if len(w.sent) != limit || w.got > limit+maxIdle+2*lanes*pageSize {
					t.Errorf("%d sent, %d read", len(w.sent), w.got)
				}
			})
		})
	}
}

// What has lived for as long as anything may is a part of what recovery sends.
func TestTick_countsLastAttemptsOfARecoveryInItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.park("webhook_1", 300, true)
		time.Sleep(retry.MaxLife)
		w.recovering("webhook_1")
		for _, want := range []int{120, 300} {
			w.tick(t)
			if len(w.sent) != want {
				t.Errorf("%d sent, want %d", len(w.sent), want)
			}
			time.Sleep(time.Minute)
		}
		for _, m := range w.sent {
			if !m.Life.Last {
				t.Fatalf("%s is not sent as a last attempt", m.ID)
			}
		}
	})
}

// A page that a later release wrote does not keep a circuit open.
func TestTick_probesBehindAPageThatItCannotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.park("webhook_open", 20, true)
		w.open("webhook_open")
		i := w.health["webhook_open"]
		i.NextProbe = time.Now()
		w.health["webhook_open"] = i
		h := w.handler()
		h.Shards = unreadableBegin{w}
		if err := h.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(w.sent) != 1 || w.sent[0].Life.Probe == 0 {
			t.Errorf("sent %+v, want a probe", w.sent)
		}
	})
}

// unreadableBegin is a table whose shards begin with a page that nobody can read.
type unreadableBegin struct{ *world }

func (u unreadableBegin) ReadShard(
	ctx context.Context, id string, shard int, after string, limit int,
) (dynamo.Page, error) {
	if after == "" {
		return dynamo.Page{Unreadable: make([]backlog.Key, limit), Next: "!"}, nil
	}
	return u.world.ReadShard(ctx, id, shard, after, limit)
}

// A deletion can be taken back until the endpoint's item is gone. What operators asked for is kept as
// long, and no longer.
func TestTick_forgetsWhatOperatorsAskedForWithTheEndpoint(t *testing.T) {
	for name, missing := range map[string]bool{"it may come back": false, "its item is gone": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				now := time.Now()
				w.health["webhook_1"] = health.Item{
					TenantID: acme, EndpointID: "webhook_1", Version: 1, Since: now, Changed: now,
					Paused: true, Held: true, DiscardedBefore: now,
				}
				w.gone = map[string]bool{"webhook_1": missing}
				for range 4 {
					time.Sleep(time.Minute)
					w.tick(t)
				}
				if kept := w.health["webhook_1"].Paused; kept == missing {
					t.Errorf("kept %+v", w.health)
				}
			})
		})
	}
}

// Nothing is left of what a tenant's mark drops when no life is as long.
func TestTick_removesADiscardOfATenantThatIsOver(t *testing.T) {
	for name, paused := range map[string]bool{"not paused": false, "paused": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				now := time.Now()
				w.health[""] = health.Item{
					TenantID: acme, Version: 1, Changed: now, Paused: paused, DiscardedBefore: now,
				}
				time.Sleep(health.Default().Discard - time.Minute)
				w.tick(t)
				if w.health[""].DiscardedBefore.IsZero() {
					t.Error("removed before its time")
				}
				time.Sleep(time.Minute)
				w.tick(t)
				i, stored := w.health[""]
				if stored != paused || i.Paused != paused || !i.DiscardedBefore.IsZero() {
					t.Errorf("left is %+v", w.health)
				}
			})
		})
	}
}

// Bodies of 256 KB in every page do not fill the memory of a tick, and all of them are sent.
func TestTick_keepsFewLargeBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.park("webhook_1", 100, true)
		w.recovering("webhook_1")
		body := make([]byte, 256<<10)
		for _, items := range w.shards {
			for n := range items {
				items[n].Message.Body = body
			}
		}
		r := w.handler().begin(t.Context())
		r.meet(t.Context(), r.look(t.Context()))
		r.plan()
		r.shareQuota(t.Context(), r.until)
		if r.recoveries[0].heavy() {
			t.Error("a walk keeps what it read to find the oldest")
		}
		w.tick(t)
		if len(w.sent) != 100 {
			t.Errorf("%d sent", len(w.sent))
		}
	})
}

func TestInTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		endpoints := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "c"})).Draw(t, "endpoints")
		var keys []dynamo.Due
		for n, id := range endpoints {
			keys = append(keys, dynamo.Due{Key: backlog.Key{EndpointID: id, Position: fmt.Sprintf("%03d", n)}})
		}
		got := inTurn(keys)
		of := map[string][]string{}
		for n, d := range got {
			of[d.EndpointID] = append(of[d.EndpointID], d.Position)
			for id, others := range of {
				waiting := 0
				for _, later := range got[n+1:] {
					if later.EndpointID == id {
						waiting++
					}
				}
				if waiting > 0 && len(others) < len(of[d.EndpointID])-1 {
					t.Fatalf("%s has had %d turns, %s %d", d.EndpointID, len(of[d.EndpointID]), id, len(others))
				}
			}
		}
		for id, positions := range of {
			if !slices.IsSorted(positions) {
				t.Fatalf("%s is out of order: %v", id, positions)
			}
		}
		if len(got) != len(keys) || len(slices.Collect(maps.Keys(of))) > 3 {
			t.Fatalf("%d of %d keys", len(got), len(keys))
		}
	})
}

// What is late because nothing can be read shows in the metric that the alarm looks at.
func TestTick_saysHowLateIsWhatItCannotSend(t *testing.T) {
	for name, row := range map[string]struct {
		spoil func(*world, *Handler)
	}{
		"endpoints cannot be read": {func(_ *world, h *Handler) { h.Endpoints = unreadable{} }},
		"items cannot be read":     {func(w *world, h *Handler) { h.Due = keysOnly{w} }},
		"nothing can be sent":      {func(_ *world, h *Handler) { h.RetryQueue = unreadable{} }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.park("webhook_1", 3, false)
				time.Sleep(20 * time.Minute)
				h := w.handler()
				row.spoil(w, h)
				if err := h.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, want := range []string{`"BacklogLateSeconds":[1200]`, `"Faults":[`, `"Ticks":[1]`} {
					if !strings.Contains(w.logs.String(), want) {
						t.Errorf("no %s in %s", want, w.logs.String())
					}
				}
				if w.left("webhook_1") != 3 {
					t.Error("something is gone")
				}
			})
		})
	}
}

// unreadable is AWS on a bad day.
type unreadable struct{}

func (unreadable) Read(context.Context, []dynamo.EndpointKey) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	return nil, errThrottled
}

func (unreadable) Send(_ context.Context, messages []queue.Outgoing) []error {
	return slices.Repeat([]error{errThrottled}, len(messages))
}

// Without its health an endpoint is neither probed nor recovered: ReleaseFaultsAlarm has to see it.
func TestTick_countsAFaultForHealthThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for _, id := range []string{"webhook_1", "webhook_2"} {
			w.park(id, 1, true)
			w.recovering(id)
		}
		h := w.handler()
		h.Endpoints = healthless{w}
		if err := h.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"Faults":[2]`, `"action":"reading health"`, `"Ticks":[1]`} {
			if !strings.Contains(w.logs.String(), want) {
				t.Errorf("no %s in %s", want, w.logs.String())
			}
		}
	})
}

// healthless is a reader that EndpointHealth refuses.
type healthless struct{ *world }

func (h healthless) Read(
	ctx context.Context, keys []dynamo.EndpointKey,
) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	found, err := h.world.Read(ctx, keys)
	for key, r := range found {
		r.HealthRead, r.View.Endpoint = false, health.Item{}
		found[key] = r
	}
	return found, err
}

// keysOnly is a table whose index can be read alone.
type keysOnly struct{ *world }

func (keysOnly) BatchGet(context.Context, []backlog.Key) (dynamo.Page, error) {
	return dynamo.Page{}, errThrottled
}
