package inspect

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// RejectedEvent is one event on EventsDeadLetterQueue.
type RejectedEvent struct {
	MessageID string     `json:"message_id"`
	EventID   string     `json:"event_id"`
	Reason    string     `json:"reason"`
	SentAt    *time.Time `json:"sent_at"`
	Bytes     int        `json:"bytes"`
	Body      *string    `json:"body"` // null when the answer has no room for it
}

// maxBodies bounds the bodies in one answer, in bytes: Lambda answers at most 6 MB, and JSON
// can double a body.
const maxBodies = 2 << 20

type rejectedRequest struct {
	Limit *int `json:"limit"`
}

// rejectedEvents shows what waits on EventsDeadLetterQueue. A queue has no pages: there is no
// cursor, and next_cursor is always null.
func (h *Handler) rejectedEvents(
	ctx context.Context, call *operator.Call, req rejectedRequest,
) (operator.List[RejectedEvent], error) {
	limit, err := operator.Page{Limit: req.Limit}.Size()
	if err != nil {
		return operator.List[RejectedEvent]{}, err
	}
	events, err := h.look(ctx, limit)
	h.putBack(ctx, events)
	if err != nil {
		return operator.List[RejectedEvent]{}, err
	}
	call.Note(slog.Int(telemetry.KeyCount, len(events)))
	return operator.NewList(showRejected(events), "", ""), nil
}

// look receives up to limit events; those received before a fault come with it.
func (h *Handler) look(ctx context.Context, limit int) (events []rejected.Event, err error) {
	for len(events) < limit {
		some, err := h.Rejected.Receive(ctx, limit-len(events))
		if err != nil || len(some) == 0 {
			return events, err
		}
		events = append(events, some...)
	}
	return events, nil
}

// putBack makes what was received visible again, whatever became of ctx meanwhile.
func (h *Handler) putBack(ctx context.Context, events []rejected.Event) {
	restoring, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := h.Rejected.Restore(restoring, events); err != nil {
		h.Log.WarnContext(ctx, "rejected events stay hidden for a minute", telemetry.KeyError, err.Error())
	}
}

func showRejected(events []rejected.Event) []RejectedEvent {
	slices.SortStableFunc(events, func(a, b rejected.Event) int { return a.SentAt.Compare(b.SentAt) })
	shown := make([]RejectedEvent, len(events))
	room := maxBodies
	for i, e := range events {
		shown[i] = RejectedEvent{
			MessageID: e.MessageID, EventID: e.EventID, Reason: e.Reason, SentAt: timeOrNull(e.SentAt), Bytes: len(e.Body),
		}
		if len(e.Body) <= room {
			room -= len(e.Body)
			shown[i].Body = &e.Body
		}
	}
	return shown
}
