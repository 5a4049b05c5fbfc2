//go:build emulator

package release_test

import (
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

func (r *rig) recovering(id string) health.Item {
	return health.Item{EndpointID: id, State: health.Recovering, Since: r.now.Add(-10 * time.Second)}
}

func TestTick_recoversOldestFirstAndSpreadsTheArrivals(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	r.note(r.recovering(hook))
	var items []backlog.Item
	for range 300 {
		items = append(items, r.park(hook, held))
	}
	r.mustTick()
	first := r.sent(r.retryQ)
	if diff := cmp.Diff(idsOf(items[:120]), ids(first)); diff != "" {
		t.Errorf("the first tick (-want +got)\n%s", diff)
	}
	for n, m := range first {
		if want := (n + 1) / 2; m.Delay != want {
			t.Errorf("number %d arrives after %d s, want %d", n, m.Delay, want)
		}
	}
	r.now = r.now.Add(time.Minute)
	r.mustTick()
	if diff := cmp.Diff(idsOf(items), ids(r.sent(r.retryQ))); diff != "" {
		t.Errorf("two ticks (-want +got)\n%s", diff)
	}
	got := r.healthOf(hook)
	if got.Ticks != 2 || got.Quota != 240 || got.Full {
		t.Errorf("pace %+v", got)
	}
}

// An endpoint's item goes when nothing is held any more, and nobody can be about to hold something.
func TestTick_forgetsAnEndpointThatHasRecovered(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	r.note(r.recovering(hook))
	r.park(hook, held)
	scheduled := r.park(hook, func(i *backlog.Item) { i.StoredAt, i.DueAt = r.now, r.now.Add(time.Hour) })
	for _, states := range []health.State{health.Recovering, health.Recovering, health.None} {
		r.mustTick()
		if got := r.healthOf(hook).State; got != states {
			t.Fatalf("state %q at %s, want %q", got, r.now, states)
		}
		r.now = r.now.Add(time.Minute)
	}
	r.logsWant(`"msg":"endpoint turned","endpoint_id":"webhook_1","from":"recovering","to":"none"`)
	if diff := cmp.Diff([]backlog.Item{scheduled}, r.waiting(hook)); diff != "" {
		t.Errorf("its schedule (-want +got)\n%s", diff)
	}
	if got := r.healthOf(hook); got.EndpointID != "" {
		t.Errorf("%+v is left", got)
	}
}

func TestTick_respectsRetryAfterWhileItRecovers(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	r.note(r.recovering(hook))
	r.park(hook, func(i *backlog.Item) {
		held(i)
		i.Message.NotBefore = r.now.Add(time.Minute)
	})
	r.mustTick()
	if got := r.sent(r.retryQ); len(got) != 0 {
		t.Errorf("sent %v before its Retry-After", got)
	}
	r.now = r.now.Add(3 * time.Minute)
	r.mustTick()
	if got := r.sent(r.retryQ); len(got) != 1 || r.healthOf(hook).State != health.Recovering {
		t.Errorf("sent %v, then %+v", got, r.healthOf(hook))
	}
}

// What an operator releases does not wait for Retry-After, nor for a probe.
func TestTick_doesWhatAnOperatorOrders(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	r.note(r.open(hook))
	want := r.park(hook, func(i *backlog.Item) {
		held(i)
		i.Message.NotBefore = r.now.Add(time.Hour)
	})
	r.mustTick()
	write, refusal := health.View{
		TenantID: tenant, EndpointID: hook, Endpoint: r.healthOf(hook),
	}.Release(health.Endpoint{}, r.now)
	if _, ok, err := r.health.Apply(t.Context(), write); err != nil || !ok || refusal != "" {
		t.Fatal(ok, err, refusal)
	}
	r.mustTick()
	if diff := cmp.Diff([]string{want.Message.DeliveryID}, ids(r.sent(r.retryQ))); diff != "" {
		t.Errorf("sent (-want +got)\n%s", diff)
	}
}

func TestTick_probesOnceAnInterval(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	r.note(r.probed(hook))
	for range 30 {
		r.park(hook, held)
	}
	for range 3 { // the intervals double: after one minute, three, seven, and every five
		r.mustTick()
		r.mustTick()
		r.now = r.now.Add(5 * time.Minute)
	}
	got := r.sent(r.retryQ)
	numbers := map[int64]bool{}
	for _, m := range got {
		numbers[m.Life.Probe] = true
	}
	if stored := r.healthOf(hook); len(got) != 3 || len(numbers) != 3 || !numbers[stored.Probe] || stored.Probes != 3 {
		t.Errorf("sent %+v, stored %+v", got, stored)
	}
	if left := len(r.waiting(hook)); left != 27 {
		t.Errorf("%d wait", left)
	}
}

// Which delivery is a probe is left to chance, so that one which no receiver takes does not keep the
// circuit open.
func TestTick_probesPastAPoisonousOldestItem(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	r.note(r.probed(hook))
	poison := r.park(hook, held)
	for range 40 {
		r.park(hook, held)
	}
	others := 0
	for range 12 {
		r.faults.Reset()
		r.mustTick()
		sent := ids(r.sent(r.retryQ))
		if len(sent) == 1 && sent[0] != poison.Message.DeliveryID {
			others++
		} else if len(sent) == 1 {
			r.backlog.Put(t.Context(), []backlog.Item{poison}) // it fails, and waits again
		}
		r.now = r.now.Add(5 * time.Minute)
		for _, i := range r.waiting(hook) { // nothing is over in this test
			if _, err := r.backlog.Redate(t.Context(), i.Key, r.now.Add(time.Hour), true); err != nil {
				t.Fatal(err)
			}
		}
	}
	if others < 6 {
		t.Errorf("%d of 12 probes were another delivery", others)
	}
}

func TestTick_probesAtOnceWhenTheOwnerChangedTheEndpoint(t *testing.T) {
	r := newRig(t)
	e := r.create(hook)
	r.note(r.open(hook))
	r.park(hook, held)
	r.mustTick()
	if got := r.sent(r.retryQ); len(got) != 0 {
		t.Fatalf("probed too early: %v", got)
	}
	r.now = r.now.Add(time.Second)
	r.change(e, func(e *endpoint.Endpoint) { e.URL = "https://other.example/hook" })
	r.mustTick()
	if got := r.sent(r.retryQ); len(got) != 1 || got[0].Life.Probe == 0 {
		t.Errorf("sent %v", got)
	}
}

func TestTick_probesWithNothingThatHasToWait(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	r.note(r.probed(hook))
	r.park(hook, func(i *backlog.Item) {
		held(i)
		i.Message.NotBefore = r.now.Add(time.Hour)
	})
	r.mustTick()
	if got := r.healthOf(hook); len(r.sent(r.retryQ)) != 0 || got.Probes != 0 {
		t.Errorf("claimed %+v", got)
	}
}

// Processes that run at the same time send no more than one probe, and lose nothing.
func TestTick_twiceAtOnceIsHarmless(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	r.create("webhook_2")
	r.note(r.probed(hook))
	r.note(r.recovering("webhook_2"))
	var want []string
	for range 10 {
		r.park(hook, held)
		want = append(want, r.park("webhook_2", held).Message.DeliveryID)
	}
	var wait sync.WaitGroup
	for range 3 {
		h := r.another()
		h.Log = slog.New(slog.DiscardHandler)
		h.Metrics = telemetry.NewMetrics(io.Discard, "test", "release", h.Now)
		wait.Go(func() {
			if err := r.tickOf(h); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	var probes, recovered []string
	for _, m := range r.sent(r.retryQ) {
		if m.Life.Probe != 0 {
			probes = append(probes, m.ID)
		} else {
			recovered = append(recovered, m.ID)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Compact(recovered)); diff != "" || len(probes) != 1 {
		t.Errorf("%d probes, recovered (-want +got)\n%s", len(probes), diff)
	}
	if left := len(r.waiting("webhook_2")); left != 0 {
		t.Errorf("%d wait", left)
	}
}

func TestTick_discardsWhatWaitsForADeletedEndpoint(t *testing.T) {
	r := newRig(t)
	e := r.create(hook)
	r.note(r.open(hook))
	for range 40 {
		r.park(hook, held)
	}
	r.change(e, func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Deleted, r.now })
	r.mustTick()
	if left := r.waiting(hook); len(left) != 0 || len(r.sent(r.retryQ)) != 0 {
		t.Errorf("%d wait, %d were sent", len(left), len(r.sent(r.retryQ)))
	}
	s, found, err := r.states.Get(t.Context(), "msg_0001")
	if err != nil || !found || s.State != delivery.Discarded || s.Reason != delivery.ReasonEndpointDeleted {
		t.Errorf("%+v, %v", s, err)
	}
	for _, want := range []health.State{health.Recovering, health.None} { // first nothing may be held any more
		r.now = r.now.Add(5 * time.Minute)
		r.mustTick()
		if got := r.healthOf(hook); got.State != want || (got.EndpointID == "") != (want == health.None) {
			t.Errorf("%+v is left", got)
		}
	}
}

// Deleted and restored before anybody looked: nothing happened but that its owner changed it.
func TestTick_keepsWhatWaitsForARestoredEndpoint(t *testing.T) {
	r := newRig(t)
	e := r.create(hook)
	r.note(r.open(hook))
	for range 5 {
		r.park(hook, held)
	}
	r.now = r.now.Add(time.Second)
	e = r.change(e, func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Deleted, r.now })
	r.change(e, func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Active, time.Time{} })
	r.mustTick()
	if got := r.sent(r.retryQ); len(got) != 1 || got[0].Life.Probe == 0 || len(r.waiting(hook)) != 4 {
		t.Errorf("sent %v, %d wait", got, len(r.waiting(hook)))
	}
}

// What an operator discards goes at the next tick, although its endpoint recovers, is paused or open.
func TestTick_discardsWhatAnOperatorGaveUp(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	old := r.park(hook, held)
	young := r.park(hook, held)
	i := r.open(hook)
	i.DiscardedBefore = old.Message.CreatedAt.Add(500 * time.Millisecond)
	r.note(i)
	r.mustTick()
	if diff := cmp.Diff([]backlog.Item{young}, r.waiting(hook)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
