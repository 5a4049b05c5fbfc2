// Package deliver consumes DeliveryQueue, RetryQueue and SlowQueue: it makes one attempt per delivery, or
// none while something stands in its way, and hands every delivery on before it acknowledges it.
//
// A batch flows through steps, each a file, each taking values and returning new ones:
//
//	gather   the records of each delivery become one task
//	look     the endpoints, their tenants' marks and their circuits, in one read
//	decide   attempt it, hold it, put it off, set it aside, discard it or end it
//	slots    of the endpoints with a limit, as many as there are; the rest is held
//	attempt  all POSTs at once; at the same time, tenants are charged for the time that they take
//	next     where each goes after its attempt: delivery.Progress
//	settle   into Backlog, to a queue, or back to its own
//	record   delivery states and circuits
//	report   log and metrics
//
// Four values flow through the steps. A task is a delivery with its records in this batch. A candidate is a task and
// the reading of its endpoint. An attempt is what became of a POST, or why there was none. An end is a candidate with
// its attempt and the next move. A step that changes an end returns a new one.
//
// A place is the number of an attempt in the retry schedule: a POST uses one, a probe and an internal fault use none. A
// probe is the one delivery that is sent to an endpoint with an open circuit, to find out whether it answers. A
// decision says whether there is an attempt, and a move says where the delivery goes afterwards.
//
// A process also keeps a memory between batches (memory.go). The memory saves reads, writes and POSTs. No correct
// answer needs it: a new process begins without it.
//
// The package promises that a message is acknowledged only when its receiver answered 2xx, when its endpoint is
// gone or an operator discarded it, or when it is safely elsewhere; that messages are sent to RetryQueue
// from DeliveryQueue only and to SlowQueue from these two only, so that Lambda's recursion detection never
// counts a chain; that nothing is held before a lease says so; that a panic or a hang in one delivery fails
// no other; and that nothing is in flight any more when it answers. It has no right to delete
// anything.
package deliver

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
)

// reserve is kept back before the function's deadline to hand on unfinished deliveries; answerReserve of it, to
// answer.
const (
	reserve       = 2 * time.Second
	answerReserve = 300 * time.Millisecond
)

// Process handles the records of one invocation, all of one queue. It returns the ids of the messages that go back to
// it.
func (h *Handler) Process(ctx context.Context, records []events.SQSMessage) (failed []string) {
	began := h.Now()
	attempting, cancel := parallel.Deadline(ctx, reserve)
	defer cancel()
	after, done := afterwards(ctx)
	defer done()

	tasks, bad := h.gather(records)
	ends, posts := h.decideAll(attempting, tasks)
	charging := h.startCharging(attempting, posts, ends)
	var aside sync.WaitGroup // must not wait for the slowest attempt of its batch
	aside.Go(func() { ends = h.settleCharged(after, ends, charging) })
	attempts := h.attemptAll(attempting, posts, charging)
	attempted := h.settleCharged(after, h.nextAll(posts, attempts), charging)
	aside.Wait()
	charging.leave()
	ends = append(ends, attempted...)
	h.record(after, ends)
	h.report(after, ends, bad, began)
	for _, u := range bad {
		failed = append(failed, u.record.MessageId)
	}
	for _, e := range ends {
		if e.returned() {
			for _, r := range e.records {
				failed = append(failed, r.MessageId)
			}
		}
	}
	return failed
}

// afterwards is the context of everything that follows a POST: its result is recorded even if ctx has ended.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	after := context.WithoutCancel(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(after, deadline.Add(-answerReserve))
	}
	return after, func() {}
}

// decideAll looks the endpoints up and splits the deliveries: ends need no POST.
func (h *Handler) decideAll(ctx context.Context, tasks []task) (ends []end, posts []candidate) {
	readings := h.look(ctx, tasks)
	now := h.Now()
	posts = make([]candidate, 0, len(tasks))
	for _, t := range tasks {
		c := candidate{t, readings[t.key()]}
		if c.reading.Err != nil {
			ends = append(ends, h.next(c, fault(c.reading.Err, h.Now())))
		} else if d := decide(t, *c.reading, h.Rules, now); d.action != post {
			ends = append(ends, h.unattempted(c, d))
		} else {
			posts = append(posts, c)
		}
	}
	held, posts := h.slots(ctx, posts)
	return append(ends, held...), posts
}
