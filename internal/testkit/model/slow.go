package model

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/allowance"
)

// Charge moves a tenant's slow_until by d. If slow_until has passed, it becomes now plus d.
func (c Circuits) Charge(ctx context.Context, tenantID string, d time.Duration, now time.Time) (time.Time, error) {
	m := c.model
	return asked(ctx, c.Process, "Charge", tenantID, func() time.Time {
		m.Slow[tenantID] = allowance.Charged(m.Slow[tenantID], d, now)
		return m.Slow[tenantID]
	})
}

// MoveSlow raises or lowers a tenant's slow_until, unless it is beyond that already or forgotten.
func (c Circuits) MoveSlow(ctx context.Context, tenantID string, from, to time.Time) error {
	m := c.model
	return c.one(ctx, "Charge", tenantID, func() {
		if allowance.Moves(m.Slow[tenantID], from, to) {
			m.Slow[tenantID] = to.UTC().Truncate(time.Millisecond)
			m.moved[tenantID] = true
		}
	})
}

// SlowUntil returns the slow_until of tenants that were ever charged.
func (c Circuits) SlowUntil(ctx context.Context, tenantIDs []string) (map[string]time.Time, error) {
	return asked(ctx, c.Process, "Read EndpointHealth", "tenants", func() map[string]time.Time {
		slow := map[string]time.Time{}
		for _, id := range tenantIDs {
			if until, found := c.model.Slow[id]; found {
				slow[id] = until
			}
		}
		return slow
	})
}

// ForgetSlow removes a tenant's number, unless it has been moved.
func (c Circuits) ForgetSlow(ctx context.Context, tenantID string, until time.Time) error {
	return c.one(ctx, "Charge", tenantID, func() {
		if c.model.Slow[tenantID].Equal(until) {
			delete(c.model.Slow, tenantID)
			delete(c.model.moved, tenantID)
		}
	})
}

// Slow returns the moments of at most limit tenants that became slow; more says that there are others.
func (c Circuits) Slow(ctx context.Context, limit int) (slow map[string]time.Time, more bool, err error) {
	m := c.model
	got, err := asked(ctx, c.Process, "List EndpointHealth", "", func() paged[string] {
		return cut(slices.Sorted(maps.Keys(m.moved)), limit, "")
	})
	if err != nil {
		return nil, false, err
	}
	slow, err = c.SlowUntil(ctx, got.page)
	return slow, got.next != "", err
}
