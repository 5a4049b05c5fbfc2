package deliver

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/queue"
)

// life tells deliveries apart: a replay is a delivery of its own.
type life struct {
	deliveryID string
	replay     int
}

// decode gathers the records of each delivery. What cannot be read is reported and left for SQS
// to redrive.
func (h *Handler) decode(ctx context.Context, records []events.SQSMessage) *batch {
	now := h.Now()
	b := &batch{tasks: make([]*task, 0, len(records))}
	room := make([]task, len(records)) // for all tasks at once
	known := make(map[life]*task, len(records))
	destinations := make(map[dynamo.EndpointKey]*destination)
	for i, r := range records {
		m, err := queue.Decode(r)
		if err != nil {
			h.reportUnreadable(ctx, r, err)
			b.unreadable = append(b.unreadable, r.MessageId)
			continue
		}
		m.Retrying = r.EventSourceARN == h.RetryQueueARN // whatever put it there
		read := h.read(m, queue.ReceiveOf(r), now)
		read.from = r.MessageId
		key := life{m.DeliveryID, m.Replay}
		if t := known[key]; t != nil {
			t.add(r, read)
			continue
		}
		t := &room[len(b.tasks)]
		*t = read
		t.records = records[i : i+1 : i+1]
		if t.to = destinations[t.endpointKey()]; t.to == nil {
			t.to = &destination{key: t.endpointKey()}
			destinations[t.to.key] = t.to
			b.destinations = append(b.destinations, t.to)
		}
		known[key] = t
		b.tasks = append(b.tasks, t)
	}
	return b
}

// read finds the place of a message in its schedule, and when its life began.
func (h *Handler) read(m delivery.Message, receive queue.Receive, now time.Time) task {
	t := task{message: m, place: 1, receives: receive.Count}
	switch {
	case !m.Retrying:
	case m.Life == delivery.Life{}:
		h.readOld(&t)
	default:
		t.place = h.Schedule.Place(m.Attempts, receive.Count)
	}
	if t.message.Life.StartedAt.IsZero() {
		if receive.SentAt.IsZero() {
			receive.SentAt = now
		}
		t.message.Life.StartedAt = receive.SentAt
	}
	return t
}

// readOld reads what release 0.1.0 sent to RetryQueue, where every receive used a place, except one
// before not_before.
func (h *Handler) readOld(t *task) {
	m := &t.message
	if !m.NotBefore.IsZero() {
		m.Life.OwnDue = m.NotBefore
		t.receives = max(t.receives-1, 1)
	}
	t.place = min(m.Attempts+t.receives, h.Schedule.Last())
}

// plan finds the endpoints and their health in one read and ends every task that needs no POST.
func (h *Handler) plan(ctx context.Context, b *batch) {
	h.lookUp(ctx, b)
	if slices.ContainsFunc(b.tasks, (*task).pending) {
		h.readNotes(ctx)
	}
	for _, t := range b.tasks {
		if t.pending() {
			h.decide(t)
		}
	}
}

func (h *Handler) lookUp(ctx context.Context, b *batch) {
	if len(b.destinations) == 0 {
		return
	}
	keys := make([]dynamo.EndpointKey, len(b.destinations))
	for i, d := range b.destinations {
		keys[i] = d.key
	}
	found, err := h.Endpoints.Read(ctx, keys)
	if err != nil {
		for _, t := range b.tasks {
			h.fail(t, err)
		}
		return
	}
	now := h.Now()
	for _, d := range b.destinations {
		reading := found[d.key]
		d.endpoint = reading.Endpoint
		d.view = h.memory.view(d.key, reading, h.Thresholds.ViewAge, now)
	}
}

// decide ends the tasks of deliveries that must not be sent now.
func (h *Handler) decide(t *task) {
	if t.to.gone() {
		t.discard(delivery.ReasonEndpointDeleted)
		return
	}
	now := h.Now()
	decision := t.to.view.Decide(t.question(), now)
	switch decision.Action {
	case health.Dropped:
		t.discard(delivery.Reason(decision.Reason))
	case health.Ended:
		h.kill(t, decision)
	case health.Hold:
		h.keep(t, decision)
	case health.Post:
		h.route(t, now)
	}
}

// kill ends a life that is over and must not have another attempt.
func (h *Handler) kill(t *task, decision health.Decision) {
	reason := delivery.Reason(decision.Reason)
	t.end(reason, h.standing(t).Die(reason))
}

// keep holds a delivery.
func (h *Handler) keep(t *task, decision health.Decision) {
	reason := delivery.Reason(decision.Reason)
	if decision.First.Kind != health.Nothing {
		t.to.first = decision.First
	}
	t.end(reason, h.standing(t).Hold(h.Schedule, reason))
}

// route ends the tasks of deliveries that may be sent, but not here and now: slow endpoints leave
// room to the others.
func (h *Handler) route(t *task, now time.Time) {
	life := t.message.Life
	if t.message.NotBefore.After(now) {
		t.end(delivery.ReasonNotReady, h.standing(t).Early(h.Schedule))
		return
	}
	if life.Probe != 0 || life.Last || h.Slow == nil {
		return
	}
	waiting := life.OwnDue
	if waiting.IsZero() {
		waiting = now
	}
	switch route := h.Slow.route(t.queue(), t.to.key.EndpointID, waiting, now); route.To {
	case health.ToRetryQueue:
		t.end(delivery.ReasonEndpointHanging, h.standing(t).AtOnce())
	case health.ToBacklog:
		t.end(delivery.ReasonEndpointHanging, h.standing(t).Later(h.Schedule, route.Due))
	case health.Here:
	}
}

// standing is where the delivery stands now.
func (h *Handler) standing(t *task) delivery.Standing {
	return delivery.Standing{
		Place: t.place, Receives: t.receives, Life: t.message.Life, Now: h.Now(), Random: h.Random(),
	}
}

// fail ends the task with a fault of ours.
func (h *Handler) fail(t *task, err error) {
	t.end(delivery.ReasonInternal, h.standing(t).Fault(h.Schedule))
	t.err = err
}
