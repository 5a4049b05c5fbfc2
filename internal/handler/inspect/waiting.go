package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/operator"
)

// EndpointCounts counts endpoints in trouble.
type EndpointCounts struct {
	States        map[string]int `json:"states"`         // none is healthy
	PausedTenants int            `json:"paused_tenants"` // that own one of these endpoints
	SlowTenants   int            `json:"slow_tenants"`   // whose deliveries go through SlowQueue
	Slow          []SlowTenant   `json:"slow"`           // some of them, slow the longest first
	More          bool           `json:"more"`           // than were counted
}

// SlowTenant is a tenant whose deliveries go through SlowQueue until then, or longer if it stays slow.
type SlowTenant struct {
	TenantID string    `json:"tenant_id"`
	Until    time.Time `json:"until"`
}

// Backlogged is the backlog of all endpoints together, at least.
type Backlogged struct {
	Count     int       `json:"count"`
	Held      int       `json:"held"`        // of them wait for their endpoints and not for their schedules
	More      bool      `json:"more"`        // there are more than were counted
	NextDueAt time.Time `json:"next_due_at"` // long past: release does not run
}

// The most that a summary counts.
const (
	maxTrouble  = 1000 // endpoints in trouble, and tenants that became slow
	maxSlow     = 20   // slow tenants that are named
	maxDueShard = 1000 // items of each of the 16 parts of Backlog's index
)

// countTrouble counts endpoints in trouble, and slow tenants.
func (h *Handler) countTrouble(ctx context.Context) (EndpointCounts, error) {
	keys, next, err := h.Circuits.Trouble(ctx, maxTrouble, "")
	if err != nil {
		return EndpointCounts{}, err
	}
	found, err := h.readEndpoints(ctx, keys)
	if err != nil {
		return EndpointCounts{}, err
	}
	until, more, err := h.Circuits.Slow(ctx, maxTrouble)
	if err != nil {
		return EndpointCounts{}, err
	}
	slow, paused := h.slowTenants(until), map[string]bool{}
	counts := EndpointCounts{
		States: map[string]int{}, SlowTenants: len(slow), Slow: slow[:min(len(slow), maxSlow)], More: more || next != "",
	}
	for _, f := range found {
		if state := h.state(f); state != operator.StateHealthy {
			counts.States[state]++
		}
		if f.Tenant.Paused() {
			paused[f.Endpoint.TenantID] = true
		}
	}
	counts.PausedTenants = len(paused)
	return counts, nil
}

// slowTenants are the tenants whose deliveries go through SlowQueue, the last to leave it first.
func (h *Handler) slowTenants(until map[string]time.Time) (slow []SlowTenant) {
	for tenantID, at := range until {
		if h.Allowance.Slow(at, h.Now()) {
			slow = append(slow, SlowTenant{TenantID: tenantID, Until: h.Allowance.End(at)})
		}
	}
	slices.SortFunc(slow, func(a, b SlowTenant) int {
		return cmp.Or(b.Until.Compare(a.Until), strings.Compare(a.TenantID, b.TenantID))
	})
	return slow
}
