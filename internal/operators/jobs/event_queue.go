package jobs

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
)

// EventQueue goes through EventsDeadLetterQueue. A queue cannot be read without hiding its messages. So received events
// are restored, or stay hidden on purpose.
type EventQueue struct {
	Queue Rejected
	Jobs  ListedJobs
	Log   *slog.Logger
}

// Look makes a pass for a request, and restores the events that the request leaves. It is refused while a job works
// through the queue, and hides nothing for longer than its invocation may last. Complete says that the queue was empty.
func (q EventQueue) Look(ctx context.Context, s Sweep) (all []Outcome, complete bool, err error) {
	if err := invoke.RefuseWhilePublishing(ctx, q.Jobs); err != nil {
		return nil, false, err
	}
	all, complete, err = q.pass(ctx, s, 0)
	q.restore(ctx, all)
	return all, complete, err
}

// pass receives until the queue is empty, or time or room runs out. Complete says that the queue was empty. That each
// id was met is no reason to stop: an event that was rejected twice lies there twice under one message id. Received
// events stay hidden for so long, unless they are restored before. Zero is until the invocation must end.
func (q EventQueue) pass(ctx context.Context, s Sweep, hide time.Duration) (all []Outcome, complete bool, err error) {
	for selected := 0; !invoke.OutOfTime(ctx) && selected < s.Most; {
		events, err := q.Queue.Receive(ctx, 10, hiding(ctx, hide))
		if err != nil || len(events) == 0 {
			return all, err == nil, err
		}
		for _, o := range s.treat(ctx, events) {
			o.Body = "" // there can be many
			if o.Result != "" {
				selected++
			}
			all = append(all, o)
		}
	}
	return all, false, nil
}

// hiding is for how long an event that is received now stays hidden.
func hiding(ctx context.Context, hide time.Duration) time.Duration {
	deadline, ok := ctx.Deadline()
	if hide > 0 || !ok {
		return cmp.Or(hide, rejected.Briefly)
	}
	return time.Until(deadline)
}

// restore returns the events that have not left their queue, so that they are not hidden any longer. It reports whether
// all of them are back.
func (q EventQueue) restore(ctx context.Context, all []Outcome) bool {
	var events []rejected.Event
	for _, o := range all {
		if !o.gone() {
			events = append(events, o.Event)
		}
	}
	err := q.Queue.Restore(ctx, events)
	if err != nil {
		q.Log.WarnContext(ctx, "rejected events stay hidden for a while", telemetry.Cause(err))
	}
	return err == nil
}
