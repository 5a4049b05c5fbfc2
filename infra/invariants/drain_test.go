package invariants

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
)

// run goes on, without faults, until nothing is left to do or the time is over. Processes are well,
// messages are received as soon as they can be, and release runs every minute.
func (w *world) run(limit time.Duration, until func() bool) (ended bool) {
	p := w.process("well", rand.New(rand.NewPCG(1, 2)))
	for end := time.Now().Add(limit); ; {
		for _, q := range []*sqs{w.deliveries, w.retries, w.dead} {
			for {
				w.mu.Lock()
				records := q.receive()
				w.mu.Unlock()
				if len(records) == 0 {
					break
				}
				if w.throttled("Lambda") {
					continue
				}
				p.revive()
				p.batch(q, records)
			}
		}
		if until() {
			return true
		}
		next := w.next()
		if next.After(end) {
			return false
		}
		if d := time.Until(next); d > 0 {
			time.Sleep(d)
		}
		if w.tickDue() {
			w.ticked = time.Now()
			if !w.throttled("Lambda") {
				p.revive()
				p.tick()
			}
		}
	}
}

func (w *world) tickDue() bool { return time.Since(w.ticked) >= time.Minute }

// next is when something can happen: a message is seen again, release has something to do, a late
// effect.
func (w *world) next() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	next := now.Add(1000 * time.Hour)
	sooner := func(at time.Time) {
		if at.Before(next) {
			next = at
		}
	}
	for _, q := range []*sqs{w.deliveries, w.retries, w.dead} {
		for _, m := range q.messages {
			sooner(m.visible)
		}
	}
	for _, at := range w.late {
		if at.After(now) {
			sooner(at)
		}
	}
	if at := w.backlog.NextHeard(now); !at.IsZero() {
		sooner(at)
	}
	minute := w.ticked.Add(time.Minute)
	waits := map[string]bool{}
	for k := range w.backlog.Items {
		waits[k.EndpointID] = true
	}
	for id, i := range w.health {
		if i.State == health.Recovering || i.Held && (i.State != health.Open || waits[id]) {
			sooner(minute)
		}
	}
	w.backlog.Heard(now, func(_ backlog.Key, due time.Time, found bool) {
		if !found {
			due = now
		}
		if at := due.Add(-w.settings.Ahead); at.After(minute) {
			minutes := at.Sub(minute)/time.Minute + 1
			sooner(minute.Add(minutes * time.Minute))
		} else {
			sooner(minute)
		}
	})
	if !next.After(now) && w.nothingVisible() {
		next = now
	}
	return next
}

func (w *world) nothingVisible() bool {
	for _, q := range []*sqs{w.deliveries, w.retries, w.dead} {
		for _, m := range q.messages {
			if !m.visible.After(time.Now()) {
				return false
			}
		}
	}
	return true
}

// heal makes everybody wish what waits to be delivered, and answer 2xx.
func (w *world) heal() {
	w.judgeBy(nil)
	w.refuseBy(nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("all is well")
	for id, e := range w.endpoints {
		w.receivers[id] = answers(200)
		if e.Status == endpoint.Disabled {
			e.Status, e.UpdatedAt = endpoint.Active, time.Now()
			w.endpoints[id] = e
		}
	}
	for _, name := range sorted(w.health) {
		if i := w.health[name]; i.Paused {
			write, _ := i.Resume(time.Now())
			w.store(write)
		}
	}
}

// settle lets everything end, and says what does not: what is held has to be on its way within
// minutes, everything has to be gone when its schedule has sent it.
func (w *world) settle() {
	w.heal()
	free := func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.held() == 0
	}
	over := func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.over()
	}
	freed := w.run(20*time.Minute, free) || free()
	ended := w.run(15*time.Hour, over)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !freed {
		w.breaks("something was held 20 minutes after all was well; now %s", w.left())
	}
	if !ended {
		w.breaks("not over after 15 hours: %s", w.left())
	}
	for l, t := range w.truth {
		if !t.acked && !t.unwanted && w.sealed[l].IsZero() {
			w.breaks("%s was not delivered", l.id)
		}
	}
}

// over reports whether nothing is left to do, and nothing is left that says so.
func (w *world) over() bool {
	if !w.idle() {
		return false
	}
	for id, i := range w.health {
		if e, found := w.endpoints[id]; !found || e.Status == endpoint.Deleted {
			continue
		}
		if i.State == health.Recovering || i.Held && i.State != health.Open { // an empty open one waits for a delivery
			return false
		}
	}
	for _, at := range w.late {
		if at.After(time.Now()) {
			return false
		}
	}
	return true
}

func (w *world) left() string {
	s := fmt.Sprintf("%d, %d, %d messages", len(w.deliveries.messages), len(w.retries.messages), len(w.dead.messages))
	for _, i := range w.backlog.Items {
		s += fmt.Sprintf(", item %s of %s due %s held %v", i.Message.DeliveryID, i.EndpointID,
			i.DueAt.Sub(w.began), i.Held)
	}
	for id, i := range w.health {
		s += fmt.Sprintf(", health %s %s held %v paused %v", id, nameOf(i.State), i.Held, i.Paused)
	}
	return s
}
