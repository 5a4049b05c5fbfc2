package deliver

import (
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// life tells deliveries apart: each replay counts as another delivery.
// A batch may hold a delivery and its replay. Each of the two gets its own attempt and its own end.
type life struct {
	deliveryID string
	replay     int
}

// gather makes a task of the records of each delivery.
func (h *Handler) gather(records []events.SQSMessage) (tasks []task, bad []unreadable) {
	now := h.Now()
	known := make(map[life]int, len(records))
	tasks = make([]task, 0, len(records))
	for i, r := range records {
		m, err := queue.Decode(r)
		if err != nil {
			bad = append(bad, unreadable{r, err})
			continue
		}
		// The slice has no spare capacity, so that no append to it can reach the next record.
		t := h.read(m, records[i:i+1:i+1], now)
		key := life{m.DeliveryID, m.Replay}
		if n, found := known[key]; found {
			tasks[n] = tasks[n].with(t)
			continue
		}
		known[key] = len(tasks)
		tasks = append(tasks, t)
	}
	return tasks, bad
}

// read finds the place of a message in its schedule, and the beginning of its life.
// A message of DeliveryQueue stands at the first place, however often it was received. In the other queues, the place
// follows from the attempts that the message counts and from its receives.
func (h *Handler) read(m delivery.Message, one []events.SQSMessage, now time.Time) task {
	receive := queue.ReceiveOf(one[0])
	if receive.SentAt.IsZero() {
		// Without this, a record that does not say when it was sent would have a life with no beginning.
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
