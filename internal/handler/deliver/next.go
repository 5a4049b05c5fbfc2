package deliver

import (
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/keyring"
)

// end is the end of one delivery in this batch: the outcome of its attempt, or the reason for none, and
// the next move.
type end struct {
	sight
	outcome delivery.Outcome
	begun   time.Time     // of the POST; zero: there was none
	ended   time.Time     // of the POST; without one, the moment of the decision
	move    delivery.Move // unless it was acknowledged or discarded
	err     error         // the cause of an internal error, for the log only
}

// moves reports whether the delivery goes on somewhere else or stays on its queue.
func (e end) moves() bool {
	return e.outcome.Verdict == delivery.VerdictRetry || e.outcome.Verdict == delivery.VerdictDead
}

// returned reports whether the messages go back to their queue.
func (e end) returned() bool { return e.moves() && e.move.To == delivery.Stay }

// posted reports whether an attempt was begun.
func (e end) posted() bool { return !e.begun.IsZero() }

// counts reports whether an attempt was made and says something about its endpoint. A test does not: an
// operator would open or close a circuit with it.
func (e end) counts() bool { return e.posted() && !e.outcome.Reason.Ours() && !e.message.IsTest() }

// places counts the places of the schedule used so far, this attempt included.
func (e end) places() int {
	switch {
	case e.moves():
		return e.move.Attempts
	case e.posted():
		return e.place
	default:
		return e.place - 1
	}
}

// with is the end with its next move. A test ends where any other delivery would wait or die. Only the move to
// SlowQueue is left to a test, since its one attempt may be made there.
func (e end) with(m delivery.Move) end {
	if e.message.IsTest() && m.To != delivery.ToSlowQueue {
		e.outcome.Verdict = delivery.VerdictDiscarded
		return e
	}
	e.move = m
	e.outcome.Verdict = delivery.VerdictRetry
	if m.To == delivery.ToDeadLetterQueue {
		e.outcome.Verdict = delivery.VerdictDead
	}
	return e
}

// unattempted is the end of a delivery that needs no POST.
func (h *Handler) unattempted(s sight, d decision) end {
	e := end{
		sight: s, ended: h.Now(), outcome: delivery.Outcome{Verdict: delivery.VerdictDiscarded, Reason: d.reason},
	}
	switch p := h.progress(s.task); d.action {
	case hold:
		return e.with(p.Hold(h.Rules.Schedule, d.reason))
	case aside:
		return e.with(p.Aside())
	case bury:
		m := p.Bury(d.reason)
		m.Attempts = max(m.Attempts, s.message.Attempts)
		return e.with(m)
	case discard, post:
	}
	return e
}

// attempted is the end of a delivery after its POST. The wait counts from the POST's end.
func (h *Handler) attempted(s sight, out delivery.Outcome, begun, ended time.Time) end {
	e := end{sight: s, outcome: out, begun: begun, ended: ended}
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
func (h *Handler) fault(s sight, err error) end {
	reason := delivery.ReasonInternal
	if errors.Is(err, keyring.ErrUnopenable) {
		reason = delivery.ReasonUnopenable
	}
	e := h.notBegun(s, reason)
	e.err = err
	return e
}

// notBegun is the end of a delivery without an attempt, as when its time ran out.
func (h *Handler) notBegun(s sight, reason delivery.Reason) end {
	e := end{sight: s, ended: h.Now(), outcome: delivery.Outcome{Reason: reason}}
	p := h.progress(s.task)
	if reason.Ours() {
		return e.with(p.Fault(h.Rules.Schedule))
	}
	return e.with(p.Again())
}

func (h *Handler) progress(t task) delivery.Progress {
	return delivery.Progress{
		From: t.from, Place: t.place, Receives: t.receives, Life: t.message.Life, Now: h.Now(), Random: h.Random(),
	}
}

// result is the attempt's result for its endpoint's circuit.
func (e end) result() circuit.Result {
	return circuit.Result{
		DeliveryID: e.message.DeliveryID,
		Begun:      e.begun,
		OK:         e.outcome.Verdict == delivery.VerdictAcknowledged,
		Status:     e.outcome.Status,
		Reason:     string(e.outcome.Reason),
		Retry:      e.place > 1,
		Probe:      e.message.Life.Probe,
	}
}
