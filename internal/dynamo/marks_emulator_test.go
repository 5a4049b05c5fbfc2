//go:build emulator

package dynamo_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// allMarks are one of each kind.
var allMarks = endpoint.Marks{
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

func TestEndpoints_Mark(t *testing.T) {
	r := newRig(t)
	s := r.endpoints
	first, second := mustCreate(t, s, "acme", createdAt), mustCreate(t, s, "acme", createdAt)
	want := endpoint.TenantMarks{Endpoints: map[string]endpoint.Marks{}}
	for _, id := range []string{first.ID, second.ID, ""} {
		mark(t, s, dynamo.EndpointKey{TenantID: "acme", EndpointID: id})
		if id == "" {
			want.Tenant = allMarks
		} else {
			want.Endpoints[id] = allMarks
		}
		if diff := cmp.Diff(want, marksOf(t, s)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	nothing := func(*endpoint.Marks) bool { return false }
	key := dynamo.EndpointKey{TenantID: "acme", EndpointID: first.ID}
	if changed, got, err := s.Mark(t.Context(), key, nothing); changed || err != nil || got != allMarks {
		t.Errorf("no change: %v, %+v, %v", changed, got, err)
	}
	if got, err := s.Marks(t.Context(), "acm"); err != nil || got.Tenant.Paused() || len(got.Endpoints) > 0 {
		t.Errorf("another tenant's: %+v, %v", got, err)
	}
	r.wantConsistentReads()
}

func TestEndpoints_Mark_isHeardOnceHoweverManyAtOnce(t *testing.T) {
	s := newRig(t).endpoints
	key := dynamo.EndpointKey{TenantID: "acme"}
	heard := make([]bool, 4)
	var all sync.WaitGroup
	for n := range heard {
		all.Go(func() {
			var err error
			heard[n], _, err = s.Mark(t.Context(), key, func(m *endpoint.Marks) bool { return m.Pause(at, fmt.Sprint(n), "") })
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	by := marksOf(t, s).Tenant.PausedBy
	for n := range heard {
		if heard[n] != (by == fmt.Sprint(n)) {
			t.Errorf("operator %d is told %v, and %s has paused the tenant", n, heard[n], by)
		}
	}
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
