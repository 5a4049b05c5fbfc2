package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/allowance"
)

// EndpointCounts counts endpoints in trouble.
type EndpointCounts struct {
	// Endpoints by state. None of them is healthy.
	States map[string]int `json:"states"`

	// Paused tenants with an endpoint among these.
	PausedTenants int `json:"paused_tenants"`

	// Tenants with deliveries that go through SlowQueue.
	SlowTenants int `json:"slow_tenants"`

	// Some of the slow tenants, the ones that stay slow the longest first.
	Slow []SlowTenant `json:"slow"`

	// There are more than were counted.
	More bool `json:"more"`
}

// SlowTenant is a tenant with deliveries that go through SlowQueue until then, or longer if it stays slow.
type SlowTenant struct {
	TenantID string    `json:"tenant_id"`
	Until    time.Time `json:"until"`
}

// The most that a summary counts.
const (
	// Endpoints in trouble, and tenants that became slow.
	maxTrouble = 1000

	// Slow tenants that are named.
	maxSlow = 20
)

// troubleCounter counts endpoints in trouble and slow tenants. It reads the rows of those endpoints, since the index of
// circuits is a moment behind and knows neither pauses nor owners' changes.
type troubleCounter struct {
	circuits  Circuits
	reader    endpointReader
	health    healthView
	allowance allowance.Settings
	now       func() time.Time
}

// count counts endpoints in trouble, and slow tenants.
func (c troubleCounter) count(ctx context.Context) (EndpointCounts, error) {
	keys, next, err := c.circuits.Trouble(ctx, maxTrouble, "")
	if err != nil {
		return EndpointCounts{}, err
	}
	found, err := c.reader.read(ctx, keys)
	if err != nil {
		return EndpointCounts{}, err
	}
	until, more, err := c.circuits.Slow(ctx, maxTrouble)
	if err != nil {
		return EndpointCounts{}, err
	}
	// A tenant that was slow may be so no longer: its mark ends by itself.
	slow, paused := c.slow(until), map[string]bool{}
	counts := EndpointCounts{
		States: map[string]int{}, SlowTenants: len(slow), Slow: slow[:min(len(slow), maxSlow)], More: more || next != "",
	}
	for _, f := range found {
		if state := c.health.state(f); !untroubled(state) {
			counts.States[state]++
		}
		if f.Tenant.Paused() {
			paused[f.Endpoint.TenantID] = true
		}
	}
	counts.PausedTenants = len(paused)
	return counts, nil
}

// slow are the tenants with deliveries that go through SlowQueue, the last to leave it first.
func (c troubleCounter) slow(until map[string]time.Time) (slow []SlowTenant) {
	for tenantID, at := range until {
		if c.allowance.Slow(at, c.now()) {
			slow = append(slow, SlowTenant{TenantID: tenantID, Until: c.allowance.End(at)})
		}
	}
	slices.SortFunc(slow, func(a, b SlowTenant) int {
		return cmp.Or(b.Until.Compare(a.Until), strings.Compare(a.TenantID, b.TenantID))
	})
	return slow
}
