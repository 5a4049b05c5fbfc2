//go:build emulator

package dynamo_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// mark makes every mark of an endpoint or, with dynamo.StopsKey, of a tenant.
func mark(t *testing.T, s *dynamo.Endpoints, key dynamo.EndpointKey) endpoint.Marks {
	t.Helper()
	want := endpoint.Marks{
		PausedAt: at, PausedBy: "ann", PauseReason: "asked for",
		DiscardedBefore: at.Add(time.Second), ReleasedAt: at.Add(2 * time.Second),
	}
	for _, do := range []func() (bool, endpoint.Marks, error){
		func() (bool, endpoint.Marks, error) { return s.Pause(t.Context(), key, at, "ann", "asked for") },
		func() (bool, endpoint.Marks, error) { return s.Discard(t.Context(), key, want.DiscardedBefore) },
		func() (bool, endpoint.Marks, error) { return s.Release(t.Context(), key, want.ReleasedAt) },
	} {
		if changed, _, err := do(); err != nil || !changed {
			t.Fatalf("marking: %v, %v", changed, err)
		}
	}
	return want
}

// both are an endpoint's row and its tenant's.
func both(t *testing.T, s *dynamo.Endpoints) map[string]dynamo.EndpointKey {
	t.Helper()
	e := mustCreate(t, s, "acme", createdAt)
	return map[string]dynamo.EndpointKey{
		"endpoint": {TenantID: "acme", EndpointID: e.ID}, "tenant": {TenantID: "acme", EndpointID: dynamo.StopsKey},
	}
}

func TestEndpoints_marks(t *testing.T) {
	s, faults, _, _ := endpoints(t)
	for name, key := range both(t, s) {
		t.Run(name, func(t *testing.T) {
			all := mark(t, s, key)
			got, err := s.Marks(t.Context(), "acme")
			if key.EndpointID != dynamo.StopsKey {
				got = getEndpoint(t, s, key.EndpointID).Marks
			}
			if diff := cmp.Diff(all, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
			later := all
			later.DiscardedBefore = at.Add(time.Hour)
			resumed := endpoint.Marks{DiscardedBefore: later.DiscardedBefore, ReleasedAt: all.ReleasedAt, ResumedAt: at}
			for _, row := range []struct {
				name    string
				do      func() (bool, endpoint.Marks, error)
				changed bool
				want    endpoint.Marks
			}{
				{"a second pause", func() (bool, endpoint.Marks, error) {
					return s.Pause(t.Context(), key, at.Add(time.Hour), "bob", "too")
				}, false, all},
				{"an earlier discard", func() (bool, endpoint.Marks, error) { return s.Discard(t.Context(), key, at) }, false, all},
				{"an earlier release", func() (bool, endpoint.Marks, error) { return s.Release(t.Context(), key, at) }, false, all},
				{"a later discard", func() (bool, endpoint.Marks, error) {
					return s.Discard(t.Context(), key, at.Add(time.Hour))
				}, true, later},
				{"a resumption", func() (bool, endpoint.Marks, error) { return s.Resume(t.Context(), key, at) }, true, resumed},
				{"a second one", func() (bool, endpoint.Marks, error) {
					return s.Resume(t.Context(), key, at.Add(time.Hour))
				}, false, resumed},
			} {
				changed, got, err := row.do()
				if diff := cmp.Diff(row.want, got); changed != row.changed || err != nil || diff != "" {
					t.Errorf("%s: %v, %v (-want +got)\n%s", row.name, changed, err, diff)
				}
			}
		})
	}
	wantConsistentReads(t, faults)
}

func TestEndpoints_marks_knowTheirOwnWritesAgain(t *testing.T) {
	s, faults, _, _ := endpoints(t)
	keys := both(t, s)
	loseAnswers(faults)
	for name, key := range keys {
		mark(t, s, key)
		if changed, marks, err := s.Resume(t.Context(), key, at); err != nil || !changed || marks.Paused() {
			t.Errorf("%s: %+v, %v", name, marks, err)
		}
	}
}

func TestEndpoints_marks_needAnEndpoint(t *testing.T) {
	s, faults, client, table := endpoints(t)
	e := mustCreate(t, s, "acme", createdAt)
	mustReplace(t, s, e, gone(e, createdAt))
	for _, id := range []string{e.ID, "webhook_unknown"} {
		key := dynamo.EndpointKey{TenantID: "acme", EndpointID: id}
		if changed, _, err := s.Pause(t.Context(), key, at, "ann", ""); changed || !errors.Is(err, dynamo.ErrNoEndpoint) {
			t.Errorf("%s: %v, %v", id, changed, err)
		}
		if row := rawRow(t, client, table, "acme", id); len(row) > 0 {
			t.Errorf("%s: made %v", id, row)
		}
	}
	faults.On("UpdateItem", 0, testkit.Fail(400, "ResourceNotFoundException"))
	key := dynamo.EndpointKey{TenantID: "acme", EndpointID: dynamo.StopsKey}
	if changed, _, err := s.Resume(t.Context(), key, at); changed || err == nil {
		t.Errorf("a fault: %v, %v", changed, err)
	}
}

// An owner's changes leave the marks, even where they were made after the owner read the row.
func TestEndpoints_Replace_keepsMarks(t *testing.T) {
	s, _, client, table := endpoints(t)
	e := mustCreate(t, s, "acme", createdAt)
	want := mark(t, s, dynamo.EndpointKey{TenantID: "acme", EndpointID: e.ID})
	changed := e
	changed.URL, changed.Revision = "https://second.example", "2"
	for was, now := range pairs(e, changed, gone(changed, createdAt), back(changed)) {
		if was.Revision == now.Revision {
			continue
		}
		mustReplace(t, s, was, now)
		now.Marks = want
		if diff := cmp.Diff(now, getEndpoint(t, s, e.ID)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if len(rawRow(t, client, table, "acme", e.ID)) == 0 {
			t.Errorf("a marked endpoint that is %s has another key", now.Status)
		}
	}
	if got := counts(t, s, client, table); got != "counted 1, are 1 of 1" {
		t.Error(got)
	}
}

// A mark made between the read and the transaction of a deletion is not moved away with the row.
func TestEndpoints_Replace_looksAgainForAMarkMadeMeanwhile(t *testing.T) {
	s, faults, client, table := endpoints(t)
	e := mustCreate(t, s, "acme", createdAt)
	key := dynamo.EndpointKey{TenantID: "acme", EndpointID: e.ID}
	faults.Add(testkit.Rule{Action: "TransactWriteItems", Times: 1, When: func(testkit.Call) bool {
		_, _, err := dynamo.NewEndpoints(client, table).Pause(t.Context(), key, at, "ann", "")
		return err != nil // lets the call pass, and is asked again by the next
	}})
	mustReplace(t, s, e, gone(e, createdAt))
	if row := rawRow(t, client, table, "acme", e.ID); len(row) == 0 || !getEndpoint(t, s, e.ID).Marks.Paused() {
		t.Errorf("stored: %v", row)
	}
}
