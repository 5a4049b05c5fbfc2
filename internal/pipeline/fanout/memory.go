package fanout

import (
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/recent"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// reasonReused marks an event that reuses the id of an event with another content. It is delivered,
// with other delivery ids than the first.
const reasonReused = "event_id_reused"

// remembered is how many events and tenants a process remembers.
const remembered = 10_000

// memory has the events that a process saw last, and their tenants. It costs no request, and knows neither other
// processes' events nor older ones.
type memory struct {
	mu      sync.Mutex // of the first content of an event
	events  recent.Memory[eventKey, delivery.Content]
	checked recent.Memory[string, time.Time] // tenants that were never charged, when they were read
}

func newMemory() *memory {
	var m memory
	m.events.Bound, m.checked.Bound = remembered, remembered
	return &m
}

// freeFor is the time before a process asks again about a tenant that was never charged: deliver sends on deliveries
// that come too early.
const freeFor = time.Second

// isFree notes that a tenant was read as never charged.
func (m *memory) isFree(tenantID string, now time.Time) { m.checked.Put(tenantID, now) }

// free reports whether a tenant was read as never charged within the last second.
func (m *memory) free(tenantID string, now time.Time) bool {
	read, known := m.checked.Get(tenantID)
	return known && now.Sub(read) < freeFor
}

// eventKey is one publisher's event.
type eventKey struct{ tenantID, eventID string }

// reused reports whether another content was seen under the event's id, and remembers the first.
func (m *memory) reused(e event.Event, c delivery.Content) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := eventKey{e.TenantID, e.ID}
	first, known := m.events.Get(key)
	if known {
		return first != c
	}
	m.events.Put(key, c)
	return false
}
