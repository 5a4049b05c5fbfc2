package model

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/dynamo"
)

// Circuits returns the store as the process calls it.
func (p *Process) Circuits() Circuits { return Circuits{p} }

// Circuits is the table EndpointHealth as one process calls it (dynamo.Circuits).
type Circuits struct{ *Process }

const writeHealth = "Write EndpointHealth"

type stored struct {
	item    circuit.Item
	applied bool
}

// Store changes an item's state, if its version is still was's.
func (c Circuits) Store(ctx context.Context, was, next circuit.Item) (circuit.Item, bool, error) {
	m := c.model
	got, err := asked(ctx, c.Process, writeHealth, next.EndpointID, func() stored {
		now := m.Circuits[next.EndpointID]
		if now.Version != was.Version {
			now.TenantID, now.EndpointID = next.TenantID, next.EndpointID
			return stored{now, sameState(now, next)}
		}
		m.Note("%s: %s is %s", c.Name, next.EndpointID, next.State)
		if now.State != next.State {
			m.Turns(now, next)
		}
		next.HeldUntil = now.HeldUntil
		m.setCircuit(next.EndpointID, next)
		return stored{m.Circuits[next.EndpointID], true}
	})
	return got.item, got.applied, err
}

// sameState reports whether next is stored already, but for the lease: a repeated call is no refusal.
func sameState(now, next circuit.Item) bool {
	now.HeldUntil, next.HeldUntil = time.Time{}, time.Time{}
	return reflect.DeepEqual(now, rounded(next))
}

// Hold stores a lease until then, unless there is a longer one.
func (c Circuits) Hold(ctx context.Context, key dynamo.EndpointKey, until, now time.Time) error {
	m := c.model
	return c.one(ctx, writeHealth, key.EndpointID, func() {
		i := m.Circuits[key.EndpointID]
		i.TenantID, i.EndpointID = key.TenantID, key.EndpointID
		if i.Version == 0 {
			i.Version, i.Since = now.UnixNano(), now
		}
		if until.After(i.HeldUntil) {
			i.HeldUntil = until
		}
		m.Note("%s: %s is held for %s", c.Name, key.EndpointID, time.Until(i.HeldUntil))
		m.setCircuit(key.EndpointID, i)
	})
}

// Clear ends a lease that nobody has prolonged; of one that has ended already, it is no refusal.
func (c Circuits) Clear(ctx context.Context, i circuit.Item) (applied bool, err error) {
	cleared := func(now circuit.Item) bool { return now.HeldUntil.IsZero() && now.Version == i.Version }
	return c.end(ctx, i, cleared, func(now circuit.Item) circuit.Item {
		now.HeldUntil = time.Time{}
		return now
	})
}

// Remove deletes an item that nobody has changed; of one that is gone, it is no refusal.
func (c Circuits) Remove(ctx context.Context, i circuit.Item) (applied bool, err error) {
	gone := func(now circuit.Item) bool { return now.Version == 0 }
	return c.end(ctx, i, gone, func(circuit.Item) circuit.Item { return circuit.Item{} })
}

func (c Circuits) end(
	ctx context.Context, i circuit.Item, again func(circuit.Item) bool, change func(circuit.Item) circuit.Item,
) (bool, error) {
	m := c.model
	return asked(ctx, c.Process, writeHealth, i.EndpointID, func() bool {
		now := m.Circuits[i.EndpointID]
		if now.Version != i.Version || !now.HeldUntil.Equal(i.HeldUntil) {
			return again(now)
		}
		next := change(now)
		m.Note("%s: %s has no lease (removed: %v)", c.Name, i.EndpointID, next.Version == 0)
		m.setCircuit(i.EndpointID, next)
		return true
	})
}

// Get reads an item, strongly consistent.
func (c Circuits) Get(ctx context.Context, endpointID string) (circuit.Item, error) {
	return asked(ctx, c.Process, "Read EndpointHealth", endpointID, func() circuit.Item {
		i := c.model.Circuits[endpointID]
		i.EndpointID = endpointID
		return i
	})
}

// All returns all items, and slow_until by tenant.
func (c Circuits) All(ctx context.Context) (items []circuit.Item, slow map[string]time.Time, err error) {
	m := c.model
	err = c.one(ctx, "Scan EndpointHealth", "", func() {
		for _, id := range slices.Sorted(maps.Keys(m.Circuits)) {
			items = append(items, m.Circuits[id])
		}
		slow = maps.Clone(m.Slow)
	})
	if err != nil { // whoever gave up sees nothing of a late answer
		return nil, nil, err
	}
	return items, slow, nil
}

// Charge moves a tenant's slow_until by d, from now where it has passed.
func (c Circuits) Charge(ctx context.Context, tenantID string, d time.Duration, now time.Time) (time.Time, error) {
	m := c.model
	return asked(ctx, c.Process, "Charge", tenantID, func() time.Time {
		from := m.Slow[tenantID]
		if !from.After(now) {
			from = now
		}
		m.Slow[tenantID] = from.Add(d)
		return m.Slow[tenantID]
	})
}

// MoveSlow raises or lowers a tenant's slow_until, if that is still a raise or a lowering.
func (c Circuits) MoveSlow(ctx context.Context, tenantID string, from, to time.Time) error {
	m := c.model
	return c.one(ctx, "Charge", tenantID, func() {
		now := m.Slow[tenantID]
		if to.After(from) && now.Before(to) || to.Before(from) && now.After(to) {
			m.Slow[tenantID] = to
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

// ForgetSlow removes a tenant's number that nobody has moved.
func (c Circuits) ForgetSlow(ctx context.Context, tenantID string, until time.Time) error {
	return c.one(ctx, "Charge", tenantID, func() {
		if c.model.Slow[tenantID].Equal(until) {
			delete(c.model.Slow, tenantID)
		}
	})
}
