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
