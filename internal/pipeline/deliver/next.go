package deliver

import (
	"time"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// unattempted is the end of a delivery that needs no POST.
func (h *Handler) unattempted(c candidate, d decision) end {
	e := end{candidate: c, attempt: notBegun(d.reason, h.Now())}
	e.outcome.Verdict = delivery.VerdictDiscarded
	switch p := h.progress(c.task, e.ended); d.action {
	case hold:
		return e.with(p.Hold(h.Rules.Schedule, d.reason))
	case putOff:
		return e.with(p.PutOff(h.Rules.Schedule, c.backoff(c.reading.Circuit, p.Now)))
	case aside:
		return e.with(p.Aside())
	case bury:
		m := p.Bury(d.reason)
		// A dead letter never shows fewer attempts than its message has counted.
		m.Attempts = max(m.Attempts, c.message.Attempts)
		return e.with(m)
	case discard, post:
	}
	return e
}

// nextAll are the ends of the deliveries after their attempts. A panic becomes the internal error of its delivery: the
// others were POSTed by then, and would be POSTed again if their results were lost.
func (h *Handler) nextAll(posts []candidate, attempts []attempt) []end {
	ends := make([]end, len(posts))
	for n, c := range posts {
		err := parallel.Guard(func() error {
			ends[n] = h.next(c, attempts[n])
			return nil
		})
		if err != nil {
			ends[n] = h.next(c, fault(err, h.Now()))
		}
	}
	return ends
}

// next is the end of a delivery after its attempt. The wait counts from the attempt's end.
// An internal error uses no place of the schedule, even after the POST began, since the receiver is not to blame. Its
// wait grows with the receives. A delivery without a POST may be attempted again at once. Any other failure uses a
// place, unless the attempt was a probe.
func (h *Handler) next(c candidate, a attempt) end {
	e := end{candidate: c, attempt: a}
	p := h.progress(c.task, a.ended)
	switch {
	case a.outcome.Verdict == delivery.VerdictAcknowledged:
		return e
	case a.outcome.Reason.Ours():
		return e.with(p.Fault(h.Rules.Schedule))
	case !a.posted():
		return e.with(p.Again())
	}
	return e.with(p.Failed(h.Rules.Schedule, a.outcome))
}

// progress holds the facts of a delivery that the schedule needs (internal/rules/delivery).
func (h *Handler) progress(t task, now time.Time) delivery.Progress {
	return delivery.Progress{
		From: t.from, Place: t.place, Receives: t.receives, Life: t.message.Life, Now: now, Random: h.Random(),
	}
}

// result is the attempt's result for its endpoint's circuit.
func (e end) result() circuit.Result {
	var retryAfter time.Duration
	if e.outcome.Reason == delivery.ReasonHTTP429 {
		retryAfter = e.outcome.RetryAfter
	}
	return circuit.Result{
		RetryAfter: retryAfter,
		DeliveryID: e.message.DeliveryID,
		Begun:      e.begun,
		OK:         e.outcome.Verdict == delivery.VerdictAcknowledged,
		Status:     e.outcome.Status,
		Reason:     string(e.outcome.Reason),
		Retry:      e.place > 1,
		Probe:      e.message.Life.Probe,
	}
}
