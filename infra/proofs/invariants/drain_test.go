package invariants

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// run plays on without faults until nothing is left to do or the time is over. Processes are well, messages are
// received as soon as they can be, and release runs every minute.
func (w *world) run(limit time.Duration, until func() bool) (ended bool) {
	p := w.process("well")
	for end := time.Now().Add(limit); ; {
		w.receiveAll(p)
		w.Mu.Lock()
		ended = until()
		next := w.next()
		w.Mu.Unlock()
		switch {
		case ended:
			return true
		case next.After(end):
			time.Sleep(time.Until(end))
			return false
		}
		if d := time.Until(next); d > 0 {
			time.Sleep(d)
		}
		if time.Since(w.ran) >= w.rules.Circuit.Run {
			w.ran = time.Now()
			if !w.throttled(p) {
				p.Release()
			}
		}
	}
}

func (w *world) receiveAll(p *process) {
	for _, q := range w.Queues() {
		for {
			w.Mu.Lock()
			records := q.Receive()
			w.Mu.Unlock()
			if len(records) == 0 {
				break
			}
			if !w.throttled(p) {
				p.Batch(q, records)
			}
		}
	}
}

// next is when something can happen: a message is seen again, or release has work.
func (w *world) next() time.Time {
	now := time.Now()
	next := now.Add(1000 * time.Hour)
	sooner := func(at time.Time) {
		if !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	for _, q := range w.Queues() {
		sooner(q.Next())
	}
	minute := w.ran.Add(w.rules.Circuit.Run)
	runs := func(at time.Time) { sooner(minute.Add(max(at.Sub(minute), 0).Truncate(w.rules.Circuit.Run))) }
	waits := map[string]bool{}
	for k := range w.Backlog.Items {
		waits[k.EndpointID] = true
	}
	for id, i := range w.Circuits {
		e := w.Endpoints[id]
		gate := endpoint.Gate{Endpoint: e, Found: true, Tenant: w.Stops[tenant]}
		gone := e.Status == endpoint.Deleted
		changed := time.Since(e.UpdatedAt) < time.Hour || time.Since(e.Marks.ReleasedAt) < time.Hour
		switch {
		case gate.AdmitsAny().Stops():
		case !gone && waits[id] && i.State == circuit.Open && !changed:
			runs(i.NextProbe(w.rules.Circuit))
		case waits[id] && (gone || i.State == circuit.Open), i.State == circuit.Recovering,
			!i.HeldUntil.IsZero() && i.State != circuit.Open:
			runs(minute)
		}
	}
	if due := w.Backlog.NextDue(now); !due.IsZero() {
		runs(due.Add(-w.rules.Circuit.Ahead))
	}
	return next
}

// heal has every owner and operator want the waiting deliveries, and every receiver answer 2xx.
func (w *world) heal() {
	w.judgeBy(nil)
	time.Sleep(model.Lateness + time.Second)
	w.Mu.Lock()
	w.note("all is well")
	paused := []string{}
	if w.Stops[tenant].Paused() {
		paused = append(paused, "")
	}
	for _, id := range slices.Sorted(maps.Keys(w.Endpoints)) {
		w.receivers[id] = answers(200)
		e := w.Endpoints[id]
		if e.Status == endpoint.Disabled {
			w.edit(id, func(e *endpoint.Endpoint) { e.Status = endpoint.Active })
		}
		if e.Status != endpoint.Deleted && e.Marks.Paused() {
			paused = append(paused, id)
		}
	}
	w.Mu.Unlock()
	for _, id := range paused {
		if refusal := w.control("resume", id); refusal != "" {
			w.breaks("%q cannot be resumed: %s", id, refusal)
		}
	}
}

// The bounds of stranding: a circuit that opened again and again is probed once an hour, and a recovery
// begins once in ten minutes; then there is the schedule's longest wait.
const (
	heldFor  = 90 * time.Minute
	waitsFor = 15 * time.Hour
)

// drain lets everything end, and names the deliveries that do not.
func (w *world) drain() {
	w.heal()
	free := func() bool { return w.Backlog.Held("") == 0 }
	freed := w.run(heldFor, free)
	ended := w.run(waitsFor, w.over)
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if !freed {
		w.breaks("something was held %s after all was well; now %s", heldFor, w.left())
	}
	if !ended {
		w.breaks("not over after %s: %s", waitsFor, w.left())
	}
	for l, t := range w.truth {
		if !t.acked && !t.unwanted && w.Deaths[l].IsZero() {
			w.breaks("%s was not delivered", l.ID)
		}
	}
}

// over reports whether nothing is left to do, and no lease is left that makes release look.
func (w *world) over() bool {
	if !w.idle() {
		return false
	}
	for _, i := range w.Circuits {
		if i.State == circuit.Recovering || !i.HeldUntil.IsZero() && i.State != circuit.Open { // nothing probes an empty one
			return false
		}
	}
	return true
}

func (w *world) left() (s string) {
	for _, q := range w.Queues() {
		s += fmt.Sprintf("%d on %s, ", q.Stored(), q.Name)
	}
	for _, i := range w.Backlog.Items {
		s += fmt.Sprintf("item %s of %s due %s held %v, ", i.Message.DeliveryID, i.EndpointID, i.DueAt.Sub(w.began), i.Held)
	}
	for id, i := range w.Circuits {
		s += fmt.Sprintf("circuit %s %q held until %s, ", id, i.State, i.HeldUntil.Sub(w.began))
	}
	return s
}
