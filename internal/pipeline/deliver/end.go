package deliver

import (
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// attempt is what became of one attempt. It does not say where the delivery goes: that is for the next step.
type attempt struct {
	// outcome has the reason if no POST was made.
	outcome delivery.Outcome

	// begun is when the POST began, or the wait for the token that it needs. It is zero if there was neither.
	begun time.Time

	// ended is when the POST ended. If there was none, it is when that was decided.
	ended time.Time

	// err is the cause of an internal error, for the log only.
	err error
}

// posted reports whether a POST was begun, or would have been with a token. Without one, the attempt has failed all the
// same.
func (a attempt) posted() bool { return !a.begun.IsZero() }

// notBegun is an attempt without a POST, as when its time ran out.
func notBegun(reason delivery.Reason, now time.Time) attempt {
	return attempt{ended: now, outcome: delivery.Outcome{Reason: reason}}
}

// fault is an attempt that ended with an internal error.
func fault(err error, now time.Time) attempt {
	a := notBegun(delivery.ReasonInternal, now)
	if errors.Is(err, keyring.ErrUnopenable) {
		a.outcome.Reason = delivery.ReasonUnopenable
	}
	a.err = err
	return a
}

// end is the end of one delivery in this batch: its attempt, or the reason for none, and the next move.
type end struct {
	candidate
	attempt
	move delivery.Move // unless it was acknowledged or discarded
}

// moves reports whether the delivery goes on somewhere else or stays on its queue.
func (e end) moves() bool {
	return e.outcome.Verdict == delivery.VerdictRetry || e.outcome.Verdict == delivery.VerdictDead
}

// stores reports whether the delivery is put into Backlog because of its endpoint.
func (e end) stores() bool {
	return e.moves() && e.move.To == delivery.ToBacklog && !e.outcome.Reason.Ours()
}

// returned reports whether the messages go back to their queue.
func (e end) returned() bool { return e.moves() && e.move.To == delivery.Stay }

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

// first reports whether this is the delivery's first attempt, or counts as it. Tests do not: they go to endpoints that
// somebody doubts, so their failures are no news.
func (e end) first() bool {
	return e.from != delivery.RetryQueue && e.place == 1 && !e.message.IsTest()
}

// sent is when the auth service sent the event, or an operator replayed the delivery.
func (e end) sent() time.Time {
	if e.message.Replay > 0 {
		return e.message.Life.StartedAt
	}
	return e.message.CreatedAt
}

// hides reports whether a delivery waits on its own queue, hidden by a visibility timeout.
func (e end) hides() bool { return e.move.To == delivery.Stay && e.from != delivery.DeliveryQueue }

// succeededAtOnce reports whether the first attempt of the delivery succeeded. No process has then written anything
// about it, and no operator waits for its state, as for that of a test.
func (e end) succeededAtOnce() bool {
	return e.outcome.Verdict == delivery.VerdictAcknowledged && e.err == nil && e.firstTime() && !e.message.IsTest()
}

// wait is the time until the next attempt by the schedule.
// It is zero if the endpoint decides when the delivery goes on, because no process knows that moment yet.
func (e end) wait() time.Duration {
	if e.move.Held || e.move.Due.IsZero() {
		return 0
	}
	return max(e.move.Due.Sub(e.ended), 0)
}

// blame says who is at fault if a delivery was not acknowledged: "internal", or "receiver". It is "" if the schedule or
// the tenant decided that nothing is sent now.
func (e end) blame() string {
	switch {
	case e.outcome.Reason.Ours():
		return "internal"
	case e.posted() && e.outcome.Reason != "":
		return "receiver"
	default:
		return ""
	}
}

// number is the attempt's or, if none was made, the previous one's.
func (e end) number() int {
	if e.posted() {
		return e.place
	}
	return e.place - 1
}
