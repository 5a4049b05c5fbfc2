package simulate

import (
	"time"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// pulse publishes two events at once, again and again.
func (w *world) pulse(hooks []*hook, every time.Duration) {
	for next := calm; next < w.scenario.Length; next += every {
		time.Sleep(next - w.now())
		w.fanOut(hooks)
		w.fanOut(hooks)
	}
}

// adapt publishes two events whenever the tenant is not slow.
func (w *world) adapt(hooks []*hook) {
	for time.Sleep(calm); w.now() < w.scenario.Length; time.Sleep(20 * time.Second) {
		w.Mu.Lock()
		slow := w.slow(hooks[0].tenant)
		w.Mu.Unlock()
		if !slow {
			w.fanOut(hooks)
			w.fanOut(hooks)
		}
	}
}

// toggle switches endpoints off and on again in every cycle.
func (w *world) toggle(hooks []*hook, cycle time.Duration, off window) {
	for begin := calm; begin+off.to < w.scenario.Length; begin += cycle {
		time.Sleep(begin + off.from - w.now())
		w.owns(hooks, endpoint.Disabled)
		time.Sleep(begin + off.to - w.now())
		w.owns(hooks, endpoint.Active)
	}
}

// owns sets the status of endpoints, as their owner.
func (w *world) owns(hooks []*hook, status endpoint.Status) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	for _, h := range hooks {
		e := w.Endpoints[h.id]
		e.Status, e.UpdatedAt = status, time.Now()
		w.Endpoints[h.id] = e
	}
}

// replay sends dead letters again as a job does: at 50 a second to RetryQueue, a page of 100 at a time, for 40 s of
// each minute.
func (w *world) replay(hooks []*hook) {
	const letters, page = 100_000, 100
	begin := calm
	for sent := 0; sent < letters && begin < w.scenario.Length; begin += time.Minute {
		for at := begin; at < begin+40*time.Second; at += 2 * time.Second {
			time.Sleep(at - w.now())
			w.Mu.Lock()
			for n := range page {
				m := w.message(hooks[(sent+n)%len(hooks)])
				m.Replay, m.Life.StartedAt = 1, time.Now().UTC()
				w.RetryQueue.Send(queue.Of(m, 0))
			}
			w.Mu.Unlock()
			sent += page
		}
	}
}

// stopMapping lets DeliveryQueue's mapping receive nothing for a while, as in an outage of Herald.
func (w *world) stopMapping(during window) {
	mapping := w.maps[0]
	for _, act := range []struct {
		at time.Duration
		do func()
	}{{during.from, mapping.Disable}, {during.to, mapping.Enable}} {
		time.Sleep(act.at - w.now())
		w.Mu.Lock()
		act.do()
		w.Mu.Unlock()
	}
}
