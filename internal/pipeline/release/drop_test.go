package release

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func TestRun_dropsWhatWaitsForADeletedEndpoint(t *testing.T) {
	inAccounts(t, map[string]func(*account){
		"its row bears a mark": func(a *account) { a.change(hook, deleted) },
		"its row is gone":      func(a *account) { delete(a.Endpoints, hook) },
	}, func(a *account, _ string, remove func(*account)) {
		items := a.held(hook, 60)
		a.store(hook, circuit.Open)
		remove(a)
		a.run()
		if len(a.left(hook)) != 0 || len(a.sent) != 0 || len(a.States) != 60 {
			a.Errorf("%d wait, %d were sent", len(a.left(hook)), len(a.sent))
		}
		m := items[0].Message
		want := delivery.Record{
			Ref: m.Ref, EventType: "user.created", State: delivery.Discarded, Attempts: 5, LastStatus: 503,
			Reason: delivery.ReasonEndpointDeleted, UpdatedAt: time.Now(),
		}
		if diff := cmp.Diff(want, a.States[m.DeliveryID]); diff != "" {
			a.Errorf("record (-want +got)\n%s", diff)
		}
	})
}

// A run that has read an endpoint as deleted leaves deliveries that began after it asked, because the endpoint may have
// been restored since. It still discards the older ones behind them. Clocks differ, so it also leaves what began within
// one run's length before.
func TestRun_leavesWhatBeganAfterADeletion(t *testing.T) {
	inAccount(t, func(a *account) {
		young := a.held(hook, 1, func(i *backlog.Item) { i.Message.Life.StartedAt = time.Now().Add(-30 * time.Second) })
		a.held(hook, 40)
		a.store(hook, circuit.Open)
		a.change(hook, deleted)
		a.run()
		if diff := cmp.Diff([]string{young[0].Message.DeliveryID}, a.left(hook)); diff != "" || len(a.States) != 40 {
			a.Errorf("%d were discarded; waits (-want +got)\n%s", len(a.States), diff)
		}
		// The record of a delivery to the restored endpoint names its tenant's order to discard, not the deletion.
		a.Stops[acme] = endpoint.Marks{DiscardedBefore: time.Now()}
		a.run()
		if got := a.States[young[0].Message.DeliveryID].Reason; got != "" {
			a.Errorf("recorded as %q", got)
		}
		a.change(hook, func(e *endpoint.Endpoint) { e.Status = endpoint.Active })
		a.run()
		if got := a.States[young[0].Message.DeliveryID].Reason; got != delivery.ReasonDiscarded {
			a.Errorf("after the restoration it is recorded as %q", got)
		}
	})
}

// A delivery that an operator discards goes at the next run, whether its endpoint recovers, is paused or open.
func TestRun_dropsWhatAnOperatorDiscards(t *testing.T) {
	inAccounts(t, map[string]circuit.State{
		"paused": circuit.None, "open": circuit.Open, "recovering": circuit.Recovering,
	}, func(a *account, _ string, state circuit.State) {
		replayed := func(i *backlog.Item) { i.Message.Life.StartedAt = time.Now() } // its life is young
		young := a.held(hook, 1, replayed)
		old := a.held(hook, 40)
		young = append(young, a.held(hook, 40)...)
		a.store(hook, state, func(i *circuit.Item) { i.ProbedAt, i.RecoveredAt = i.Since, i.Since })
		a.change(hook, func(e *endpoint.Endpoint) { e.Marks.DiscardedBefore = young[1].Message.CreatedAt })
		a.run()
		for _, i := range old {
			if a.States[i.Message.DeliveryID].Reason != delivery.ReasonDiscarded {
				a.Fatalf("%s: %+v", i.Message.DeliveryID, a.States[i.Message.DeliveryID])
			}
		}
		sent, left := 0, len(young)
		if state == circuit.Recovering {
			sent, left = left, sent
		}
		if len(a.States) != len(old) || len(a.sent) != sent || len(a.left(hook)) != left {
			a.Errorf("%d dropped, %d sent, %d left", len(a.States), len(a.sent), len(a.left(hook)))
		}
	})
}

// A circuit that names another tenant leads to an endpoint that is not there. That says nothing about the deliveries
// that wait.
//
// Threat of a receiver: has waiting deliveries discarded by a forged attribute. Held by: items are known by their
// keys; `release` moves what its own tenant's endpoint allows.
func TestRun_leavesWhatIsOfAnotherTenantThanItsCircuit(t *testing.T) {
	inAccounts(t, map[string]circuit.State{
		"open": circuit.Open, "recovering": circuit.Recovering, "failing": circuit.Failing, "only a lease": circuit.None,
	}, func(a *account, _ string, state circuit.State) {
		a.held(hook, 60)
		a.due(hook, time.Hour)
		a.store(hook, state, func(i *circuit.Item) { i.TenantID = "forged" })
		a.minutes(10)
		if len(a.left(hook)) != 61 || len(a.States) != 0 || len(a.sent)+len(a.buried) != 0 {
			a.Errorf("%d wait, %d were discarded, %d sent", len(a.left(hook)), len(a.States), len(a.sent)+len(a.buried))
		}
		if _, kept := a.Circuits[hook]; !kept {
			a.Error("its circuit is forgotten, and with it the deliveries that wait")
		}
		a.logged(`"fault":"internal"`, hook, "forged", acme, `"faults":61`)
		a.store(hook, circuit.Recovering) // as the next lease or attempt writes it
		if a.run(); len(a.sent) != 61 {
			a.Errorf("with its own tenant again %d are sent", len(a.sent))
		}
	})
}

// A stray delivery of another tenant stops none of the endpoint's own, goes nowhere with them, and keeps the circuit.
func TestRun_sendsTheEndpointsOwnBesideOneOfAnotherTenant(t *testing.T) {
	foreign := func(i *backlog.Item) { i.Message.TenantID = "forged" }
	inAccounts(t, map[string]func(*account){
		"recovering": func(a *account) { a.store(hook, circuit.Recovering) },
		"discarded": func(a *account) {
			a.store(hook, circuit.Open)
			a.change(hook, func(e *endpoint.Endpoint) { e.Marks.DiscardedBefore = time.Now() })
		},
		"deleted": func(a *account) {
			a.store(hook, circuit.Open)
			a.change(hook, deleted)
		},
	}, func(a *account, name string, prepare func(*account)) {
		stray := a.held(hook, 1, foreign)
		a.held(hook, 40)
		prepare(a)
		a.minutes(12)
		if diff := cmp.Diff([]string{stray[0].Message.DeliveryID}, a.left(hook)); diff != "" {
			a.Errorf("waits (-want +got)\n%s", diff)
		}
		if moved := len(a.States) + len(a.sent); moved != 40 || (name == "recovering") != (len(a.sent) == 40) {
			a.Errorf("%d were discarded, %d sent", len(a.States), len(a.sent))
		}
		if _, kept := a.Circuits[hook]; !kept {
			a.Error("its circuit is forgotten while something is held")
		}
	})
}

// A probe is made of a delivery of the endpoint's own tenant only.
func TestRun_probesWithTheEndpointsOwn(t *testing.T) {
	inAccount(t, func(a *account) {
		own := a.held(hook, 1)
		a.held(hook, 60, func(i *backlog.Item) { i.Message.TenantID = "forged" })
		a.store(hook, circuit.Open)
		time.Sleep(time.Minute)
		a.run()
		for _, m := range a.sent {
			if m.ID != own[0].Message.DeliveryID {
				a.Errorf("%s was sent", m.ID)
			}
		}
	})
}
