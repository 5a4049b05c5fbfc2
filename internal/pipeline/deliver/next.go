package deliver

import (
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// unattempted is the end of a delivery that needs no POST.
func (h *Handler) unattempted(s candidate, d decision) end {
	e := end{
		candidate: s, ended: h.Now(), outcome: delivery.Outcome{Verdict: delivery.VerdictDiscarded, Reason: d.reason},
	}
	switch p := h.progress(s.task); d.action {
	case hold:
		return e.with(p.Hold(h.Rules.Schedule, d.reason))
	case putOff:
		return e.with(p.PutOff(h.Rules.Schedule, s.backoff(s.reading.Circuit, p.Now)))
	case aside:
		return e.with(p.Aside())
	case bury:
		m := p.Bury(d.reason)
		// A dead letter never shows fewer attempts than its message has counted.
		m.Attempts = max(m.Attempts, s.message.Attempts)
		return e.with(m)
	case discard, post:
	}
	return e
}

// attempted is the end of a delivery after its POST. The wait counts from the POST's end.
// An internal error after the POST began uses no place of the schedule, since the receiver is not to blame. Any other
// failure uses one, unless the attempt was a probe.
func (h *Handler) attempted(s candidate, out delivery.Outcome, begun, ended time.Time) end {
	e := end{candidate: s, outcome: out, begun: begun, ended: ended}
	p := h.progress(s.task)
	p.Now = ended
	switch {
	case out.Verdict == delivery.VerdictAcknowledged:
		return e
	case out.Reason.Ours():
		return e.with(p.Fault(h.Rules.Schedule))
	}
	return e.with(p.Failed(h.Rules.Schedule, out))
}

// fault is the end of a delivery after an internal error.
func (h *Handler) fault(s candidate, err error) end {
	reason := delivery.ReasonInternal
	if errors.Is(err, keyring.ErrUnopenable) {
		reason = delivery.ReasonUnopenable
	}
	e := h.notBegun(s, reason)
	e.err = err
	return e
}

// notBegun is the end of a delivery without an attempt, as when its time ran out.
// No place of the schedule is used. The wait after an internal error grows with the receives. Without one, the delivery
// may be attempted again at once.
func (h *Handler) notBegun(s candidate, reason delivery.Reason) end {
	e := end{candidate: s, ended: h.Now(), outcome: delivery.Outcome{Reason: reason}}
	p := h.progress(s.task)
	if reason.Ours() {
		return e.with(p.Fault(h.Rules.Schedule))
	}
	return e.with(p.Again())
}

// progress holds the facts of a delivery that the schedule needs (internal/rules/delivery).
func (h *Handler) progress(t task) delivery.Progress {
	return delivery.Progress{
		From: t.from, Place: t.place, Receives: t.receives, Life: t.message.Life, Now: h.Now(), Random: h.Random(),
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
