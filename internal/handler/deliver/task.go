package deliver

import (
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
)

// task is one delivery with all its records of the batch: one, unless SQS or a resend made
// duplicates, which share its fate. It is pending until it has an outcome.
type task struct {
	records  []events.SQSMessage
	message  delivery.Message // of the record that speaks for all
	place    int              // in the schedule, likewise
	receives int              // likewise
	from     string           // likewise: its message id
	to       *destination

	outcome  *delivery.Outcome // nil while pending
	made     delivery.Outcome  // of the attempt, if there was one
	next     delivery.Next     // where it goes, unless it was acknowledged or discarded
	begun    time.Time         // when the attempt began; zero: there was none
	ended    time.Time         // when it ended
	sent     bool              // it is on RetryQueue
	returned bool              // its messages go back to the queue they came from
	err      error             // what is behind a fault of ours: for the log only
}

// add takes another record of the delivery. The one at the earliest place of its schedule speaks for
// all: it has the most tries left. Of two at the same place, a probe does.
func (t *task) add(r events.SQSMessage, other task) {
	t.records = append(t.records, r)
	if other.place < t.place || other.place == t.place && other.message.Life.Probe > t.message.Life.Probe {
		t.message, t.place, t.receives, t.from = other.message, other.place, other.receives, other.from
	}
}

func (t *task) pending() bool { return t.outcome == nil }

// posted reports whether an attempt was begun.
func (t *task) posted() bool { return !t.begun.IsZero() }

// firstTime reports whether this was the delivery's first message in its first life, received for the
// first time and without a duplicate beside it, and its attempt succeeded: no process has written
// anything about it, unless another message of the same delivery came before.
func (t *task) firstTime() bool {
	return t.posted() && t.outcome.Verdict == delivery.VerdictAcknowledged && t.err == nil &&
		!t.fromRetryQueue() && t.message.Replay == 0 && t.receives == 1 && len(t.records) == 1
}

// discard ends a delivery that nobody wants any more.
func (t *task) discard(reason delivery.Reason) {
	t.outcome = &delivery.Outcome{Verdict: delivery.VerdictDiscarded, Reason: reason}
}

// end says where the delivery goes without an attempt, and why.
func (t *task) end(reason delivery.Reason, next delivery.Next) {
	t.outcome = &delivery.Outcome{Verdict: verdictOf(next), Reason: reason}
	t.next = next
}

func verdictOf(n delivery.Next) delivery.Verdict {
	if n.To == delivery.ToDeadLetterQueue {
		return delivery.VerdictDead
	}
	return delivery.VerdictRetry
}

func (t *task) fromRetryQueue() bool { return t.message.Retrying }

func (t *task) queue() health.Queue {
	if t.fromRetryQueue() {
		return health.RetryQueue
	}
	return health.DeliveryQueue
}

// moves reports whether the delivery goes on somewhere else or stays on RetryQueue.
func (t *task) moves() bool {
	return t.outcome.Verdict == delivery.VerdictRetry || t.outcome.Verdict == delivery.VerdictDead
}

// attempts counts the places of the schedule used so far, this attempt included.
func (t *task) attempts() int {
	switch {
	case t.moves():
		return t.next.Attempts
	case t.posted():
		return t.place
	default:
		return t.place - 1
	}
}

// question is what decides about a delivery in hand.
func (t *task) question() health.Question {
	life := t.message.Life
	return health.Question{
		Disabled: t.to.disabled(), StartedAt: life.StartedAt, DiesAt: life.DiesAt, Probe: life.Probe, Last: life.Last,
	}
}

// result is what the attempt says about the endpoint's health.
func (t *task) result() health.Result {
	life := t.message.Life
	return health.Result{
		DeliveryID: t.message.DeliveryID,
		Begun:      t.begun,
		OK:         t.outcome.Verdict == delivery.VerdictAcknowledged,
		Status:     t.outcome.Status,
		Reason:     string(t.outcome.Reason),
		Retry:      t.place > 1,
		Probe:      life.Probe,
		Last:       life.Last,
	}
}

func (t *task) endpointKey() dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: t.message.TenantID, EndpointID: t.message.EndpointID}
}
