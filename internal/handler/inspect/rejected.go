package inspect

import (
	"context"
	"log/slog"
	"slices"
	"time"

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

const noteSearchedPart = "more events wait than the 1,000 that were searched: a job counts all that are selected"

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
	found, received, err := h.look(ctx, selector, limit)
	if err := h.Rejected.Restore(ctx, received); err != nil {
		h.Log.WarnContext(ctx, "rejected events stay hidden for a minute", telemetry.Cause(err))
	}
	if err != nil {
		return RejectedList{}, err
	}
	call.Note(slog.Int(telemetry.KeyCount, len(found)))
	list := RejectedList{List: operator.List[RejectedEvent]{Data: showRejected(found)}}
	if len(found) < limit && len(received) >= maxSearched {
		list.Note = noteSearchedPart
	}
	return list, nil
}

// look receives until it has found as many as are wanted, or the queue is empty. Events received before a fault come
// with it; the bodies of unselected ones are dropped.
func (h *Handler) look(
	ctx context.Context, selector job.Selector, limit int,
) (found, received []rejected.Event, err error) {
	for len(found) < limit && len(received) < maxSearched {
		most := limit - len(found)
		if selector != (job.Selector{}) {
			most = maxSearched - len(received)
		}
		some, err := h.Rejected.Receive(ctx, most, rejected.Briefly)
		if err != nil || len(some) == 0 {
			return found, received, err
		}
		for _, e := range some {
			if len(found) < limit && e.Selected(selector) {
				found = append(found, e)
			}
			e.Body = ""
			received = append(received, e)
		}
	}
	return found, received, nil
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
