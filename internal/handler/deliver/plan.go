package deliver

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// life tells deliveries apart: a replay is a delivery of its own.
type life struct {
	deliveryID string
	replay     int
}

// decode gathers the records of each delivery. What cannot be read is reported and left for SQS
// to redrive.
func (h *Handler) decode(ctx context.Context, records []queue.Record, now time.Time) (
	tasks []*task, unreadable []string,
) {
	tasks = make([]*task, 0, len(records))
	known := make(map[life]*task, len(records))
	for i, r := range records {
		m, err := queue.Decode(r)
		if err != nil {
			h.reportUnreadable(ctx, r, err)
			unreadable = append(unreadable, r.MessageID)
			continue
		}
		m.Retrying = r.EventSourceARN == h.RetryQueueARN // whatever put it there
		place := delivery.PlaceOf(h.Schedule, m, queue.ReceiveOf(r), now)
		key := life{m.DeliveryID, m.Replay}
		if t := known[key]; t != nil {
			t.add(r, m, place)
			continue
		}
		t := &task{records: records[i : i+1 : i+1], message: m, place: place, received: now}
		known[key] = t
		tasks = append(tasks, t)
	}
	return tasks, unreadable
}

// plan finds the endpoints in one read and ends every task that needs no POST.
func (h *Handler) plan(ctx context.Context, tasks []*task, now time.Time) {
	for _, t := range tasks {
		if t.place.Early() {
			t.end(delivery.VerdictRetry, delivery.ReasonNotReady)
		}
	}
	h.lookUp(ctx, tasks)
	if slices.ContainsFunc(tasks, func(t *task) bool { return t.pending() && !t.fromRetryQueue() }) {
		if err := h.Hanging.update(ctx, now); err != nil {
			h.Log.WarnContext(ctx, "hanging endpoints not read", telemetry.KeyError, err.Error())
		}
	}
	for _, t := range tasks {
		if t.pending() {
			h.decide(t)
		}
	}
}

func (h *Handler) lookUp(ctx context.Context, tasks []*task) {
	keys := make([]dynamo.EndpointKey, 0, len(tasks))
	seen := make(map[dynamo.EndpointKey]bool, len(tasks))
	for _, t := range tasks {
		if key := t.endpointKey(); t.pending() && !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return
	}
	found, err := h.Endpoints.BatchGet(ctx, keys)
	for _, t := range tasks {
		if !t.pending() {
			continue
		}
		if err != nil {
			t.fail(err)
			continue
		}
		t.endpoint = found[t.endpointKey()] // the zero Endpoint where it does not exist
	}
}

// decide ends what must not be sent now.
func (h *Handler) decide(t *task) {
	switch {
	case t.endpoint.ID == "" || t.endpoint.Status == endpoint.Deleted:
		t.end(delivery.VerdictDiscarded, delivery.ReasonEndpointDeleted)
	case t.place.Exhausted():
		t.end(delivery.VerdictDead, delivery.ReasonExhausted)
	case t.endpoint.Status != endpoint.Active:
		t.end(delivery.VerdictRetry, delivery.ReasonEndpointDisabled)
	case !t.fromRetryQueue() && h.Hanging.diverts(t.endpoint.ID):
		t.end(delivery.VerdictRetry, delivery.ReasonEndpointHanging)
	}
}
