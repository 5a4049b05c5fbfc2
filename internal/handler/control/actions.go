package control

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/operator"
)

type request struct {
	EndpointID string `json:"endpoint_id"`
	TenantID   string `json:"tenant_id"`
	Reason     string `json:"reason"` // for the log only
}

// pause stops deliveries to an endpoint, or to all of a tenant's. An attempt that is under way is
// not stopped.
func (h *Handler) pause(ctx context.Context, call *operator.Call, req request) (Answer, error) {
	t, err := h.find(ctx, call, req)
	if err != nil {
		return Answer{}, err
	}
	return h.change(ctx, t, resultPaused, func(i health.Item) (health.Write, health.Refusal) {
		return i.Pause(call.Now)
	})
}

// resume ends a pause.
func (h *Handler) resume(ctx context.Context, call *operator.Call, req request) (Answer, error) {
	t, err := h.find(ctx, call, req)
	if err != nil {
		return Answer{}, err
	}
	return h.change(ctx, t, resultResumed, func(i health.Item) (health.Write, health.Refusal) {
		return i.Resume(call.Now)
	})
}

// release has what waits for an endpoint sent now, at the pace of a recovery.
func (h *Handler) release(ctx context.Context, call *operator.Call, req request) (Answer, error) {
	if err := operator.Required("endpoint_id", req.EndpointID); err != nil {
		return Answer{}, err
	}
	t, err := h.find(ctx, call, req)
	if err != nil {
		return Answer{}, err
	}
	standing := health.Endpoint{Disabled: t.endpoint.Status == endpoint.Disabled}
	answer, err := h.change(ctx, t, resultReleasing, func(i health.Item) (health.Write, health.Refusal) {
		view := t.view
		view.Endpoint = i
		return view.Release(standing, call.Now)
	})
	return h.counted(ctx, answer, err)
}

type discardRequest struct {
	Target          request `json:",embed"`
	DiscardedBefore string  `json:"discarded_before"`
	Confirm         bool    `json:"confirm"`
}

// discard has every delivery dropped whose life began before a given time: by the next runs of
// release if it waits, by deliver if it is on a queue.
func (h *Handler) discard(ctx context.Context, call *operator.Call, req discardRequest) (Answer, error) {
	before, err := parseBefore(req.DiscardedBefore, call.Now)
	if err != nil {
		return Answer{}, err
	}
	if !req.Confirm {
		return Answer{}, operator.Refuse(operator.CodeInvalidField, "confirm",
			"what is discarded is not delivered any more, and that cannot be undone: confirm must be true")
	}
	t, err := h.find(ctx, call, req.Target)
	if err != nil {
		return Answer{}, err
	}
	call.Note(slog.Time("discarded_before", before))
	answer, err := h.change(ctx, t, resultDiscarded, func(i health.Item) (health.Write, health.Refusal) {
		return i.Discard(before, call.Now), ""
	})
	if err == nil && answer.EndpointID == "" {
		answer.Note = noteLater
	}
	return h.counted(ctx, answer, err)
}

// parseBefore reads discarded_before, to the millisecond that is stored.
func parseBefore(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return now.Truncate(time.Millisecond), nil
	}
	before, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return time.Time{}, operator.Refuse(operator.CodeInvalidField, "discarded_before",
			"must be a time such as 2026-01-02T15:04:05Z")
	case before.After(now):
		return time.Time{}, operator.Refuse(operator.CodeInvalidField, "discarded_before", "must not be in the future")
	}
	return before.UTC().Truncate(time.Millisecond), nil
}
