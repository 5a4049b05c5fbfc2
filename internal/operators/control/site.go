package control

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// site is where a pause or a limit of the target holds for endpoints that its owner creates, moves or restores later.
// That of a tenant holds for all it will have.
func (t target) site() string {
	if t.ofTenant() {
		return ""
	}
	return endpoint.SiteOf(t.found.Endpoint.URL)
}

// lift ends an order on the target: its own, by end, and what others hold at its site, by leave. Nobody has to know
// the endpoint that the order was about, which may be gone for good. The target then has all endpoints at the site,
// since any of them may go on.
func (h *Handler) lift(
	ctx context.Context, call *invoke.Call, t target, line audit.Line, end func(*endpoint.Marks) bool,
	leave func(*endpoint.Marks, endpoint.Endpoint) bool,
) (lifted target, changed bool, err error) {
	own, there := t.key, t.found.Endpoint
	lifted, changed, err = h.mark(ctx, call, t, line, end)
	if err != nil || t.ofTenant() {
		return lifted, changed, err
	}
	for _, id := range t.found.All.Carriers(there) {
		lifted.key.EndpointID = id
		var left bool
		lifted, left, err = h.mark(ctx, call, lifted, line, func(m *endpoint.Marks) bool { return leave(m, there) })
		if err != nil {
			return lifted, false, err
		}
		changed = changed || left
	}
	lifted.key = own
	if changed && t.site() != "" {
		lifted.endpoints, err = h.atSite(ctx, lifted)
	}
	return lifted, changed, err
}

// atSite are the target's endpoint and all others of its tenant that have come to its site.
func (h *Handler) atSite(ctx context.Context, t target) ([]endpoint.Endpoint, error) {
	all, err := h.Endpoints.List(ctx, t.key.TenantID)
	if err != nil && !invoke.Unreadable(err) {
		return nil, err
	}
	there := t.endpoints
	for _, e := range all {
		if e.ID != t.key.EndpointID && e.Site != "" && e.Site == t.site() {
			there = append(there, e)
		}
	}
	return there, nil
}

// goOn tells of the target's tenant's other endpoints at its site for which an order does not hold, since they were
// there before. An owner may have kept them ready. The order is made by then, and does not fail where they cannot be
// read.
func (h *Handler) goOn(ctx context.Context, t target, held func(endpoint.Marks) bool) string {
	if t.site() == "" {
		return ""
	}
	all, err := h.Endpoints.List(ctx, t.key.TenantID)
	if err != nil {
		h.Log.ErrorContext(ctx, "listing endpoints", slog.String(telemetry.KeyTenant, t.key.TenantID), telemetry.Cause(err))
		return "which other endpoints at the domain go on cannot be read now"
	}
	others := 0
	for _, e := range all {
		if e.ID != t.key.EndpointID && e.Live() && endpoint.SiteOf(e.URL) == t.site() && !held(t.found.All.Of(e)) {
			others++
		}
	}
	switch others {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 more endpoint of the tenant at %s goes on as before", t.site())
	}
	return fmt.Sprintf("%d more endpoints of the tenant at %s go on as before", others, t.site())
}
