package inspect

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// maxBodies bounds the bodies in one answer, in bytes: Lambda answers at most 6 MB, and JSON
// can double a body.
const maxBodies = 2 << 20

// maxSearched bounds the events that are received for one answer.
const maxSearched = 1000

const noteSearchedPart = "more events wait than were searched, 1,000 at most: a job counts all that are selected"

// rejectedView looks at EventsDeadLetterQueue. A queue cannot be looked at without hiding its events for a while, so it
// restores all that it has received.
type rejectedView struct {
	queue Rejected
	meter queueMeter
	jobs  Jobs
	log   *slog.Logger
	now   func() time.Time
}

// show shows the selected events on EventsDeadLetterQueue. A queue has no pages: there is no cursor, and
// next_cursor is always null.
func (v rejectedView) show(ctx context.Context, call *invoke.Call, req api.RejectedRequest) (api.RejectedList, error) {
	limit, err := invoke.Size(req.Limit)
	if err != nil {
		return api.RejectedList{}, err
	}
	selector := job.Selector{
		TenantID: req.TenantID, EventID: req.EventID, Reason: req.Reason, Since: req.Since, Until: req.Until,
	}
	if err := invoke.CheckTimes(selector); err != nil {
		return api.RejectedList{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID))
	if req.EventID != "" {
		return v.find(ctx, call, selector, limit)
	}
	if err := invoke.RefuseWhilePublishing(ctx, v.jobs); err != nil {
		return api.RejectedList{}, err
	}
	found, received, all, err := v.look(ctx, selector, limit)
	v.restore(ctx, received)
	if err == nil {
		err = call.Audit(ctx, auditLines(found)...)
	}
	if err != nil {
		return api.RejectedList{}, err
	}
	call.Note(slog.Int(telemetry.KeyCount, len(found)))
	list := api.RejectedList{List: api.List[api.RejectedEvent]{Data: showRejected(found)}}
	if len(found) < limit && !all {
		list.Note = noteSearchedPart
	}
	return list, nil
}

// restore returns received events to their queue.
func (v rejectedView) restore(ctx context.Context, received []rejected.Event) {
	if err := v.queue.Restore(ctx, received); err != nil {
		v.log.WarnContext(ctx, "rejected events stay hidden for some seconds", telemetry.Cause(err))
	}
}

// auditLines name the events that are shown. Their bodies are, so each has a line.
func auditLines(events []rejected.Event) []audit.Line {
	lines := make([]audit.Line, len(events))
	for n, e := range events {
		lines[n] = audit.Line{MessageID: e.MessageID, TenantID: rejected.TenantOf(e)}
	}
	return lines
}

// look receives until it has found as many as are wanted, the queue is empty, or its time is over. Events received
// before a fault come with it, so that they are restored. The bodies of unselected ones are dropped: there can be many.
func (v rejectedView) look(
	ctx context.Context, selector job.Selector, limit int,
) (found, received []rejected.Event, all bool, err error) {
	chosen, begun := chosenBy(selector), v.now()
	for len(found) < limit && len(received) < maxSearched && v.now().Sub(begun) < rejected.LookTime {
		most := limit - len(found)
		// Where there is a selection, those that are wanted may be few among all.
		if selector != (job.Selector{}) {
			most = maxSearched - len(received)
		}
		some, err := v.queue.Receive(ctx, most, rejected.Glance)
		if err != nil || len(some) == 0 {
			return found, received, true, err
		}
		for _, e := range some {
			if len(found) < limit && chosen(e) {
				found = append(found, e)
			}
			e.Body = ""
			received = append(received, e)
		}
	}
	return found, received, false, nil
}

// showRejected shows events, the oldest first. The bodies of later ones are left out where the answer is full.
func showRejected(events []rejected.Event) []api.RejectedEvent {
	slices.SortStableFunc(events, func(a, b rejected.Event) int { return a.SentAt.Compare(b.SentAt) })
	shown := make([]api.RejectedEvent, len(events))
	room := maxBodies
	for i, e := range events {
		shown[i] = api.RejectedEvent{
			MessageID: e.MessageID, EventID: e.EventID, Reason: e.Reason, SentAt: e.SentAt, Bytes: len(e.Body),
		}
		if len(e.Body) <= room {
			room -= len(e.Body)
			shown[i].Body = &e.Body
		}
	}
	return shown
}
