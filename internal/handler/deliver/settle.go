package deliver

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// stateWrites bounds the concurrent conditional writes of one batch; stateTime, all of its
// writes: what they record is not worth holding an invocation for.
const (
	stateWrites = 10
	stateTime   = 2 * time.Second
)

// settle sends first failures to RetryQueue, returns later ones to it until their next attempt,
// and records the states. Every task has its outcome.
func (h *Handler) settle(ctx context.Context, tasks []*task) {
	var first, later []*task
	for _, t := range tasks {
		switch {
		case !t.needsRetry():
		case t.fromRetryQueue():
			later = append(later, t)
		default:
			first = append(first, t)
		}
	}
	h.sendToRetryQueue(ctx, first)
	h.returnToQueue(ctx, later)
	h.record(ctx, tasks)
}

// sendToRetryQueue moves what failed on DeliveryQueue. Only what could not be sent goes back to
// that queue.
func (h *Handler) sendToRetryQueue(ctx context.Context, tasks []*task) {
	messages := make([]queue.Outgoing, len(tasks))
	for i, t := range tasks {
		t.wait = t.place.Next(h.Random(), t.outcome.RetryAfter, 0)
		m := t.message
		m.Retrying, m.Attempts = true, t.attempts()
		delay := t.wait
		if delay > retry.MaxDelay {
			m.NotBefore, delay = h.Now().Add(delay), retry.MaxDelay
		}
		messages[i] = queue.Of(m, delay)
	}
	for i, err := range h.RetryQueue.Send(ctx, messages) {
		if err != nil {
			tasks[i].returned = true
			h.lost(tasks[i], "SendsLost", err)
		}
	}
}

// returnToQueue makes what failed on RetryQueue invisible there until its next attempt, with all
// its duplicates.
func (h *Handler) returnToQueue(ctx context.Context, tasks []*task) {
	var owners []*task
	var changes []queue.VisibilityChange
	for _, t := range tasks {
		t.returned = true
		t.wait = t.place.Next(h.Random(), t.outcome.RetryAfter, h.Now().Sub(t.received))
		for _, r := range t.records {
			owners = append(owners, t)
			changes = append(changes, queue.VisibilityChange{ReceiptHandle: r.ReceiptHandle, Wait: t.wait})
		}
	}
	for i, err := range h.Visibility.ChangeVisibility(ctx, changes) {
		if err != nil { // it comes back after the queue's own visibility timeout: early, never lost
			h.lost(owners[i], "ParksLost", err)
		}
	}
}

// lost says that SQS did not take what became of an attempt: a fault of ours, whatever the
// receiver did. The message comes back by itself.
func (h *Handler) lost(t *task, metric string, err error) {
	t.err = err
	h.Metrics.Count(metric, 1, telemetry.Dimensions{Fault: "ours"})
	h.Metrics.Count("ResultsLost", 1, telemetry.Dimensions{})
}

// record writes the delivery states. A failed write is logged and counted: the queues know.
func (h *Handler) record(ctx context.Context, tasks []*task) {
	now := h.Now()
	var acknowledged, others []delivery.Record
	for _, t := range tasks {
		switch {
		case t.outcome.Reason == delivery.ReasonExhausted || t.outcome.Reason == delivery.ReasonNotReady:
			// says nothing new
		case t.outcome.Verdict == delivery.VerdictAcknowledged:
			acknowledged = append(acknowledged, t.state(now))
		default:
			others = append(others, t.state(now))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, stateTime)
	defer cancel()
	if err := h.States.Acknowledge(ctx, acknowledged); err != nil {
		h.reportStateLost(ctx, err)
	}
	for _, err := range parallel.Each(len(others), stateWrites, func(i int) error {
		_, err := h.States.Update(ctx, others[i])
		return err
	}) {
		if err != nil {
			h.reportStateLost(ctx, err)
		}
	}
}

func (t *task) state(now time.Time) delivery.Record {
	name, _ := t.message.EventType() // decoded before: cannot fail
	r := delivery.Record{
		Ref: t.message.Ref, EventType: name, State: delivery.Retrying, Attempts: t.attempts(), LastStatus: t.outcome.Status,
		Reason: t.outcome.Reason, DurationMS: t.outcome.Elapsed.Milliseconds(), UpdatedAt: now,
	}
	switch t.outcome.Verdict {
	case delivery.VerdictAcknowledged:
		r.State = delivery.Acknowledged
	case delivery.VerdictDiscarded:
		r.State = delivery.Discarded
	case delivery.VerdictRetry:
		if t.fromRetryQueue() || !t.returned { // back on DeliveryQueue only SQS knows until when
			r.NextAttemptAt = now.Add(t.wait)
		}
	}
	return r
}
