//go:build emulator

package dynamo_test

import (
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// allMarks are one of each kind.
var allMarks = endpoint.Marks{
	RateLimit: 20, LimitedAt: at.Add(-time.Minute), LimitedBy: "bob", LimitReason: "their quota",
	PausedAt: at, PausedBy: "ann", PauseReason: "asked for", ResumedAt: at.Add(-time.Hour),
	DiscardedBefore: at.Add(time.Second), ReleasedAt: at.Add(2 * time.Second),
}

// mark makes every mark of an endpoint or, where the key names none, of a tenant.
func mark(t *testing.T, s *dynamo.Endpoints, key dynamo.EndpointKey) {
	t.Helper()
	set := func(m *endpoint.Marks) bool { *m = allMarks; return true }
	if changed, got, err := s.Mark(t.Context(), key, set); err != nil || !changed || got != allMarks {
		t.Fatalf("marking: %v, %+v, %v", changed, got, err)
	}
}

func marksOf(t *testing.T, s *dynamo.Endpoints) endpoint.TenantMarks {
	t.Helper()
	marks, err := s.Marks(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	return marks
}

func TestEndpoints_Mark_tellsAFault(t *testing.T) {
	r := newRig(t)
	r.faults.On("PutItem", 0, testkit.Fail(400, "ResourceNotFoundException"))
	tenant := dynamo.EndpointKey{TenantID: "acme"}
	pause := func(m *endpoint.Marks) bool { return m.Pause(at, "ann", "") }
	if changed, _, err := r.endpoints.Mark(t.Context(), tenant, pause); changed || err == nil {
		t.Errorf("%v, %v", changed, err)
	}
}

// A Query may miss an endpoint that is deleted or restored at that time. Its marks stay.
func TestEndpoints_Mark_looksTwiceForAnEndpoint(t *testing.T) {
	r := newRig(t)
	e := mustCreate(t, r.endpoints, "acme", createdAt)
	mark(t, r.endpoints, dynamo.EndpointKey{TenantID: "acme", EndpointID: e.ID})
	r.faults.On("Query", 1, testkit.FindNothing())
	mark(t, r.endpoints, dynamo.EndpointKey{TenantID: "acme"})
	if got := marksOf(t, r.endpoints).Endpoints[e.ID]; got != allMarks {
		t.Errorf("%+v", got)
	}
}
