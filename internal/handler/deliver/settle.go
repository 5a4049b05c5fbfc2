package deliver

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// stateWrites bounds the concurrent conditional writes of one batch; stateTime, all writes of
// states: what they record is not worth holding an invocation for. parkTime bounds the puts into
// Backlog, so that time is left for what cannot be put there.
const (
	stateWrites = 10
	stateTime   = 2 * time.Second
	parkTime    = time.Second
)

// settle hands on every delivery that was not acknowledged or discarded: to where it has to go or,
// where that fails, to the next best. Then it records states and health. Every task has its outcome.
// What is returned goes back to its queue; everything else is acknowledged, and is elsewhere by now.
func (h *Handler) settle(ctx context.Context, b *batch) {
	h.hold(ctx, b)
	h.park(ctx, going(b.tasks, delivery.ToBacklog))
	retries := going(b.tasks, delivery.ToRetryQueue)
	h.sendToRetryQueue(ctx, first(retries))
	later := append(stays(retries), h.sendToDeadLetterQueue(ctx, going(b.tasks, delivery.ToDeadLetterQueue))...)
	h.returnToQueue(ctx, later)
	h.record(ctx, b.tasks)
	h.observe(ctx, b)
}

// first are those that came from DeliveryQueue and were not dealt with while the attempts went on.
func first(tasks []*task) (those []*task) {
	for _, t := range tasks {
		if !t.fromRetryQueue() && !t.sent && !t.returned {
			those = append(those, t)
		}
	}
	return those
}

// stays are those that came from RetryQueue.
func stays(tasks []*task) (those []*task) {
	for _, t := range tasks {
		if t.fromRetryQueue() {
			those = append(those, t)
		}
	}
	return those
}

// going are the tasks whose messages go that way.
func going(tasks []*task, to delivery.Way) (those []*task) {
	for _, t := range tasks {
		if !t.pending() && t.moves() && t.next.To == to {
			those = append(those, t)
		}
	}
	return those
}

// park puts into Backlog what waits there. What could not be put waits on RetryQueue.
func (h *Handler) park(ctx context.Context, tasks []*task) {
	if len(tasks) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, parkTime)
	defer cancel()
	now := h.Now()
	items := make([]backlog.Item, len(tasks))
	for i, t := range tasks {
		m, next := t.message, t.next
		if t.outcome.RetryAfter > 0 {
			m.NotBefore = t.ended.Add(t.outcome.RetryAfter)
		}
		if next.Life.Reason == "" {
			next.Life.Reason = t.outcome.Reason
		}
		items[i] = backlog.New(m, next, now, parking(t.from))
	}
	for i, err := range h.Backlog.Put(ctx, items) {
		if err != nil {
			h.lost(tasks[i], "BacklogPutsLost", err)
			h.fallBack(tasks[i])
		}
	}
}

// parking tells the items of a delivery's messages apart. A message that is parked again, because its
// first put was stored and its answer was lost, overwrites its item: otherwise every receive would make
// one more copy of the delivery.
func parking(messageID string) string {
	sum := sha256.Sum256([]byte(messageID))
	return base32.StdEncoding.EncodeToString(sum[:])[:parkingLetters]
}

// parkingLetters is enough for the dozens of messages that one delivery may become.
const parkingLetters = 10

// fallBack makes a delivery that cannot wait in Backlog wait on RetryQueue. What is held is tried
// again soon, since that costs no POST, and so is what has reached the end of its life.
func (h *Handler) fallBack(t *task) {
	wait := min(t.next.Wait, retry.MaxDelay)
	if t.next.Held || wait <= 0 {
		wait = h.soon(t)
	}
	t.next.To, t.next.Held = delivery.ToRetryQueue, false
	t.next.Wait, t.next.Due = wait, h.Now().Add(wait)
}

// soon is how long a delivery waits that AWS did not take, longer with every receive.
func (h *Handler) soon(t *task) time.Duration {
	return min(h.Schedule.Wait(t.receives, h.Random(), 0, 0), retry.MaxDelay)
}

// sendToRetryQueue moves what came from DeliveryQueue. Only what could not be sent goes back to
// that queue.
func (h *Handler) sendToRetryQueue(ctx context.Context, tasks []*task) {
	now := h.Now()
	messages := make([]queue.Outgoing, len(tasks))
	for i, t := range tasks {
		m := t.message
		m.Attempts, m.Life = t.next.Attempts, t.next.Life
		messages[i] = queue.ToRetryQueue(m, t.rest(now))
	}
	for i, err := range h.RetryQueue.Send(ctx, messages) {
		tasks[i].sent, tasks[i].returned = err == nil, err != nil
		if err != nil {
			h.lost(tasks[i], "SendsLost", err)
		}
	}
}

// rest is what is left of the wait: it counts from the end of the attempt.
func (t *task) rest(now time.Time) time.Duration {
	return min(max(t.next.Due.Sub(now), 0), retry.MaxDelay)
}

// sendToDeadLetterQueue moves what has died. What could not be sent dies another time, on the
// queue it came from: unsent are those that came from RetryQueue.
func (h *Handler) sendToDeadLetterQueue(ctx context.Context, tasks []*task) (unsent []*task) {
	messages := make([]queue.Outgoing, len(tasks))
	for i, t := range tasks {
		m := t.message
		m.Attempts, m.Life = t.next.Attempts, t.next.Life
		messages[i] = queue.ToDeadLetterQueue(m)
	}
	for i, err := range h.DeadLetterQueue.Send(ctx, messages) {
		if err == nil {
			continue
		}
		t := tasks[i]
		h.lost(t, "SendsLost", err)
		t.returned = true
		if t.fromRetryQueue() {
			wait := h.soon(t)
			t.next.Wait, t.next.Due = wait, h.Now().Add(wait)
			unsent = append(unsent, t)
		}
	}
	return unsent
}

// returnToQueue makes what stays on RetryQueue invisible there until its next attempt, with all
// its duplicates.
func (h *Handler) returnToQueue(ctx context.Context, tasks []*task) {
	now := h.Now()
	var owners []*task
	var changes []queue.VisibilityChange
	for _, t := range tasks {
		t.returned = true
		for _, r := range t.records {
			owners = append(owners, t)
			changes = append(changes, queue.VisibilityChange{ReceiptHandle: r.ReceiptHandle, Wait: t.rest(now)})
		}
	}
	for i, err := range h.Visibility.ChangeVisibility(ctx, changes) {
		if err != nil { // it comes back after the queue's own visibility timeout: early, never lost
			h.lost(owners[i], "ParksLost", err)
		}
	}
}

// lost says that AWS did not take what became of a delivery: a fault of ours, whatever the
// receiver did. The message comes back by itself, or waits elsewhere.
func (h *Handler) lost(t *task, metric string, err error) {
	t.err = err
	h.Metrics.Count(metric, 1, telemetry.Dimensions{Fault: "ours"})
	h.Metrics.Count("ResultsLost", 1, telemetry.Dimensions{})
}

// record writes the delivery states. A failed write is logged and counted: the queues know.
func (h *Handler) record(ctx context.Context, tasks []*task) {
	now := h.Now()
	acknowledged, others := make([]delivery.Record, 0, len(tasks)), []delivery.Record(nil)
	for _, t := range tasks {
		switch {
		case t.outcome.Reason == delivery.ReasonNotReady:
			// says nothing new
		case h.Unrecorded && t.firstTime():
			// is not wanted
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
		Ref: t.message.Ref, EventType: name, State: delivery.Retrying, Attempts: t.attempts(),
		LastStatus: t.outcome.Status, Reason: t.outcome.Reason,
		DurationMS: t.outcome.Elapsed.Milliseconds(), UpdatedAt: now,
	}
	switch t.outcome.Verdict {
	case delivery.VerdictAcknowledged:
		r.State = delivery.Acknowledged
	case delivery.VerdictDiscarded:
		r.State = delivery.Discarded
	case delivery.VerdictRetry:
		if t.next.To == delivery.ToBacklog {
			r.State = delivery.Waiting
		}
		if !t.next.Held && (t.fromRetryQueue() || !t.returned) { // back on DeliveryQueue only SQS knows until when
			r.NextAttemptAt = t.next.Due
		}
	}
	return r
}
