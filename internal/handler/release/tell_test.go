package release

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/notice"
)

func (w *world) kinds() map[string]int {
	all := map[string]int{}
	for _, n := range w.told {
		all[n.EndpointID+" "+string(n.Kind)]++
	}
	return all
}

func (w *world) heard(want map[string]int) {
	w.Helper()
	if diff := cmp.Diff(want, w.kinds()); diff != "" {
		w.Errorf("notices (-want +got)\n%s", diff)
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
		w.notices = true
		down(w)
		began := time.Now().UTC()
		w.held(hook, 3)
		w.minutes(3)
		want := []notice.Notice{{
			ID: w.told[0].ID, Kind: circuit.NoticeOpened, TenantID: acme, EndpointID: hook,
			Host: "hooks.example.com", Description: "Synchronises accounts", At: began, Reason: "http_5xx", Status: 503,
		}}
		if diff := cmp.Diff(want, w.told); diff != "" {
			w.Errorf("notices (-want +got)\n%s", diff)
		}
		w.logged(`"notices":1`)
	})
}

// Deliveries go on while the bus refuses, a metric says so, and nothing is forgotten.
func TestRun_tellsAgainWhatTheBusRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		w.notices = true
		down(w)
		w.held(hook, 3)
		w.refuse("Bus")
		w.minutes(2)
		if len(w.sent) == 0 { // the probe
			w.Error("the bus stops deliveries")
		}
		w.logged(`"NoticesRefused":[1]`, `"Faults":[1]`)
		w.heard(map[string]int{})
		i := w.circuits[hook]
		w.circuits[hook] = circuit.Item{
			TenantID: acme, EndpointID: hook, Version: i.Version + 1, State: circuit.Recovering, Since: time.Now(),
			RecoveredAt: time.Now(), HeldUntil: i.HeldUntil, Outage: i.Outage,
		}
		w.minutes(10)
		w.refuse("First") // of each call
		w.minutes(1)
		w.refuse("")
		w.minutes(12)
		if len(w.kinds()) != 2 || len(w.circuits) != 0 {
			w.Errorf("told %v, and kept %+v", w.kinds(), w.circuits)
		}
	})
}

func TestRun_tellsOfPausesOfEndpointsAndTenants(t *testing.T) {
	inWorld(t, func(w *world) {
		w.notices = true
		for _, id := range []string{hook, "webhook_2"} {
			w.store(id, circuit.None)
		}
		w.change(hook, func(e *endpoint.Endpoint) { e.Marks.Pause(time.Now(), "ann", "") })
		w.minutes(20)
		w.change(hook, func(e *endpoint.Endpoint) { e.Marks.Resume(time.Now()) })
		w.minutes(3)
		w.heard(map[string]int{hook + " paused": 1, hook + " resumed": 1})
		if len(w.circuits) != 0 {
			w.Errorf("kept %+v", w.circuits)
		}
	})
}
