package release

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/notice"
)

// busOf is the bus of a world. It refuses what refuses "Bus", or else the first of a call where it refuses "First".
type busOf struct {
	*world
	took []notice.Notice
}

func (b *busOf) Put(_ context.Context, notices []notice.Notice) []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	errs := make([]error, len(notices))
	for n, one := range notices {
		if b.refuses("Bus", backlog.Key{}) || n == 0 && b.refuses("First", backlog.Key{}) {
			errs[n] = errThrottled
			continue
		}
		b.took = append(b.took, one)
	}
	return errs
}

func (b *busOf) minutes(n int) {
	b.Helper()
	for range n {
		h := b.handler()
		h.Bus, h.Settings.Notices = b, true
		if err := h.Run(b.Context()); err != nil {
			b.Error(err)
		}
		time.Sleep(time.Minute)
	}
}

func (b *busOf) kinds() map[string]int {
	all := map[string]int{}
	for _, n := range b.took {
		all[n.EndpointID+" "+string(n.Kind)]++
	}
	return all
}

func (b *busOf) heard(want map[string]int) {
	b.Helper()
	if diff := cmp.Diff(want, b.kinds()); diff != "" {
		b.Errorf("notices (-want +got)\n%s", diff)
	}
}

func down(w *world) {
	w.store(hook, circuit.Open, func(i *circuit.Item) {
		i.Last = circuit.Answer{At: time.Now(), Status: 503, Reason: "http_5xx"}
	})
	w.change(hook, func(e *endpoint.Endpoint) {
		e.URL, e.Description = "https://hooks.example.com/secret?token=x", "Synchronises accounts"
	})
}

func TestRun_tellsAnOwnerOnceThatACircuitIsOpen(t *testing.T) {
	inWorld(t, func(w *world) {
		b := &busOf{world: w}
		down(b.world)
		began := time.Now().UTC()
		b.held(hook, 3)
		b.minutes(3)
		want := []notice.Notice{{
			ID: b.took[0].ID, Kind: circuit.NoticeOpened, TenantID: acme, EndpointID: hook,
			Host: "hooks.example.com", Description: "Synchronises accounts", At: began, Reason: "http_5xx", Status: 503,
		}}
		if diff := cmp.Diff(want, b.took); diff != "" {
			w.Errorf("notices (-want +got)\n%s", diff)
		}
		b.logged(`"notices":1`)
	})
}

// Deliveries go on while the bus refuses, a metric says so, and nothing is forgotten.
func TestRun_tellsAgainWhatTheBusRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		b := &busOf{world: w}
		down(b.world)
		b.held(hook, 3)
		b.refuses = func(call string, _ backlog.Key) bool { return call == "Bus" }
		b.minutes(2)
		if len(b.sent) == 0 { // the probe
			w.Error("the bus stops deliveries")
		}
		b.logged(`"NoticesRefused":[1]`, `"Faults":[1]`)
		b.heard(map[string]int{})
		i := b.circuits[hook]
		b.circuits[hook] = circuit.Item{
			TenantID: acme, EndpointID: hook, Version: i.Version + 1, State: circuit.Recovering, Since: time.Now(),
			RecoveredAt: time.Now(), HeldUntil: i.HeldUntil, Outage: i.Outage,
		}
		b.minutes(10)
		b.refuses = func(call string, _ backlog.Key) bool { return call == "First" } // of each call
		b.minutes(1)
		b.refuses = func(string, backlog.Key) bool { return false }
		b.minutes(12)
		for kind, n := range b.kinds() {
			if n < 1 {
				w.Errorf("%s: %d", kind, n)
			}
		}
		if len(b.kinds()) != 2 || len(b.circuits) != 0 {
			w.Errorf("told %v, and kept %+v", b.kinds(), b.circuits)
		}
	})
}

func TestRun_tellsOfPausesOfEndpointsAndTenants(t *testing.T) {
	inWorld(t, func(w *world) {
		b := &busOf{world: w}
		for _, id := range []string{hook, "webhook_2"} {
			b.store(id, circuit.None)
		}
		b.change(hook, func(e *endpoint.Endpoint) { e.Marks.Pause(time.Now(), "ann", "") })
		b.minutes(20)
		b.change(hook, func(e *endpoint.Endpoint) { e.Marks.Resume(time.Now()) })
		b.minutes(3)
		b.heard(map[string]int{hook + " paused": 1, hook + " resumed": 1})
		if len(b.circuits) != 0 {
			w.Errorf("kept %+v", b.circuits)
		}
	})
}
