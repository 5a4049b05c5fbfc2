package control

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// limitRequest has the limit in deliveries a second.
type limitRequest struct {
	Target    request `json:",embed"`
	RateLimit int     `json:"rate_limit"`
}

// limit sets an operator's limit on an endpoint, in place of one before. The smaller one of it and its owner's counts.
// It lasts until an operator removes it, so its reason is required, for the operator who finds it later.
func (h *Handler) limit(ctx context.Context, call *invoke.Call, req limitRequest) (Answer, error) {
	if err := invoke.Required("endpoint_id", req.Target.EndpointID); err != nil {
		return Answer{}, err
	}
	if req.RateLimit < endpoint.MinRate || req.RateLimit > endpoint.MaxRate {
		bounds := fmt.Sprintf("must be %d to %d deliveries a second", endpoint.MinRate, endpoint.MaxRate)
		return Answer{}, invoke.Invalid("rate_limit", bounds)
	}
	if err := invoke.Required("reason", req.Target.Reason); err != nil {
		return Answer{}, err
	}
	t, err := h.find(ctx, call, req.Target)
	if err != nil {
		return Answer{}, err
	}
	call.Note(slog.Int("rate_limit", req.RateLimit))
	line := audit.Line{Reason: req.Target.Reason, RateLimit: req.RateLimit}
	t, changed, err := h.mark(ctx, call, t, line, func(m *endpoint.Marks) bool {
		return m.Limit(req.RateLimit, call.Now, call.Operator, req.Target.Reason)
	})
	if err != nil {
		return Answer{}, err
	}
	if !changed {
		return Answer{}, t.refuse(codeAlreadyLimited, fmt.Sprintf("has a limit of %d by an operator already", req.RateLimit))
	}
	return t.answerLimit(resultLimited), nil
}

// unlimit removes an operator's limit. It leases the endpoint: its waiting deliveries may be sent now.
func (h *Handler) unlimit(ctx context.Context, call *invoke.Call, req request) (Answer, error) {
	if err := invoke.Required("endpoint_id", req.EndpointID); err != nil {
		return Answer{}, err
	}
	t, err := h.find(ctx, call, req)
	if err != nil {
		return Answer{}, err
	}
	t, changed, err := h.mark(ctx, call, t, audit.Line{Reason: req.Reason}, (*endpoint.Marks).Unlimit)
	if err != nil {
		return Answer{}, err
	}
	if !changed {
		return Answer{}, t.refuse(codeNotLimited, "has no limit by an operator")
	}
	if err := h.lease(ctx, t); err != nil {
		return Answer{}, err
	}
	return t.answerLimit(resultUnlimited), nil
}

// answerLimit is the answer with the limits as they are now.
func (t target) answerLimit(result string) Answer {
	answer := t.answer(result)
	answer.RateLimit = t.found.Endpoint.RateLimit
	answer.OperatorRateLimit = t.found.Endpoint.Marks.RateLimit
	return answer
}
