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

// allow sets how many endpoints a tenant may have at one domain, in place of an earlier number. The stack's own bound
// holds where it is larger, so 0 ends what was allowed. The domain's owner may be somebody else, so a reason is
// required.
func (h *Handler) allow(ctx context.Context, call *invoke.Call, req api.AllowRequest) (api.ControlAnswer, error) {
	if req.EndpointID != "" {
		return api.ControlAnswer{}, invoke.Invalid("endpoint_id", "must be left out: the number is set for a tenant")
	}
	if req.EndpointsPerHost < 0 || req.EndpointsPerHost > endpoint.MostLive {
		return api.ControlAnswer{}, invoke.Invalid("endpoints_per_host", fmt.Sprintf("must be 0 to %d", endpoint.MostLive))
	}
	if err := invoke.Required("reason", req.Reason); err != nil {
		return api.ControlAnswer{}, err
	}
	t, err := h.find(ctx, call, req.Target)
	if err != nil {
		return api.ControlAnswer{}, err
	}
	call.Note(slog.Int("endpoints_per_host", req.EndpointsPerHost))
	line := audit.Line{Reason: req.Reason, EndpointsPerHost: &req.EndpointsPerHost}
	t, changed, err := h.mark(ctx, call, t, line, func(m *endpoint.Marks) bool { return m.Allow(req.EndpointsPerHost) })
	if err != nil {
		return api.ControlAnswer{}, err
	}
	if !changed {
		predicate := fmt.Sprintf("is allowed %d endpoints at one domain already", req.EndpointsPerHost)
		if req.EndpointsPerHost == 0 {
			predicate = "has no allowance to end"
		}
		return api.ControlAnswer{}, t.refuse(api.CodeAlreadyAllowed, predicate)
	}
	answer := h.answer(t, api.ResultAllowed)
	answer.EndpointsPerHost = t.found.Tenant.EndpointsPerHost
	return answer, nil
}
