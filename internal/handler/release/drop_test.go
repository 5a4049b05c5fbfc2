package release

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

func TestRun_dropsWhatWaitsForADeletedEndpoint(t *testing.T) {
	inWorlds(t, map[string]func(*world){
		"its row bears a mark": func(w *world) { w.change(hook, deleted) },
		"its row is gone":      func(w *world) { delete(w.endpoints, hook) },
	}, func(w *world, _ string, remove func(*world)) {
		items := w.held(hook, 60)
		w.store(hook, circuit.Open)
		remove(w)
		w.run()
		if len(w.left(hook)) != 0 || len(w.sent) != 0 || len(w.records) != 60 {
			w.Errorf("%d wait, %d were sent", len(w.left(hook)), len(w.sent))
		}
		m := items[0].Message
		want := delivery.Record{
			Ref: m.Ref, EventType: "user.created", State: delivery.Discarded, Attempts: 5, LastStatus: 503,
			Reason: delivery.ReasonEndpointDeleted, UpdatedAt: time.Now(),
		}
		if diff := cmp.Diff(want, w.records[m.DeliveryID]); diff != "" {
			w.Errorf("record (-want +got)\n%s", diff)
		}
		if w.minutes(5); len(w.circuits) != 1 {
			w.Error("its circuit is forgotten while something may be held")
		}
		if w.minutes(2); len(w.circuits) != 0 {
			w.Errorf("left is %+v", w.circuits)
		}
	})
}

// A run that saw the endpoint deleted leaves what came after its restoration, and goes on behind it.
func TestRun_leavesWhatBeganAfterADeletion(t *testing.T) {
	inWorld(t, func(w *world) {
		young := w.held(hook, 1, func(i *backlog.Item) { i.Message.Life.StartedAt = time.Now().Add(time.Second) })
		w.held(hook, 40)
		w.store(hook, circuit.Open)
		w.change(hook, deleted)
		w.run()
		if diff := cmp.Diff([]string{young[0].Message.DeliveryID}, w.left(hook)); diff != "" || len(w.records) != 40 {
			w.Errorf("%d were discarded; what waits (-want +got)\n%s", len(w.records), diff)
		}
	})
}

// What an operator discards goes at the next run, whether its endpoint recovers, is paused or open.
func TestRun_dropsWhatAnOperatorDiscards(t *testing.T) {
	inWorlds(t, map[string]circuit.State{
		"paused": circuit.None, "open": circuit.Open, "recovering": circuit.Recovering,
	}, func(w *world, _ string, state circuit.State) {
		replayed := func(i *backlog.Item) { i.Message.Life.StartedAt = time.Now() } // its life is young
		young := w.held(hook, 1, replayed)
		old := w.held(hook, 40)
		young = append(young, w.held(hook, 40)...)
		w.store(hook, state, func(i *circuit.Item) { i.ProbedAt, i.RecoveredAt = i.Since, i.Since })
		w.change(hook, func(e *endpoint.Endpoint) { e.Marks.DiscardedBefore = young[1].Message.CreatedAt })
		w.run()
		for _, i := range old {
			if w.records[i.Message.DeliveryID].Reason != delivery.ReasonDiscarded {
				w.Fatalf("%s: %+v", i.Message.DeliveryID, w.records[i.Message.DeliveryID])
			}
		}
		sent, left := 0, len(young)
		if state == circuit.Recovering {
			sent, left = left, sent
		}
		if len(w.records) != len(old) || len(w.sent) != sent || len(w.left(hook)) != left {
			w.Errorf("%d dropped, %d sent, %d left", len(w.records), len(w.sent), len(w.left(hook)))
		}
	})
}

// A circuit that names another tenant leads to an endpoint that is not there. That says nothing about what waits.
func TestRun_leavesWhatIsOfAnotherTenantThanItsCircuit(t *testing.T) {
	inWorlds(t, map[string]circuit.State{
		"open": circuit.Open, "recovering": circuit.Recovering, "failing": circuit.Failing, "only a lease": circuit.None,
	}, func(w *world, _ string, state circuit.State) {
		w.held(hook, 60)
		w.due(hook, time.Hour)
		w.store(hook, state, func(i *circuit.Item) { i.TenantID = "forged" })
		w.minutes(10)
		if len(w.left(hook)) != 61 || len(w.records) != 0 || len(w.sent)+len(w.buried) != 0 {
			w.Errorf("%d wait, %d were discarded, %d sent", len(w.left(hook)), len(w.records), len(w.sent)+len(w.buried))
		}
		if _, kept := w.circuits[hook]; !kept {
			w.Error("its circuit is forgotten, and with it what waits")
		}
		w.logged(`"fault":"ours"`, hook, "forged", acme, `"faults":61`)
		w.store(hook, circuit.Recovering) // as the next lease or attempt writes it
		if w.run(); len(w.sent) != 61 {
			w.Errorf("with its own tenant again %d are sent", len(w.sent))
		}
	})
}

// A stray delivery of another tenant stops none of the endpoint's own, goes nowhere with them, and keeps the circuit.
func TestRun_sendsTheEndpointsOwnBesideOneOfAnotherTenant(t *testing.T) {
	foreign := func(i *backlog.Item) { i.Message.TenantID = "forged" }
	inWorlds(t, map[string]func(*world){
		"recovering": func(w *world) { w.store(hook, circuit.Recovering) },
		"discarded": func(w *world) {
			w.store(hook, circuit.Open)
			w.change(hook, func(e *endpoint.Endpoint) { e.Marks.DiscardedBefore = time.Now() })
		},
		"deleted": func(w *world) {
			w.store(hook, circuit.Open)
			w.change(hook, deleted)
		},
	}, func(w *world, name string, prepare func(*world)) {
		stray := w.held(hook, 1, foreign)
		w.held(hook, 40)
		prepare(w)
		w.minutes(12)
		if diff := cmp.Diff([]string{stray[0].Message.DeliveryID}, w.left(hook)); diff != "" {
			w.Errorf("waits (-want +got)\n%s", diff)
		}
		if moved := len(w.records) + len(w.sent); moved != 40 || (name == "recovering") != (len(w.sent) == 40) {
			w.Errorf("%d were discarded, %d sent", len(w.records), len(w.sent))
		}
		if _, kept := w.circuits[hook]; !kept {
			w.Error("its circuit is forgotten while something is held")
		}
	})
}

// No probe is made of another tenant's delivery.
func TestRun_probesWithTheEndpointsOwn(t *testing.T) {
	inWorld(t, func(w *world) {
		own := w.held(hook, 1)
		w.held(hook, 60, func(i *backlog.Item) { i.Message.TenantID = "forged" })
		w.store(hook, circuit.Open)
		time.Sleep(time.Minute)
		w.run()
		for _, m := range w.sent {
			if m.ID != own[0].Message.DeliveryID {
				w.Errorf("%s was sent", m.ID)
			}
		}
	})
}
