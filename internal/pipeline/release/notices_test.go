package release

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/notice"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func (a *account) kinds() map[string]int {
	all := map[string]int{}
	for _, n := range a.told {
		all[n.EndpointID+" "+string(n.Kind)]++
	}
	return all
}

func (a *account) heard(want map[string]int) {
	a.Helper()
	if diff := cmp.Diff(want, a.kinds()); diff != "" {
		a.Errorf("notices (-want +got)\n%s", diff)
	}
}

func down(a *account) {
	a.store(hook, circuit.Open, func(i *circuit.Item) {
		i.Last = circuit.Answer{At: time.Now(), Status: 503, Reason: "http_5xx"}
	})
	a.change(hook, func(e *endpoint.Endpoint) {
		e.URL, e.Description = "https://hooks.example.com/secret?token=x", "Synchronises accounts"
	})
}

func TestRun_tellsAnOwnerOnceThatACircuitIsOpen(t *testing.T) {
	inAccount(t, func(a *account) {
		a.notices = true
		down(a)
		began := time.Now().UTC()
		a.held(hook, 3)
		a.minutes(3)
		want := []notice.Notice{{
			ID: a.told[0].ID, Kind: circuit.NoticeOpened, TenantID: acme, EndpointID: hook,
			Host: "hooks.example.com", Description: "Synchronises accounts", At: began, Reason: "http_5xx", Status: 503,
		}}
		if diff := cmp.Diff(want, a.told); diff != "" {
			a.Errorf("notices (-want +got)\n%s", diff)
		}
		a.logged(`"notices":1`)
	})
}

// Deliveries go on while the bus refuses, a metric says so, and nothing is forgotten.
func TestRun_tellsAgainWhatTheBusRefused(t *testing.T) {
	inAccount(t, func(a *account) {
		a.notices = true
		down(a)
		a.held(hook, 3)
		a.refuse("Bus")
		a.minutes(2)
		if len(a.sent) == 0 { // the probe
			a.Error("the bus stops deliveries")
		}
		a.logged(`"NoticesRefused":[1]`, `"Faults":[1]`)
		a.heard(map[string]int{})
		i := a.Circuits[hook]
		a.Circuits[hook] = circuit.Item{
			TenantID: acme, EndpointID: hook, Version: i.Version + 1, State: circuit.Recovering, Since: time.Now(),
			RecoveredAt: time.Now(), HeldUntil: i.HeldUntil, Outage: i.Outage,
		}
		a.minutes(10)
		a.refuse("First") // of each call
		a.minutes(1)
		a.refuse("")
		a.minutes(12)
		if len(a.kinds()) != 2 || len(a.Circuits) != 0 {
			a.Errorf("told %v, and kept %+v", a.kinds(), a.Circuits)
		}
	})
}

func TestRun_tellsOfPausesOfEndpointsAndTenants(t *testing.T) {
	inAccount(t, func(a *account) {
		a.notices = true
		for _, id := range []string{hook, "webhook_2"} {
			a.store(id, circuit.None)
		}
		a.change(hook, func(e *endpoint.Endpoint) { e.Marks.Pause(time.Now(), "ann", "") })
		a.minutes(20)
		a.change(hook, func(e *endpoint.Endpoint) { e.Marks.Resume(time.Now()) })
		a.minutes(3)
		a.heard(map[string]int{hook + " paused": 1, hook + " resumed": 1})
		if len(a.Circuits) != 0 {
			a.Errorf("kept %+v", a.Circuits)
		}
	})
}

// An endpoint that is gone has no owner to tell.
func TestRun_tellsNothingOfADeletedEndpoint(t *testing.T) {
	inAccount(t, func(a *account) {
		a.notices = true
		down(a)
		a.refuse("Bus")
		a.run()
		a.change(hook, deleted)
		a.refuse("")
		a.minutes(2)
		a.heard(map[string]int{})
	})
}
