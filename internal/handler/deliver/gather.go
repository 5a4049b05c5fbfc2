package deliver

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/queue"
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
}

func (t task) key() dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: t.message.TenantID, EndpointID: t.message.EndpointID}
}

// life tells deliveries apart: each replay counts as another delivery.
type life struct {
	deliveryID string
	replay     int
}

// gather makes a task of the records of each delivery. Unreadable ones are reported and left for SQS to redrive.
func (h *Handler) gather(ctx context.Context, records []events.SQSMessage) (tasks []task, unreadable []string) {
	now := h.Now()
	known := make(map[life]int, len(records))
	tasks = make([]task, 0, len(records))
	for i, r := range records {
		m, err := queue.Decode(r)
		if err != nil {
			h.reportUnreadable(ctx, r, err)
			unreadable = append(unreadable, r.MessageId)
			continue
		}
		t := h.read(m, records[i:i+1:i+1], now)
		key := life{m.DeliveryID, m.Replay}
		if n, found := known[key]; found {
			tasks[n] = tasks[n].with(t)
			continue
		}
		known[key] = len(tasks)
		tasks = append(tasks, t)
	}
	return tasks, unreadable
}

// read finds the place of a message in its schedule, and the beginning of its life.
func (h *Handler) read(m delivery.Message, one []events.SQSMessage, now time.Time) task {
	receive := queue.ReceiveOf(one[0])
	if receive.SentAt.IsZero() {
		receive.SentAt = now
	}
	t := task{
		records: one, message: m, from: delivery.DeliveryQueue,
		place: 1, receives: receive.Count, sentAt: receive.SentAt,
	}
	if from, found := h.Queues.ARNs[one[0].EventSourceARN]; found {
		t.from, t.place = from, h.Rules.Schedule.Place(m.Attempts, receive.Count)
	}
	if t.message.Life.StartedAt.IsZero() {
		t.message.Life.StartedAt = receive.SentAt
	}
	return t
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
