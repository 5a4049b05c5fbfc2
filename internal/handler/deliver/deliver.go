// Package deliver consumes DeliveryQueue and RetryQueue: it makes one attempt per delivery and
// turns its outcome into what SQS and the delivery record need to know.
//
// It promises that a message is acknowledged only when its receiver answered 2xx, its endpoint
// is gone, or it is safely on RetryQueue; that a panic or a hang in one delivery fails that one
// only; and that nothing is in flight any more when it answers. The attempt itself is package
// delivery's, and so is the place in the schedule.
//
// A batch goes through four steps, a file each, none of which calls back up: plan (which
// deliveries are here, and what each needs), attempt (all at once), settle (move messages,
// change their visibility, record states), report.
package deliver

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/queue"
)

// reserve is kept back before the function's deadline to hand on what is unfinished;
// answerReserve of it, to answer.
const (
	reserve       = 2 * time.Second
	answerReserve = 300 * time.Millisecond
)

// Process handles the records of one invocation, all of one queue. It returns the message ids of
// those that go back to it.
func (h *Handler) Process(ctx context.Context, records []queue.Record) (failed []string) {
	started := h.Now()
	attempting, cancel := parallel.Deadline(ctx, reserve)
	defer cancel()
	tasks, failed := h.decode(attempting, records, started)
	h.plan(attempting, tasks, started)
	h.attempt(attempting, tasks)

	// The POSTs went out: their results are recorded whatever became of ctx meanwhile.
	settling, done := context.WithCancel(context.WithoutCancel(ctx))
	if deadline, ok := ctx.Deadline(); ok {
		settling, done = context.WithDeadline(settling, deadline.Add(-answerReserve))
	}
	defer done()
	h.settle(settling, tasks)
	h.report(settling, tasks)
	for _, t := range tasks {
		if t.returned {
			for _, r := range t.records {
				failed = append(failed, r.MessageID)
			}
		}
	}
	return failed
}
