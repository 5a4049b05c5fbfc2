package model

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// Circuits returns the store as the process calls it.
func (p *Process) Circuits() Circuits { return Circuits{Process: p} }

// Circuits is the table EndpointHealth as one process calls it (dynamo.Circuits).
type Circuits struct {
	*Process

	withoutNotices bool
}

// WithoutNotices returns the store that leaves the notices to owners as they are.
func (c Circuits) WithoutNotices() Circuits { return Circuits{c.Process, true} }

const writeHealth = "Write EndpointHealth"

// LeaseKey begins the key of a call that stores a lease, to tell it from a change of state.
const LeaseKey = "lease#"

type stored struct {
	item    circuit.Item
	applied bool
}

// Store changes an item's state, if its version is still was's.
func (c Circuits) Store(ctx context.Context, was, next circuit.Item) (circuit.Item, bool, error) {
	m := c.model
	got, err := asked(ctx, c.Process, writeHealth, next.EndpointID, func() stored {
		now := m.Circuits[next.EndpointID]
		if !now.Seen(was) {
			now.TenantID, now.EndpointID = next.TenantID, next.EndpointID
			return stored{now, reflect.DeepEqual(now, rounded(c.over(now, next)))} // a repeated call is no refusal
		}
		m.Note("%s: %s is %s", c.Name, next.EndpointID, next.State)
		if now.State != next.State {
			m.Turns(now, next)
		}
		m.setCircuit(next.EndpointID, c.over(now, next))
		m.listed[next.EndpointID] = true
		if c.withoutNotices {
			return stored{next, true}
		}
		return stored{m.Circuits[next.EndpointID], true}
	})
	return got.item, got.applied, err
}

// over is next with the fields of now that a change of state leaves as they are.
func (c Circuits) over(now, next circuit.Item) circuit.Item {
	next.HeldUntil = now.HeldUntil
	if c.withoutNotices {
		next.Outage = now.Outage
		next.Pause = now.Pause
		next.Death = now.Death
	}
	return next
}

// Hold stores a lease until then, unless there is a longer one.
func (c Circuits) Hold(ctx context.Context, key dynamo.EndpointKey, until, now time.Time) error {
	m := c.model
	return c.one(ctx, writeHealth, LeaseKey+key.EndpointID, func() {
		i := m.Circuits[key.EndpointID]
		if !i.Grows(until) {
			return
		}
		i.TenantID = key.TenantID
		i.EndpointID = key.EndpointID
		i.HeldUntil = until
		if i.Version == 0 {
			i.Version, i.Since = now.UnixNano(), now
		}
		m.listed[key.EndpointID] = true
		m.Note("%s: %s is held for %s", c.Name, key.EndpointID, time.Until(i.HeldUntil))
		m.setCircuit(key.EndpointID, i)
	})
}

// Clear ends a lease, unless it was prolonged. A lease that has ended already is no refusal.
func (c Circuits) Clear(ctx context.Context, i circuit.Item) (applied bool, err error) {
	cleared := func(now circuit.Item) bool { return now.HeldUntil.IsZero() && now.Version == i.Version }
	return c.end(ctx, i, cleared, func(now circuit.Item) circuit.Item {
		now.HeldUntil = time.Time{}
		return now
	})
}

// Remove deletes an item, unless it has changed. A missing item is no refusal.
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
		if !now.Untouched(i) {
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
	i, err := asked(ctx, c.Process, "Read EndpointHealth", endpointID, func() circuit.Item {
		i := c.model.Circuits[endpointID]
		i.EndpointID = endpointID
		return i
	})
	return i, cmp.Or(err, c.model.readable(brokenCircuit+endpointID))
}

// State returns the state of an item.
func (c Circuits) State(ctx context.Context, endpointID string) (circuit.State, error) {
	return asked(ctx, c.Process, "Read EndpointHealth", endpointID, func() circuit.State {
		return c.model.Circuits[endpointID].State
	})
}

// All returns all items, and slow_until by tenant.
func (c Circuits) All(ctx context.Context) (items []circuit.Item, slow map[string]time.Time, err error) {
	m := c.model
	var unreadable error
	err = c.one(ctx, "Scan EndpointHealth", "", func() {
		for _, id := range slices.Sorted(maps.Keys(m.Circuits)) {
			if m.broken[brokenCircuit+id] {
				unreadable = errUnreadable
				continue
			}
			items = append(items, m.Circuits[id])
		}
		slow = maps.Clone(m.Slow)
	})
	if err != nil { // a caller that gave up sees nothing of a late answer
		return nil, nil, err
	}
	return items, slow, unreadable
}

// Trouble names the endpoints that had a state or a lease, by id, at most limit on a page.
func (c Circuits) Trouble(
	ctx context.Context, limit int, cursor string,
) (keys []dynamo.EndpointKey, next string, err error) {
	m := c.model
	got, err := asked(ctx, c.Process, "List EndpointHealth", "", func() (p paged[string]) {
		var listed []string
		for id, i := range m.Circuits {
			if m.listed[id] || i.InTrouble() {
				listed = append(listed, id)
			}
		}
		slices.Sort(listed)
		return cut(listed, limit, cursor)
	})
	for _, id := range got.page {
		keys = append(keys, dynamo.EndpointKey{TenantID: m.tenantOf(id), EndpointID: id})
	}
	return keys, got.next, cmp.Or(err, got.err)
}

func (m *Model) tenantOf(endpointID string) string {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	return m.Circuits[endpointID].TenantID
}

// MarkDeath notes a dead letter, unless one was noted since, or the endpoint is another tenant's.
func (c Circuits) MarkDeath(ctx context.Context, key dynamo.EndpointKey, death circuit.Spell, before time.Time) error {
	m := c.model
	return c.one(ctx, writeHealth, key.EndpointID, func() {
		i := m.Circuits[key.EndpointID]
		if !i.TakesDeath(key.TenantID, before) {
			return
		}
		if i.Version == 0 {
			i.Version, i.Since = death.At.UnixNano(), death.At
		}
		i.TenantID = key.TenantID
		i.EndpointID = key.EndpointID
		i.Death = death
		i.Version++
		m.setCircuit(key.EndpointID, i)
	})
}
