package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
)

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
func (c troubleCounter) count(ctx context.Context) (api.EndpointCounts, error) {
	keys, next, err := c.circuits.Trouble(ctx, maxTrouble, "")
	if err != nil {
		return api.EndpointCounts{}, err
	}
	found, err := c.reader.read(ctx, keys)
	if err != nil {
		return api.EndpointCounts{}, err
	}
	until, more, err := c.circuits.Slow(ctx, maxTrouble)
	if err != nil {
		return api.EndpointCounts{}, err
	}
	// A tenant that was slow may be so no longer: its mark ends by itself.
	slow, paused := c.slow(until), map[string]bool{}
	counts := api.EndpointCounts{
		States: map[api.State]int{}, SlowTenants: len(slow), Slow: slow[:min(len(slow), maxSlow)], More: more || next != "",
	}
	for _, f := range found {
		if state := c.health.state(f); !state.Untroubled() {
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
func (c troubleCounter) slow(until map[string]time.Time) (slow []api.SlowTenant) {
	for tenantID, at := range until {
		if c.allowance.Slow(at, c.now()) {
			slow = append(slow, api.SlowTenant{TenantID: tenantID, Until: c.allowance.End(at)})
		}
	}
	slices.SortFunc(slow, func(a, b api.SlowTenant) int {
		return cmp.Or(b.Until.Compare(a.Until), strings.Compare(a.TenantID, b.TenantID))
	})
	return slow
}
