package main

import (
	"slices"
	"strconv"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/awsmodel"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/retry"
)

func (w *world) name(endpoint int32) string { return strconv.Itoa(int(endpoint)) }

func (m message) life() delivery.Life {
	return delivery.Life{
		StartedAt: epoch.Add(m.created.duration()), DiesAt: m.dies.time(), OwnDue: m.own.time(),
		Probe: m.probe, Last: m.last,
	}
}

func (m message) with(next delivery.Next) message {
	m.attempts = uint8(next.Attempts) //nolint:gosec // 19 at most
	m.dies, m.own = milliOf(next.Life.DiesAt), milliOf(next.Life.OwnDue)
	m.probe, m.last = next.Life.Probe, next.Life.Last
	m.due = millis(next.Due.Sub(epoch))
	if next.Held {
		m.due = 0
	}
	return m
}

// moved counts what became of the deliveries of a batch.
type moved struct{ deletes, sends, changes, puts, acknowledged int }

// settleBatch follows the order of deliver: each delivery to where it waits, by what the batch knew
// of its endpoint, and then health.
func (w *world) settleBatch(m *mapping, p *process) {
	defer w.observe(p)
	var did moved
	for i := range p.batch {
		t := &p.batch[i]
		if t.fate == post && t.answer.ok {
			m.queue.Delete(t.handle)
			did.deletes++
			did.acknowledged++
			w.stats.acknowledged(w, t)
			continue
		}
		if t.sent {
			m.queue.Delete(t.handle)
			did.deletes, did.sends = did.deletes+1, did.sends+1
			continue
		}
		switch next := w.follow(p, t); {
		case next.To == delivery.ToDeadLetterQueue:
			w.died(t.message)
			m.queue.Delete(t.handle)
			did.deletes, did.sends = did.deletes+1, did.sends+1
		case next.To == delivery.ToBacklog:
			w.store.put(t.message.with(next), next)
			m.queue.Delete(t.handle)
			did.deletes, did.puts = did.deletes+1, did.puts+1
		case m == w.retries:
			m.queue.Message(t.handle).due = millis(next.Due.Sub(epoch))
			m.queue.ChangeVisibility(t.handle, w.now, awsmodel.Whole(next.Due.Sub(w.time())))
			did.changes++
		default:
			w.toRetryQueue(t, next)
			m.queue.Delete(t.handle)
			did.deletes, did.sends = did.deletes+1, did.sends+1
		}
	}
	w.stats.settled(did)
}

// divertBatch sends what the batch turns away to RetryQueue. It is deleted when the batch ends.
func (w *world) divertBatch(e event) {
	p := &e.on.processes[e.process]
	if p.number != e.number {
		return
	}
	for i := range p.batch {
		if t := &p.batch[i]; t.fate == divert {
			w.toRetryQueue(t, w.follow(p, t))
			t.sent = true
		}
	}
}

func (w *world) toRetryQueue(t *task, next delivery.Next) {
	w.retries.queue.Send(t.message.with(next), w.group(t.message.endpoint), w.now, awsmodel.Whole(next.Due.Sub(w.time())))
}

// follow is what becomes of a delivery that was not acknowledged. What cannot be put into Backlog
// waits on RetryQueue.
func (w *world) follow(p *process, t *task) delivery.Next {
	s := delivery.Standing{
		Place: t.place, Receives: t.receives, Life: t.message.life(), Now: w.since(t.end), Random: w.jitter(),
	}
	var next delivery.Next
	schedule := w.scenario.schedule()
	switch t.fate {
	case post, unposted:
		out := delivery.Outcome{Verdict: delivery.VerdictRetry, Reason: t.answer.reason(), Status: t.answer.status}
		next = s.Failed(schedule, out, w.since(t.begin))
		if w.known(p, t.message.endpoint).State == health.Open {
			next = next.Hold()
		}
	case hold:
		next = s.Hold(schedule, delivery.Reason(t.reason))
	case divert:
		next = s.AtOnce()
	case putOff:
		next = s.Later(schedule, w.since(t.due))
	case faulty:
		next = s.Fault(schedule)
	}
	w.stats.waits(w, t)
	if next.To == delivery.ToBacklog && w.scenario.tablesRefuse(w.now) {
		wait := next.Wait
		if next.Held {
			wait = s.Fault(schedule).Wait
		}
		next.To, next.Held, next.Due = delivery.ToRetryQueue, false, w.time().Add(min(wait, retry.MaxDelay))
	}
	return next
}

func (a answer) reason() delivery.Reason {
	if a.status == 0 {
		return delivery.ReasonTimeout
	}
	return delivery.StatusReason(a.status)
}

// observe tells the endpoints' health what became of their attempts: failures alone once a second
// and process, and once more where somebody else was faster.
func (w *world) observe(p *process) {
	var told []int32
	for i := range p.batch {
		t := &p.batch[i]
		e := t.message.endpoint
		if t.fate != post || t.answer.ok && w.known(p, e).Version == 0 || slices.Contains(told, e) {
			continue
		}
		told = append(told, e)
		w.tell(p, e)
	}
}

func (w *world) tell(p *process, endpoint int32) {
	var results []health.Result
	good := false
	for i := range p.batch {
		t := &p.batch[i]
		if t.message.endpoint != endpoint || t.fate != post {
			continue
		}
		good = good || t.answer.ok
		results = append(results, health.Result{
			DeliveryID: strconv.Itoa(int(t.message.id)), Begun: w.since(t.begin), OK: t.answer.ok, Status: t.answer.status,
			Reason: string(t.answer.reason()), Retry: t.place > 1, Probe: t.message.probe, Last: t.message.last,
		})
	}
	view := w.view(p, endpoint)
	write := view.Observe(w.settings, results, w.time())
	if write.Kind == health.Nothing || !good && !p.mayWrite(endpoint, w.now) || w.scenario.tablesRefuse(w.now) {
		return
	}
	if w.apply(endpoint, write) {
		return
	}
	view.Endpoint = w.endpoints[endpoint].item
	if write = view.Observe(w.settings, results, w.time()); write.Kind != health.Nothing {
		w.apply(endpoint, write)
	}
}

func (p *process) mayWrite(endpoint int32, now time.Duration) bool {
	if last, ok := p.wrote[endpoint]; ok && now-last < time.Second {
		return false
	}
	if p.wrote == nil || len(p.wrote) > 1000 {
		p.wrote = map[int32]time.Duration{}
	}
	p.wrote[endpoint] = now
	return true
}

// apply stores a write about the endpoint's health.
func (w *world) apply(endpoint int32, write health.Write) bool {
	if write.Kind == health.Nothing {
		return true
	}
	e := &w.endpoints[endpoint]
	was := e.item
	stored, ok := write.Apply(was)
	e.item = stored
	w.stats.aws.writes++
	w.stats.aws.other++
	if ok && was.Version == 0 && stored.Version != 0 {
		if !slices.Contains(w.trouble, endpoint) {
			w.trouble = append(w.trouble, endpoint)
		}
	}
	if s := w.scenario.script; ok && s != nil {
		s.turned(turn{endpoint, w.now, was, stored})
	}
	if ok && was.State != stored.State {
		w.stats.turned(w, endpoint, was.State, stored.State)
	}
	return ok
}
