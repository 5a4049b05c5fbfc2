package deliver

import (
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
)

// memory is what a process keeps from batch to batch: the last views of endpoints in trouble, and
// when it last wrote that one of them failed. The zero memory is empty.
type memory struct {
	mu    sync.Mutex
	views map[dynamo.EndpointKey]seenView
	wrote map[dynamo.EndpointKey]time.Time
}

type seenView struct {
	view health.View
	at   time.Time
}

// maxKnown bounds both maps. What is forgotten costs a write, or a POST to an endpoint in trouble.
const maxKnown = 1000

// view is what a batch acts on: what was read, or what was read before, if that is not too old.
func (m *memory) view(key dynamo.EndpointKey, r dynamo.Reading, age time.Duration, now time.Time) health.View {
	m.mu.Lock()
	defer m.mu.Unlock()
	healthy := r.View.Endpoint.Version == 0 && r.View.Tenant.Version == 0
	switch {
	case r.HealthRead && healthy:
		delete(m.views, key)
	case r.HealthRead:
		if m.views == nil || len(m.views) >= maxKnown {
			m.views = map[dynamo.EndpointKey]seenView{}
		}
		m.views[key] = seenView{r.View, now}
	default:
		if seen, ok := m.views[key]; ok && now.Sub(seen.at) <= age {
			return seen.view
		}
		r.View.TenantID, r.View.EndpointID = key.TenantID, key.EndpointID
	}
	return r.View
}

// writeEvery is how often, at most, a process writes that one endpoint failed.
const writeEvery = time.Second

// mayWrite reports whether it is time to write so again, and assumes that it then is written.
func (m *memory) mayWrite(key dynamo.EndpointKey, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if last, ok := m.wrote[key]; ok && now.Sub(last) < writeEvery {
		return false
	}
	if m.wrote == nil || len(m.wrote) >= maxKnown {
		m.wrote = map[dynamo.EndpointKey]time.Time{}
	}
	m.wrote[key] = now
	return true
}
