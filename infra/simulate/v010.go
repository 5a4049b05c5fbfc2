package main

import (
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/awsmodel"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/retry"
)

// The rules of release 0.1.0: every wait is a visibility timeout of RetryQueue, every
// receive from it is a retry, SQS's redrive ends a life, and an endpoint that kept one batch busy
// is marked for four attempt timeouts, whether it goes on doing so or not.

// markWindow is how long a mark counts.
const markWindow = 4 * attemptTimeout

func (w *world) decideV010(m *mapping, p *process, t *task) {
	switch {
	case m == w.retries && t.receives > schedule.MaxRetries:
		t.fate = unposted
	case m == w.first && slices.Contains(p.marked, t.message.endpoint):
		t.fate, t.reason = divert, string(delivery.ReasonEndpointHanging)
	}
}

func (w *world) settleV010(m *mapping, p *process) {
	var did moved
	for i := range p.batch {
		t := &p.batch[i]
		random := w.random.Float64()
		switch {
		case t.fate == post && t.answer.ok:
			w.stats.acknowledged(w, t)
			m.queue.Delete(t.handle)
			did.deletes, did.acknowledged = did.deletes+1, did.acknowledged+1
		case m == w.first:
			w.stats.waits(w, t)
			wait := schedule.Wait(1, random, 0, 0)
			next := t.message
			next.attempts, next.due = 1, millis(w.now+wait)
			if t.fate != post {
				next.attempts = 0
			}
			w.retries.queue.Send(next, w.group(t.message.endpoint), w.now, awsmodel.Whole(wait))
			m.queue.Delete(t.handle)
			did.deletes, did.sends = did.deletes+1, did.sends+1
		default:
			w.stats.waits(w, t)
			m.queue.ChangeVisibility(t.handle, w.now, w.waitV010(m, p, t, random))
			did.changes++
		}
	}
	w.stats.settled(did)
}

// waitV010 is the visibility timeout until the next attempt: none after the last, so that SQS
// moves the message at once.
func (w *world) waitV010(m *mapping, p *process, t *task, random float64) time.Duration {
	if t.receives >= schedule.MaxRetries {
		return 0
	}
	elapsed := w.now - (p.begin - before)
	wait := schedule.Wait(t.receives+1, random, 0, elapsed)
	m.queue.Message(t.handle).due = millis(w.now + wait)
	return min(awsmodel.Whole(wait), retry.Cap-elapsed)
}

// mark is the note of 0.1.0: it is never taken back.
type mark struct {
	endpoint int32
	process  string
	at       time.Duration
}

// readMarks finds the endpoints whose first attempts are diverted.
func (n *notes) readMarks(now time.Duration) (marked []int32) {
	n.marks = slices.DeleteFunc(n.marks, func(m mark) bool { return now-m.at >= markWindow })
	held := map[int32]int{}
	for _, m := range n.marks {
		held[m.endpoint]++
	}
	for e, holders := range held {
		if holders >= max(1, concurrency/10/len(held)) {
			marked = append(marked, e)
		}
	}
	return marked
}

func (n *notes) mark(endpoint int32, process string, now time.Duration) {
	for i := range n.marks {
		if m := &n.marks[i]; m.endpoint == endpoint && m.process == process {
			if now-m.at >= markWindow/4 {
				m.at = now
			}
			return
		}
	}
	n.marks = append(n.marks, mark{endpoint, process, now})
}
