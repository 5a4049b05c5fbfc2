package invariants

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// stops have the endpoint hold deliveries, or let them go.
var stops = map[string]func(w *world, held bool){
	"switched off": func(w *world, held bool) {
		w.owner(hook, map[bool]endpoint.Status{true: endpoint.Disabled, false: endpoint.Active}[held])
	},
	"paused": func(w *world, held bool) {
		w.control(map[bool]string{true: "pause", false: "resume"}[held], hook)
	},
	"at its limit": func(w *world, held bool) {
		w.limit(hook, 1)
		free := map[bool]time.Time{true: time.Now().Add(time.Minute)}[held]
		w.Rates[model.RateKey{EndpointID: hook}], w.Rates[model.RateKey{EndpointID: hook, Late: true}] = free, free
		if _, found := w.Circuits[hook]; !found {
			w.have(circuit.Item{EndpointID: hook})
		}
	},
}

// A message stays on its queue where the answer to its put is lost, and release sends its item as a second message.
// Both may come in one batch, and are put again as one item: under the key that release deletes late. That deletion is
// meant for the item that was sent. The item that was put since is all that is left of the delivery.
func TestALateDeletionRemovesNoItemThatWasPutAgain(t *testing.T) {
	t.Parallel()
	for name, stop := range stops {
		for _, firstLast := range []bool{false, true} { // SQS hands messages over in any order
			for _, second := range []time.Duration{0, 10 * time.Second, 30 * time.Second} {
				synctest.Test(t, func(*testing.T) {
					w := putAgain(stop, second, firstLast)
					w.mustHold(t, fmt.Sprintf("%s, %s later, first last: %v", name, second, firstLast))
				})
			}
		}
	}
}

// putAgain lets release delete late what deliver puts again in the meantime.
func putAgain(stop func(w *world, held bool), second time.Duration, firstLast bool) (w *world) {
	w = newWorld()
	w.own(hook, 200)
	fates := map[string]verdict{"Put Backlog": model.Lost, "Delete Backlog": model.Late}
	w.judgeBy(func(c *call) verdict {
		w.Mu.Lock()
		defer w.Mu.Unlock()
		v := fates[c.Name]
		delete(fates, c.Name)
		return v
	})
	w.retried(hook, 1)
	stop(w, true)
	w.process("first").Receive(w.RetryQueue)
	time.Sleep(time.Until(w.RetryQueue.Next()))
	stop(w, false)
	for range 5 {
		w.process("release").Release()
		if len(fates) == 0 {
			break
		}
		time.Sleep(time.Minute)
	}
	stop(w, true)
	time.Sleep(second)
	records := w.RetryQueue.Receive()
	if firstLast {
		slices.Reverse(records)
	}
	if len(fates) > 0 || len(records) != 2 {
		w.breaks("not played: %v, %d messages", fates, len(records))
	}
	w.process("second").Batch(w.RetryQueue, records)
	time.Sleep(model.Lateness)
	synctest.Wait()
	return w
}
