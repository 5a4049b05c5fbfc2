package control

import (
	"context"

	"github.com/herald-webhooks/herald/internal/edges/audit"
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
	ctx context.Context, call *invoke.Call, t target, line audit.Line, end func(*endpoint.Marks) bool, leave leave,
) (lifted target, changed bool, err error) {
	own, site := t.key, t.found.Endpoint.Site
	lifted, changed, err = h.mark(ctx, call, t, line, end)
	if err != nil || t.ofTenant() {
		return lifted, changed, err
	}
	for _, id := range t.found.All.Carriers(t.found.Endpoint) {
		lifted.key.EndpointID = id
		var left bool
		lifted, left, err = h.mark(ctx, call, lifted, line, func(m *endpoint.Marks) bool { return leave(m, site) })
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

// leave has marks hold no longer at a site for endpoints that come there. It reports whether they did.
type leave func(m *endpoint.Marks, site string) bool

func leavePause(m *endpoint.Marks, site string) bool {
	held := m.PauseSite == site
	if held {
		m.PauseSite = ""
	}
	return held
}

func leaveLimit(m *endpoint.Marks, site string) bool {
	held := m.LimitSite == site
	if held {
		m.LimitSite = ""
	}
	return held
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
