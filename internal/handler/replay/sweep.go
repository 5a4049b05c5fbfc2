package replay

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/event"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// sweep goes once through EventsDeadLetterQueue.
type sweep struct {
	h       *Handler
	call    *operator.Call
	job     job.Job                                       // of a request: zero
	all     bool                                          // that the job selects, otherwise those with the ids
	ids     []string                                      // of messages
	act     func(context.Context, []rejected.Event) []met // on the selected events
	invalid bool                                          // also on those that this version would reject again
}

// met is a received event and its result, "" where it was not selected.
type met struct {
	rejected.Event
	result, reason string
}

// gone reports whether the event does not return to its queue.
func (m met) gone() bool { return m.result == resultReplayed || m.result == resultDiscarded }

// passed reports whether nothing can be done with the event.
func (m met) passed() bool { return m.result == "" || m.result == resultRefused }

// ended gives events one result.
func ended(result, reason string, events ...rejected.Event) (all []met) {
	for _, e := range events {
		all = append(all, met{e, result, reason})
	}
	return all
}

// maxSwept bounds the results of a job's sweep: an invocation has no time for more.
const maxSwept = 100_000

// run receives until the queue is empty, or time or room runs out. What it receives stays hidden for the given time
// unless it is restored before. That each id was met is no reason to stop: an event that was rejected twice lies there
// twice under one message id.
func (s *sweep) run(ctx context.Context, hidden time.Duration) (all []met, complete bool, err error) {
	most := maxIDs
	if s.job.ID != "" {
		most = maxSwept
	}
	for selected := 0; !late(ctx) && selected < most; {
		events, err := s.h.Rejected.Receive(ctx, 10, hidden)
		if err != nil || len(events) == 0 {
			return all, err == nil, err
		}
		some, good := s.split(events)
		if len(good) > 0 {
			some = append(some, s.act(ctx, good)...)
		}
		for _, m := range some {
			m.Body = "" // there can be many
			if m.result != "" {
				selected++
			}
			all = append(all, m)
		}
	}
	return all, false, nil
}

// split tells the events to act on from the others. It refuses those that this version would reject again.
func (s *sweep) split(events []rejected.Event) (others []met, good []rejected.Event) {
	for _, e := range events {
		if !s.selects(e) {
			others = append(others, met{Event: e})
			continue
		}
		if !s.invalid {
			if _, err := event.Decode(withID(e), e.EventID); err != nil {
				others = append(others, met{e, resultRefused, err.Error()})
				continue
			}
		}
		good = append(good, e)
	}
	return others, good
}

func (s *sweep) selects(e rejected.Event) bool {
	if s.all {
		return e.Selected(s.job.Selector)
	}
	return slices.Contains(s.ids, e.MessageID)
}

// restore returns events to their queue.
func (s *sweep) restore(ctx context.Context, all []met) {
	var events []rejected.Event
	for _, m := range all {
		if !m.gone() {
			events = append(events, m.Event)
		}
	}
	if err := s.h.Rejected.Restore(ctx, events); err != nil {
		s.h.Log.WarnContext(ctx, "rejected events stay hidden for a while", telemetry.Cause(err))
	}
}

func (s *sweep) send(ctx context.Context, events []rejected.Event) (all []met) {
	if err := s.audit(ctx, job.Publish, events); err != nil {
		return s.failed(ctx, reasonInternal, err, events...)
	}
	messages := make([]queue.Outgoing, len(events))
	for i, e := range events {
		messages[i] = queue.Outgoing{Body: string(withID(e))}
	}
	sent := s.h.Events.Send(ctx, messages)
	finish, cancel := finishing(ctx)
	defer cancel()
	for i, err := range sent {
		if err != nil {
			all = append(all, s.failed(ctx, reasonNotSent, err, events[i])...)
			continue
		}
		// One that cannot be deleted is on both queues: publishing it twice gives the same delivery ids.
		if err := s.h.Rejected.Delete(finish, events[i]); err != nil {
			s.report(ctx, events[i], err)
		}
		all = append(all, met{events[i], resultReplayed, ""})
	}
	return all
}

func (s *sweep) discard(ctx context.Context, events []rejected.Event) (all []met) {
	if err := s.audit(ctx, "discard_rejected", events); err != nil {
		return s.failed(ctx, reasonInternal, err, events...)
	}
	finish, cancel := finishing(ctx)
	defer cancel()
	for _, e := range events {
		if err := s.h.Rejected.Delete(finish, e); err != nil {
			all = append(all, s.failed(ctx, reasonInternal, err, e)...)
			continue
		}
		all = append(all, met{e, resultDiscarded, ""})
	}
	return all
}

// audit writes a line for each event.
func (s *sweep) audit(ctx context.Context, act job.Act, events []rejected.Event) error {
	lines := make([]audit.Line, len(events))
	for i, e := range events {
		lines[i] = audit.Line{
			Action: string(act), MessageID: e.MessageID, OperatorClaimed: s.job.Operator, JobID: s.job.ID,
		}
		if tenant := rejected.TenantOf(e); event.ValidTenantID(tenant) { // the field may hold anything
			lines[i].TenantID = tenant
		}
	}
	return s.call.Audit(ctx, lines...)
}

// failed reports events that stay on their queue.
func (s *sweep) failed(ctx context.Context, reason string, err error, events ...rejected.Event) []met {
	for _, e := range events {
		s.report(ctx, e, err)
	}
	return ended(resultFailed, reason, events...)
}

func (s *sweep) report(ctx context.Context, e rejected.Event, err error) {
	s.h.Log.ErrorContext(ctx, "rejected event fault",
		slog.String(telemetry.KeyMessage, e.MessageID), slog.String(telemetry.KeyEvent, e.EventID), telemetry.Cause(err))
}
