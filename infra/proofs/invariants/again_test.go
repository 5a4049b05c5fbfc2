package invariants

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
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
// meant for the item that was sent. The item that was put since is all that is left of the delivery. No second try of
// the first put takes its place, and lets the deletion find what it was sent for.
func TestALateDeletionRemovesNoItemThatWasPutAgain(t *testing.T) {
	t.Parallel()
	for name, stop := range stops {
		for _, c := range latePairs() {
			synctest.Test(t, func(*testing.T) {
				w := c.play(stop)
				w.mustHold(t, fmt.Sprintf("%s: %+v", name, c))
			})
		}
	}
}

// latePair is a deletion and, perhaps, a second try of the first put. Both come late.
type latePair struct {
	put       verdict
	latePut   time.Duration // after the first put
	second    time.Duration // from the deletion to the second put
	firstLast bool          // SQS hands messages over in any order
}

// lateDelete is the time from a deletion to its effect.
const lateDelete = model.Lateness

func latePairs() (all []latePair) {
	for _, firstLast := range []bool{false, true} {
		for _, second := range []time.Duration{0, 10 * time.Second, 30 * time.Second} {
			all = append(all, latePair{model.Lost, 0, second, firstLast})
			for _, latePut := range []time.Duration{model.Lateness, 75 * time.Second} { // before the deletion, and after it
				all = append(all, latePair{model.Twice, latePut, second, firstLast})
			}
		}
	}
	return all
}

// play lets release delete late what deliver puts again in the meantime.
func (c latePair) play(stop func(w *world, held bool)) (w *world) {
	w = newWorld()
	w.own(hook, 200)
	w.Lateness = func(call *call) time.Duration {
		if call.Name == "Put Backlog" {
			return c.latePut
		}
		return lateDelete
	}
	fates := map[string]verdict{"Put Backlog": c.put, "Delete Backlog": model.Late}
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
		time.Sleep(10 * time.Second)
	}
	stop(w, true)
	time.Sleep(c.second)
	records := w.RetryQueue.Receive()
	if c.firstLast {
		slices.Reverse(records)
	}
	if len(fates) > 0 || len(records) != 2 {
		w.breaks("not played: %v, %d messages", fates, len(records))
	}
	w.process("second").Batch(w.RetryQueue, records)
	time.Sleep(c.latePut + lateDelete)
	synctest.Wait()
	return w
}
