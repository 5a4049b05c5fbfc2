// Package deliver consumes DeliveryQueue and RetryQueue: it makes one attempt per delivery, or
// none while something stands in its way, and hands every delivery on before it acknowledges it.
//
// It promises that a message is acknowledged only when its receiver answered 2xx, when its
// endpoint is gone or an operator discarded it, or when it is safely elsewhere: on RetryQueue, in
// Backlog or on DeadLetterQueue. It promises that what came from RetryQueue is sent to no queue
// but DeadLetterQueue, so that Lambda's recursion detection never counts a chain; that the
// endpoint's health item is stored before any delivery is held; that a panic or a hang in one delivery
// fails that one only; and that nothing is in flight any more when it answers. The attempt itself
// is package delivery's, and so is what follows on it; whether there is one, package health's.
//
// A batch goes through four steps, a file each, none of which calls back up: plan (which
// deliveries are here, and what each needs), attempt (all at once), settle (hold, park and move
// messages, record states and health), report.
package deliver

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/parallel"
)

// reserve is kept back before the function's deadline to hand on what is unfinished;
// answerReserve of it, to answer.
const (
	reserve       = 2 * time.Second
	answerReserve = 300 * time.Millisecond
)

// batch is what one invocation works on.
type batch struct {
	tasks        []*task
	destinations []*destination // of the tasks, in the order of their first
	unreadable   []string       // message ids
}

// Process handles the records of one invocation, all of one queue. It returns the message ids of
// those that go back to it.
func (h *Handler) Process(ctx context.Context, records []events.SQSMessage) (failed []string) {
	began := h.Now()
	attempting, cancel := parallel.Deadline(ctx, reserve)
	defer cancel()
	b := h.decode(attempting, records)
	h.plan(attempting, b)
	h.attempt(attempting, b)

	// The POSTs went out: their results are recorded whatever became of ctx meanwhile.
	settling := context.WithoutCancel(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		var done context.CancelFunc
		settling, done = context.WithDeadline(settling, deadline.Add(-answerReserve))
		defer done()
	}
	h.settle(settling, b)
	h.report(settling, b, began)
	failed = b.unreadable
	for _, t := range b.tasks {
		if t.returned {
			for _, r := range t.records {
				failed = append(failed, r.MessageId)
			}
		}
	}
	return failed
}
