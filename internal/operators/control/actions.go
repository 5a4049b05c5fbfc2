package control

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// pause stops deliveries to an endpoint, or to all of a tenant's. An attempt that is under way is not stopped. The
// reason is stored with the pause, for the operator who finds it later. A second pause is refused, since it would
// replace that reason.
func (h *Handler) pause(ctx context.Context, call *invoke.Call, req api.Target) (api.ControlAnswer, error) {
	t, err := h.find(ctx, call, req)
	if err != nil {
		return api.ControlAnswer{}, err
	}
	t, changed, err := h.mark(ctx, call, t, audit.Line{Reason: req.Reason}, func(m *endpoint.Marks) bool {
		changed := m.Pause(call.Now, call.Operator, req.Reason)
		if changed {
			m.PauseSite = t.site()
		}
		return changed
	})
	if err != nil {
		return api.ControlAnswer{}, err
	}
	if !changed {
		return api.ControlAnswer{}, t.refuse(api.CodeAlreadyPaused, "is paused already")
	}
	if err := h.lease(ctx, t); err != nil {
		return api.ControlAnswer{}, err
	}
	answer := h.answer(t, api.ResultPaused)
	if !t.found.Tenant.Paused() {
		answer.Note = h.goOn(ctx, t, endpoint.Marks.Paused)
	}
	return answer, nil
}

// mark changes the target's marks, if that changes anything, once the audit log has the line. It returns the target
// with the marks that are stored. The change is tried on a copy first: without an effect it leaves no audit line. The
// store then makes it on the marks that it reads itself, since another operator may have been faster. Orders on further
// endpoints are refused where their tenant has too many.
func (h *Handler) mark(ctx context.Context, call *invoke.Call, t target, line audit.Line,
	change func(*endpoint.Marks) (changed bool),
) (marked target, changed bool, err error) {
	if marks := t.marks(); !change(&marks) {
		return t, false, nil
	}
	if _, marked := t.found.All.Endpoints[t.key.EndpointID]; !t.ofTenant() && !marked && t.found.All.Full() {
		return t, false, t.refuse(api.CodeTooManyOrders,
			"belongs to a tenant with too many orders on single endpoints: pause or limit the tenant, or end some")
	}
	line.TenantID = t.key.TenantID
	line.EndpointID = t.key.EndpointID
	if err := call.Audit(ctx, line); err != nil {
		return t, false, err
	}
	changed, marks, err := h.Endpoints.Mark(ctx, t.key, change)
	return t.with(marks), changed, err
}

// resume ends a pause. Deliveries to an endpoint may still have to wait, for its circuit or another stop. The answer of
// a tenant's resume names such endpoints, so that an operator does not take them for resumed.
func (h *Handler) resume(ctx context.Context, call *invoke.Call, req api.Target) (api.ControlAnswer, error) {
	t, err := h.find(ctx, call, req)
	if err != nil {
		return api.ControlAnswer{}, err
	}
	line := audit.Line{Reason: req.Reason}
	end := func(m *endpoint.Marks) bool { return m.Resume(call.Now) }
	t, changed, err := h.lift(ctx, call, t, line, end, (*endpoint.Marks).LeavePause)
	if err != nil {
		return api.ControlAnswer{}, err
	}
	if !changed {
		return api.ControlAnswer{}, t.refuse(api.CodeNotPaused, "is not paused")
	}
	if err := h.lease(ctx, t); err != nil {
		return api.ControlAnswer{}, err
	}
	answer := h.answer(t, api.ResultResumed)
	if t.ofTenant() {
		answer.Held, answer.Note = h.stillStopped(ctx, t)
	}
	return answer, nil
}

// release has an endpoint's backlog sent now, at the pace of a recovery. It is an order to release, which takes it up
// in its next run. A second order is no fault: it begins another recovery.
func (h *Handler) release(ctx context.Context, call *invoke.Call, req api.Target) (api.ControlAnswer, error) {
	if err := invoke.Required("endpoint_id", req.EndpointID); err != nil {
		return api.ControlAnswer{}, err
	}
	t, err := h.find(ctx, call, req)
	if err != nil {
		return api.ControlAnswer{}, err
	}
	if err := t.unreleasable(); err != nil {
		return api.ControlAnswer{}, err
	}
	if err := h.lease(ctx, t); err != nil { // before the order: an item made after it would not see it
		return api.ControlAnswer{}, err
	}
	at := h.Now().Add(time.Millisecond) // later than an item made now
	line := audit.Line{Reason: req.Reason}
	t, _, err = h.mark(ctx, call, t, line, func(m *endpoint.Marks) bool { return m.Release(at) })
	if err != nil {
		return api.ControlAnswer{}, err
	}
	answer := h.answer(t, api.ResultReleasing)
	answer.Waiting = h.count(ctx, t)
	return answer, nil
}

// discard drops every delivery with a life that began before a given time. release drops the waiting ones in its next
// runs, and deliver drops those on queues.
func (h *Handler) discard(ctx context.Context, call *invoke.Call, req api.DiscardRequest) (api.ControlAnswer, error) {
	before, err := parseBefore(req.DiscardedBefore, call.Now)
	if err != nil {
		return api.ControlAnswer{}, err
	}
	if !req.Confirm {
		return api.ControlAnswer{}, invoke.Invalid("confirm",
			"discarded deliveries are never sent, and that cannot be undone: confirm must be true")
	}
	t, err := h.find(ctx, call, req.Target)
	if err != nil {
		return api.ControlAnswer{}, err
	}
	call.Note(slog.Time("discarded_before", before))
	line := audit.Line{Reason: req.Reason, DiscardedBefore: before}
	t, _, err = h.mark(ctx, call, t, line, func(m *endpoint.Marks) bool { return m.Discard(before) })
	if err != nil {
		return api.ControlAnswer{}, err
	}
	if err := h.lease(ctx, t); err != nil {
		return api.ControlAnswer{}, err
	}
	answer := h.answer(t, api.ResultDiscarding)
	answer.Waiting = h.count(ctx, t)
	if t.ofTenant() {
		answer.Note = noteLater
	}
	return answer, nil
}

// parseBefore reads discarded_before, to the millisecond that is stored. A time in the future would drop events that
// are not yet published. Without a time it is that of the request.
func parseBefore(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return now.Truncate(time.Millisecond), nil
	}
	before, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return time.Time{}, invoke.Invalid("discarded_before", "must be a time such as 2026-01-02T15:04:05Z")
	case before.After(now):
		return time.Time{}, invoke.Invalid("discarded_before", "must not be in the future")
	}
	return before.UTC().Truncate(time.Millisecond), nil
}
