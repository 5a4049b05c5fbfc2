package main

import (
	"math"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/health"
)

// dispatch hands what is visible to idle processes.
func (w *world) dispatch(m *mapping) {
	for len(m.idle) > 0 && m.queue.Ready() {
		last := len(m.idle) - 1
		p := &m.processes[m.idle[last]]
		p.handles = m.queue.Receive(w.now, p.handles)
		if len(p.handles) == 0 {
			return
		}
		n := m.idle[last]
		m.idle = m.idle[:last]
		w.stats.inFlight = max(w.stats.inFlight, w.retries.queue.InFlight())
		w.startBatch(m, n)
	}
}

// startBatch decides about every delivery of a batch, draws the answers, and so knows how long
// the batch takes. What Lambda throttles is tried for as long as the receive lasts.
func (w *world) startBatch(m *mapping, n int) {
	p := &m.processes[n]
	if w.throttled(m, n) {
		return
	}
	p.number++
	p.begin, p.end = w.now+before, w.now+before
	p.batch, p.views, p.noted = p.batch[:0], p.views[:0], p.noted[:0]
	w.readNotes(p)
	refused := w.scenario.tablesRefuse(w.now)
	slow, diverts := false, false
	for _, h := range p.handles {
		t := task{handle: h, message: *m.queue.Message(h), receives: m.queue.Receives(h), begin: p.begin, end: p.begin}
		t.place = 1
		if m == w.retries {
			t.place = w.scenario.schedule().Place(int(t.message.attempts), t.receives)
		}
		if refused {
			t.fate, t.reason, t.end = faulty, string(delivery.ReasonInternal), p.begin+refusal
		} else {
			w.decide(m, p, &t)
		}
		if t.fate == post {
			w.post(m, &t)
			slow = slow || t.end-p.begin > noteAfter
		}
		diverts = diverts || t.fate == divert
		p.end = max(p.end, t.end)
		p.batch = append(p.batch, t)
	}
	w.events.Push(p.end+after, event{batchEnds, m, n, p.number})
	if diverts && w.backlogs { // sent while the attempts go on
		w.events.Push(p.begin, event{batchDiverts, m, n, p.number})
	}
	if slow {
		w.events.Push(p.begin+noteAfter, event{batchSlow, m, n, p.number})
	}
	w.stats.batch(w, p)
}

// throttled deals with a batch that Lambda takes no invocation for. One that is throttled for the
// whole visibility timeout has burned a receive; its process takes the next batch.
func (w *world) throttled(m *mapping, n int) bool {
	p := &m.processes[n]
	if burns := w.scenario.burns; burns > 0 && m == w.retries {
		kept := p.handles[:0]
		for _, h := range p.handles {
			if m.queue.Receives(h) > burns {
				kept = append(kept, h)
			}
		}
		if p.handles = kept; len(kept) == 0 {
			m.idle = append(m.idle, n)
			return true
		}
	}
	until := w.scenario.throttledUntil(w.now)
	if until == 0 {
		return false
	}
	p.number++
	p.batch, p.noted = p.batch[:0], p.noted[:0]
	w.events.Push(min(until, w.now+visibilityTimeout), event{batchEnds, m, n, p.number})
	return true
}

// decide says whether a delivery is POSTed in this batch.
func (w *world) decide(m *mapping, p *process, t *task) {
	if !w.backlogs {
		w.decideV010(m, p, t)
		return
	}
	now := w.since(p.begin)
	if w.known(p, t.message.endpoint).Version != 0 {
		d := w.view(p, t.message.endpoint).Decide(health.Question{
			StartedAt: t.message.created.time(), Probe: t.message.probe, Last: t.message.last,
		}, now)
		if d.Action == health.Hold {
			t.fate, t.reason = hold, string(d.Reason)
			if d.First.Kind != health.Nothing {
				w.apply(t.message.endpoint, d.First)
			}
			return
		}
	}
	if !w.notes.any() || t.message.probe != 0 || t.message.last {
		return
	}
	waiting := now
	if t.message.own != 0 {
		waiting = t.message.own.time()
	}
	switch route := p.slow.Route(m.name, w.name(t.message.endpoint), waiting, now); route.To {
	case health.ToRetryQueue:
		t.fate, t.reason = divert, string(delivery.ReasonEndpointHanging)
	case health.ToBacklog:
		t.fate, t.reason, t.due = putOff, string(delivery.ReasonEndpointHanging), route.Due.Sub(epoch)
	case health.Here:
	}
}

// known is what the batch knows of an endpoint: what was stored when the batch began.
func (w *world) known(p *process, endpoint int32) *health.Item {
	for i := range p.views {
		if p.views[i].endpoint == endpoint {
			return &p.views[i].item
		}
	}
	p.views = append(p.views, seen{endpoint, w.endpoints[endpoint].item})
	return &p.views[len(p.views)-1].item
}

func (w *world) view(p *process, endpoint int32) health.View {
	return health.View{TenantID: "t", EndpointID: w.name(endpoint), Endpoint: *w.known(p, endpoint)}
}

// post draws the answer to an attempt.
func (w *world) post(m *mapping, t *task) {
	t.answer = w.answered(t)
	t.end = t.begin + t.answer.took
	w.stats.posting(w, m, t)
}

// healthy is how an endpoint answers that is not in trouble: in 80 ms at the median and 320 ms at
// the 99th percentile, and one in a thousand fails.
func (w *world) healthy() answer {
	took := time.Duration(80 * float64(time.Millisecond) * math.Exp(0.6*w.random.NormFloat64()))
	a := answer{ok: true, status: 200, took: min(took, attemptTimeout)}
	if w.random.Float64() < w.scenario.background {
		a.ok, a.status = false, 503
	}
	return a
}

// endBatch settles what became of the deliveries of a batch.
func (w *world) endBatch(e event) {
	p := &e.on.processes[e.process]
	if p.number != e.number {
		return
	}
	if len(p.batch) > 0 {
		w.dropNotes(e.on, p)
		if w.backlogs {
			w.settleBatch(e.on, p)
		} else {
			w.settleV010(e.on, p)
		}
		p.batch = p.batch[:0]
	}
	e.on.idle = append(e.on.idle, e.process)
}
