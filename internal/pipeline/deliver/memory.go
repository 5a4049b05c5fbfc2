package deliver

import (
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/recent"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// memory is a process's memory between batches. The zero memory is empty. Forgetting costs a write, or a POST to an
// endpoint in trouble.
type memory struct {
	// circuits has the last readings of endpoints in trouble.
	circuits recent.Memory[dynamo.EndpointKey, recalled]

	// quiet has the times of the last reads of endpoints without circuit and slow_until.
	quiet recent.Memory[dynamo.EndpointKey, time.Time]

	// slowUntil has the slow_until of tenants that this process wrote.
	slowUntil recent.Memory[string, time.Time]

	// slots has the moments of endpoints with a limit, as they were last seen.
	slots recent.Memory[slotKey, slotState]

	accounts accounts
	batches  lastBatches

	// mu makes the steps of a change of wrote one.
	mu    sync.Mutex
	wrote recent.Memory[dynamo.EndpointKey, wrote]
}

// wrote is when a process last tried to write a circuit, and the attempts that no write has counted yet.
type wrote struct {
	at    time.Time
	since circuit.Seen
}

// slotKey names the moment up to which the slots of an endpoint's limit are taken (package rate). Late deliveries take
// theirs from another moment.
type slotKey struct {
	key  dynamo.EndpointKey
	late bool
}

// slotState is that moment as a process knows it.
type slotState struct {
	// limit is the endpoint's limit at that time. Another limit may leave slots.
	limit int
	// until is the moment as it was last seen.
	until time.Time
	// noneBefore is the moment before which no slot is free, or before which the process does not ask.
	noneBefore time.Time
	// refused is the error of the last try to take slots; nil: it succeeded.
	refused error
}

type recalled struct {
	reading dynamo.Reading
	at      time.Time
}

// recall completes a reading: by the circuit that was read before, if this one could not be read and
// that is not older than age, and by the slow_until that this process wrote.
// A circuit that was read replaces the remembered one. If none is stored, the endpoint is forgotten, and it becomes
// quiet unless its tenant is slow.
func (m *memory) recall(key dynamo.EndpointKey, r dynamo.Reading, age time.Duration, now time.Time) dynamo.Reading {
	switch old, known := m.circuits.Get(key); {
	case r.CircuitRead && r.Circuit.Version == 0:
		m.circuits.Delete(key)
		if r.SlowUntil.IsZero() {
			m.quiet.Put(key, now)
		}
	case r.CircuitRead:
		m.circuits.Put(key, recalled{r, now})
	case known && now.Sub(old.at) <= age:
		r.Circuit, r.SlowUntil = old.reading.Circuit, old.reading.SlowUntil
	}
	r.Circuit.TenantID, r.Circuit.EndpointID = key.TenantID, key.EndpointID
	if own, _ := m.slowUntil.Get(key.TenantID); own.After(r.SlowUntil) {
		r.SlowUntil = own
	}
	return r
}

// quietFor is the time before a process asks again about an endpoint with nothing stored. No circuit opens so soon
// after its first failure, and a read that is a little behind would be as late.
const quietFor = time.Second

// quietOf returns the endpoints not to ask about yet.
func (m *memory) quietOf(keys []dynamo.EndpointKey, now time.Time) map[dynamo.EndpointKey]bool {
	quiet := map[dynamo.EndpointKey]bool{}
	for _, key := range keys {
		if read, known := m.quiet.Get(key); known && now.Sub(read) < quietFor {
			quiet[key] = true
		}
	}
	return quiet
}

// stir ends the quiet of an endpoint: something is stored of it.
func (m *memory) stir(key dynamo.EndpointKey) {
	m.quiet.Delete(key)
}

// slow notes a tenant's slow_until: reads are a little behind.
func (m *memory) slow(tenantID string, until time.Time) {
	m.slowUntil.Put(tenantID, until)
}

// writeEvery is how often, at most, a process tries to write the circuit of one endpoint.
const writeEvery = time.Second

// count adds attempts to the ones that no write of the endpoint's circuit counted yet, and returns them all; mayWrite
// says that it is time for another write.
func (m *memory) count(key dynamo.EndpointKey, s circuit.Seen, now time.Time) (all circuit.Seen, mayWrite bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, _ := m.wrote.Get(key)
	last.since.Tried, last.since.OK = last.since.Tried+s.Tried, last.since.OK+s.OK
	m.wrote.Put(key, last)
	return last.since, now.Sub(last.at) >= writeEvery
}

// tried notes that a write of the endpoint's circuit begins. It may fail, so its attempts are kept.
func (m *memory) tried(key dynamo.EndpointKey, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, _ := m.wrote.Get(key)
	last.at = now
	m.wrote.Put(key, last)
}

// written notes a write of the endpoint's circuit, which counted its attempts.
// The endpoint is quiet no longer, so that the next batch reads the stored circuit.
func (m *memory) written(key dynamo.EndpointKey, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrote.Put(key, wrote{at: now})
	m.quiet.Delete(key)
}
