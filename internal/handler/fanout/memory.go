package fanout

import (
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/event"
)

// reasonReused marks an event that reuses the id of an event with another content. It is delivered all
// the same: its deliveries have ids of their own.
const reasonReused = "event_id_reused"

// remembered is how many events a process remembers at least; it is twice that at most.
const remembered = 10_000

// memory has the events that a process saw last, and their tenants. It costs no request, and knows neither other
// processes' events nor older ones.
type memory struct {
	mu            sync.Mutex
	young, elders map[eventKey]delivery.Content
	checked       map[string]time.Time // tenants that were never charged, when they were read
}

// freeFor is the time before a process asks again about a tenant that was never charged: deliver sends on deliveries
// that come too early.
const freeFor = time.Second

func (m *memory) isFree(tenantID string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.checked == nil || len(m.checked) == remembered {
		m.checked = map[string]time.Time{}
	}
	m.checked[tenantID] = now
}

func (m *memory) free(tenantID string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	read, known := m.checked[tenantID]
	return known && now.Sub(read) < freeFor
}

// eventKey is one publisher's event.
type eventKey struct{ tenantID, eventID string }

// reused reports whether another content was seen under the event's id, and remembers the first.
func (m *memory) reused(e event.Event, c delivery.Content) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := eventKey{e.TenantID, e.ID}
	first, known := m.young[key]
	if !known {
		first, known = m.elders[key]
	}
	if known {
		return first != c
	}
	if m.young == nil || len(m.young) == remembered {
		m.young, m.elders = make(map[eventKey]delivery.Content), m.young
	}
	m.young[key] = c
	return false
}
