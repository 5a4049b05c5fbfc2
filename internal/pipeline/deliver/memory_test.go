package deliver

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// A tenant's endpoints come and go by the thousand, and whatever a process knows of another that is in use, it knows
// on.
func TestMemory_keepsWhatIsInUseThroughAFlood(t *testing.T) {
	var m memory
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	down, quiet, slow := dynamo.EndpointKey{TenantID: "t", EndpointID: "down"},
		dynamo.EndpointKey{TenantID: "t", EndpointID: "quiet"}, dynamo.EndpointKey{TenantID: "slow", EndpointID: "e"}
	active := endpoint.Gate{Found: true, Endpoint: endpoint.Endpoint{Status: endpoint.Active}}
	well, unread := dynamo.Reading{Gate: active, CircuitRead: true}, dynamo.Reading{Gate: active}
	ill := well
	ill.Circuit = circuit.Item{Version: 1, State: circuit.Open}
	m.recall(down, ill, time.Minute, now)
	m.recall(quiet, well, time.Minute, now)
	m.slow("slow", now.Add(time.Hour))
	m.written(quiet, now)
	m.recall(quiet, well, time.Minute, now)
	for n := range 2500 {
		other := dynamo.EndpointKey{TenantID: "flood", EndpointID: fmt.Sprint(n)}
		m.recall(other, ill, time.Minute, now)
		m.recall(other, well, time.Minute, now)
		m.slow(fmt.Sprint("flood", n), now.Add(time.Hour))
		m.written(other, now)
		m.recall(other, well, time.Minute, now)
		m.count(quiet, circuit.Seen{Tried: 1}, now)
		m.recall(down, ill, time.Minute, now)
		if !m.quietOf([]dynamo.EndpointKey{quiet}, now)[quiet] {
			t.Fatalf("the quiet is forgotten after %d others", n)
		}
		if got := m.recall(slow, well, time.Minute, now); !got.SlowUntil.Equal(now.Add(time.Hour)) {
			t.Fatalf("the slow tenant is forgotten after %d others", n)
		}
	}
	if got := m.recall(down, unread, time.Minute, now); got.Circuit.State != circuit.Open {
		t.Errorf("the open circuit is forgotten: %+v", got)
	}
	seen, mayWrite := m.count(quiet, circuit.Seen{Tried: 1}, now)
	if diff := cmp.Diff(circuit.Seen{Tried: 2501}, seen); diff != "" || mayWrite {
		t.Errorf("the write is forgotten: may write %v, seen (-want +got):\n%s", mayWrite, diff)
	}
}
