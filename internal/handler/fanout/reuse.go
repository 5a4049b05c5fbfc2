package fanout

import (
	"sync"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/event"
)

// reasonReused marks an event whose id an event of another content had before. It is delivered all
// the same: its deliveries have ids of their own.
const reasonReused = "event_id_reused"

// remembered is how many events a process remembers at least; it is twice that at most.
const remembered = 10_000

// memory is what a process knows of the events it saw last. It costs no request, and sees neither
// what other processes saw nor what is longer ago.
type memory struct {
	mu            sync.Mutex
	young, elders map[eventKey]delivery.Content
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
