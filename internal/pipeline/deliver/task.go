package deliver

import (
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// task is one delivery with all its records of the batch: one, unless SQS or a resend made
// duplicates, which share one end.
type task struct {
	records  []events.SQSMessage
	message  delivery.Message // of the record that speaks for all
	from     delivery.Queue
	place    int       // in the schedule
	receives int       // of the record that speaks for all
	sentAt   time.Time // to its queue
	noSlot   bool      // the limit of its endpoint has left none
}

// key names the endpoint of the delivery, and with it everything that is read before an attempt.
func (t task) key() dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: t.message.TenantID, EndpointID: t.message.EndpointID}
}

// with joins another record of the delivery. The one at the earliest place of its schedule speaks for
// all: it has the most tries left. Of two at the same place, a probe does.
func (t task) with(other task) task {
	joined := t
	if other.place < t.place || other.place == t.place && other.message.Life.Probe.After(t.message.Life.Probe) {
		joined = other
	}
	joined.records = slices.Concat(t.records, other.records)
	return joined
}

// firstTime reports whether this is the delivery's first message in its first life, received for the first time, and
// without a duplicate in its batch. No process has then written anything about the delivery, unless another message of
// it came before.
func (t task) firstTime() bool {
	return t.place == 1 && t.message.Attempts == 0 && t.message.Life.DueAt.IsZero() && t.message.Replay == 0 &&
		t.from != delivery.RetryQueue && t.receives == 1 && len(t.records) == 1
}

// due is the moment from which a process could have received the delivery, where the message tells it. A first attempt
// tells it, and so does the first receive of a retry that was sent ahead of its time, which SQS rounds up to a second.
// Everything else may have waited for another reason: for a visibility timeout, a recovery, or a job.
func (t task) due() (at time.Time, tells bool) {
	ahead := t.message.Life.DueAt.After(t.sentAt)
	switch {
	case t.receives > 1, len(t.records) > 1, t.message.Replay > 0, !t.message.Life.Probe.IsZero():
		return at, false
	case t.from == delivery.RetryQueue:
		return t.message.Life.DueAt.Add(time.Second), ahead
	}
	return t.sentAt, t.from == delivery.DeliveryQueue && t.firstTime()
}

// unreadable is a record that is no delivery of this version. It is left for SQS to redrive.
type unreadable struct {
	record events.SQSMessage
	err    error
}

// candidate is a task with all that is known of its endpoint.
type candidate struct {
	task
	reading *dynamo.Reading // never nil
}
