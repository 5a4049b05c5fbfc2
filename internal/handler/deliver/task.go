package deliver

import (
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/queue"
)

// task is one delivery with all its records of the batch: one, unless SQS or a resend made
// duplicates, which share its fate. It is pending until it has an outcome.
type task struct {
	records  []queue.Record
	message  delivery.Message // of the record that speaks for all
	place    delivery.Place   // likewise
	received time.Time        // start of the invocation: SQS's clock started a little earlier
	endpoint endpoint.Endpoint

	outcome  *delivery.Outcome // nil while pending
	posted   bool              // an attempt was begun
	wait     time.Duration     // until the next attempt, when there is one
	returned bool              // its messages go back to the queue they came from
	err      error             // what is behind a fault of ours: for the log only
}

// add takes another record of the delivery. The one that is least far in its schedule speaks for
// all: it has the most tries left.
func (t *task) add(r queue.Record, m delivery.Message, place delivery.Place) {
	t.records = append(t.records, r)
	if place.Before(t.place) {
		t.message, t.place = m, place
	}
}

func (t *task) pending() bool { return t.outcome == nil }

// end gives the task its outcome without an attempt.
func (t *task) end(verdict delivery.Verdict, reason delivery.Reason) {
	t.outcome = &delivery.Outcome{Verdict: verdict, Reason: reason}
}

// fail ends the task with a fault of ours.
func (t *task) fail(err error) {
	t.end(delivery.VerdictRetry, delivery.ReasonInternal)
	t.err = err
}

func (t *task) fromRetryQueue() bool { return t.place.FromRetryQueue() }

// needsRetry also holds of a dead delivery: only SQS's redrive takes it to DeadLetterQueue.
func (t *task) needsRetry() bool {
	return t.outcome.Verdict == delivery.VerdictRetry || t.outcome.Verdict == delivery.VerdictDead
}

// attempts counts the places of the schedule used so far, this attempt included.
func (t *task) attempts() int { return t.place.Used(t.posted) }

func (t *task) endpointKey() dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: t.message.TenantID, EndpointID: t.message.EndpointID}
}
