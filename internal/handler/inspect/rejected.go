package inspect

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/event"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// RejectedEvent is one event on EventsDeadLetterQueue.
type RejectedEvent struct {
	MessageID string    `json:"message_id"`
	EventID   string    `json:"event_id"`
	Reason    string    `json:"reason"`
	SentAt    time.Time `json:"sent_at"`
	Bytes     int       `json:"bytes"`
	Body      *string   `json:"body"` // null when the answer has no room for it
}

// maxBodies bounds the bodies in one answer, in bytes: Lambda answers at most 6 MB, and JSON
// can double a body.
const maxBodies = 2 << 20

type rejectedRequest struct {
	Limit    *int      `json:"limit"`
	TenantID string    `json:"tenant_id"`
	Reason   string    `json:"reason"` // a part of it
	Since    time.Time `json:"since"`  // of sent_at, inclusive
	Until    time.Time `json:"until"`  // likewise, exclusive
}

// RejectedList is a list of rejected events.
type RejectedList struct {
	operator.List[RejectedEvent] `json:",embed"`
	Note                         string `json:"note,omitzero"` // limits of the search
}

// maxSearched bounds the events that are received for one answer.
const maxSearched = 1000

const noteSearchedPart = "more events wait than were searched, 1,000 at most: a job counts all that are selected"

// rejectedEvents shows the selected events on EventsDeadLetterQueue. A queue has no pages: there is no cursor, and
// next_cursor is always null.
func (h *Handler) rejectedEvents(ctx context.Context, call *operator.Call, req rejectedRequest) (RejectedList, error) {
	limit, err := operator.Page{Limit: req.Limit}.Size()
	if err != nil {
		return RejectedList{}, err
	}
	selector := job.Selector{TenantID: req.TenantID, Reason: req.Reason, Since: req.Since, Until: req.Until}
	if err := operator.CheckTimes(selector); err != nil {
		return RejectedList{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID))
	if err := h.refuseWhilePublished(ctx); err != nil {
		return RejectedList{}, err
	}
	found, received, all, err := h.look(ctx, selector, limit)
	if err := h.Rejected.Restore(ctx, received); err != nil {
		h.Log.WarnContext(ctx, "rejected events stay hidden for some seconds", telemetry.Cause(err))
	}
	if err == nil {
		err = call.Audit(ctx, auditLines(found)...)
	}
	if err != nil {
		return RejectedList{}, err
	}
	call.Note(slog.Int(telemetry.KeyCount, len(found)))
	list := RejectedList{List: operator.List[RejectedEvent]{Data: showRejected(found)}}
	if len(found) < limit && !all {
		list.Note = noteSearchedPart
	}
	return list, nil
}

// codePublishing refuses a look while a job publishes rejected events.
const codePublishing = "publishing"

// refuseWhilePublished refuses a look that would hide events from a job: the job would meet the queue's end without
// them. A job begins when all looks are over that did not know of it.
func (h *Handler) refuseWhilePublished(ctx context.Context) error {
	for next := ""; ; {
		running, after, err := h.Jobs.List(ctx, job.Running, maxRunning, next)
		if err != nil {
			return err
		}
		for _, j := range running {
			if j.Act == job.Publish {
				return operator.Refuse(codePublishing, "", "the job "+j.ID+" publishes rejected events: look when it is done, "+
					"or stop it")
			}
		}
		if next = after; next == "" {
			return nil
		}
	}
}

// maxRunning is how many jobs are read together.
const maxRunning = 100

// auditLines name the events that are shown.
func auditLines(events []rejected.Event) []audit.Line {
	lines := make([]audit.Line, len(events))
	for n, e := range events {
		lines[n] = audit.Line{MessageID: e.MessageID}
		if tenant := rejected.TenantOf(e); event.ValidTenantID(tenant) { // the field may hold anything
			lines[n].TenantID = tenant
		}
	}
	return lines
}

// look receives until it has found as many as are wanted, the queue is empty, or its time is over. Events received
// before a fault come with it; the bodies of unselected ones are dropped.
func (h *Handler) look(
	ctx context.Context, selector job.Selector, limit int,
) (found, received []rejected.Event, all bool, err error) {
	begun := h.Now()
	for len(found) < limit && len(received) < maxSearched && h.Now().Sub(begun) < rejected.LookTime {
		most := limit - len(found)
		if selector != (job.Selector{}) {
			most = maxSearched - len(received)
		}
		some, err := h.Rejected.Receive(ctx, most, rejected.Glance)
		if err != nil || len(some) == 0 {
			return found, received, true, err
		}
		for _, e := range some {
			if len(found) < limit && e.Selected(selector) {
				found = append(found, e)
			}
			e.Body = ""
			received = append(received, e)
		}
	}
	return found, received, false, nil
}

func showRejected(events []rejected.Event) []RejectedEvent {
	slices.SortStableFunc(events, func(a, b rejected.Event) int { return a.SentAt.Compare(b.SentAt) })
	shown := make([]RejectedEvent, len(events))
	room := maxBodies
	for i, e := range events {
		shown[i] = RejectedEvent{
			MessageID: e.MessageID, EventID: e.EventID, Reason: e.Reason, SentAt: e.SentAt, Bytes: len(e.Body),
		}
		if len(e.Body) <= room {
			room -= len(e.Body)
			shown[i].Body = &e.Body
		}
	}
	return shown
}
