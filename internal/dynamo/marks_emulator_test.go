//go:build emulator

package dynamo_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
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

// The marks of an endpoint outlast every change of its owner's, and are forgotten when it is gone for good.
func TestEndpoints_Mark_lastsAsLongAsTheEndpoint(t *testing.T) {
	r := newRig(t)
	s := r.endpoints
	e := mustCreate(t, s, "acme", createdAt)
	mark(t, s, dynamo.EndpointKey{TenantID: "acme", EndpointID: e.ID})
	r.faults.On("Query", 1, testkit.FindNothing())
	changed := e
	changed.URL, changed.Revision = "https://second.example", "2"
	deleted := gone(changed, createdAt)
	for was, now := range pairs(e, changed, deleted, back(changed)) {
		if was.Revision != now.Revision {
			mustReplace(t, s, was, now)
		}
		mark(t, s, dynamo.EndpointKey{TenantID: "acme"}) // another change of the row
		if got := marksOf(t, s).Endpoints[e.ID]; got != allMarks {
			t.Errorf("%s: %+v", now.Status, got)
		}
	}
	_, err := r.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: &r.tables.Endpoints, Key: rowKey("acme", e.ID),
	})
	if err != nil {
		t.Fatal(err)
	}
	mark(t, s, dynamo.EndpointKey{TenantID: "acme"})
	if got := marksOf(t, s).Endpoints; len(got) > 0 {
		t.Errorf("of an endpoint that is gone: %+v", got)
	}
}
