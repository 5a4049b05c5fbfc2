package control

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// limit sets an operator's limit on an endpoint, or the same one on each endpoint that a tenant has or will have, in
// place of an earlier one. Between it and the owner's limit, the smaller one counts. It lasts until an operator removes
// it. That operator may be another one, so its reason is required.
func (h *Handler) limit(ctx context.Context, call *invoke.Call, req api.LimitRequest) (api.ControlAnswer, error) {
	if req.RateLimit < endpoint.MinRate || req.RateLimit > endpoint.MaxRate {
		bounds := fmt.Sprintf("must be %d to %d deliveries a second", endpoint.MinRate, endpoint.MaxRate)
		return api.ControlAnswer{}, invoke.Invalid("rate_limit", bounds)
	}
	if err := invoke.Required("reason", req.Reason); err != nil {
		return api.ControlAnswer{}, err
	}
	t, err := h.find(ctx, call, req.Target)
	if err != nil {
		return api.ControlAnswer{}, err
	}
	call.Note(slog.Int("rate_limit", req.RateLimit))
	line := audit.Line{Reason: req.Reason, RateLimit: req.RateLimit}
	t, changed, err := h.mark(ctx, call, t, line, func(m *endpoint.Marks) bool {
		changed := m.Limit(req.RateLimit, call.Now, call.Operator, req.Reason)
		if changed {
			m.LimitSite = t.site()
		}
		return changed
	})
	if err != nil {
		return api.ControlAnswer{}, err
	}
	if !changed {
		predicate := fmt.Sprintf("has a limit of %d by an operator already", req.RateLimit)
		return api.ControlAnswer{}, t.refuse(api.CodeAlreadyLimited, predicate)
	}
	answer := h.answerLimit(t, api.ResultLimited)
	answer.Note = h.goOn(ctx, t, func(m endpoint.Marks) bool { return m.RateLimit > 0 })
	return answer, nil
}

// unlimit removes an operator's limit. It leases the endpoints: their waiting deliveries may be sent now.
func (h *Handler) unlimit(ctx context.Context, call *invoke.Call, req api.Target) (api.ControlAnswer, error) {
	t, err := h.find(ctx, call, req)
	if err != nil {
		return api.ControlAnswer{}, err
	}
	t, changed, err := h.lift(ctx, call, t, audit.Line{Reason: req.Reason}, (*endpoint.Marks).Unlimit,
		(*endpoint.Marks).LeaveLimit)
	if err != nil {
		return api.ControlAnswer{}, err
	}
	if !changed {
		return api.ControlAnswer{}, t.refuse(api.CodeNotLimited, "has no limit by an operator")
	}
	if err := h.lease(ctx, t); err != nil {
		return api.ControlAnswer{}, err
	}
	return h.answerLimit(t, api.ResultUnlimited), nil
}

// answerLimit is the answer with the limits as they are now.
func (h *Handler) answerLimit(t target, result api.Result) api.ControlAnswer {
	answer := h.answer(t, result)
	answer.RateLimit = t.found.Endpoint.RateLimit
	answer.OperatorRateLimit = t.found.Endpoint.Marks.RateLimit
	if t.ofTenant() {
		answer.OperatorRateLimit = t.found.Tenant.RateLimit
	}
	return answer
}
