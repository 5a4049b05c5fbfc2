//go:build emulator

package dynamo_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/apikey"
	"github.com/herald-webhooks/herald/internal/dynamo"
)

func putKey(t *testing.T, s *dynamo.APIKeys, tenant string, at time.Time) (apikey.Key, string) {
	t.Helper()
	key, text := apikey.New(at)
	key.TenantID, key.Scopes, key.Description = tenant, apikey.Scopes(), "ci"
	if err := s.Put(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	return key, text
}

func getKey(t *testing.T, s *dynamo.APIKeys, id string) apikey.Key {
	t.Helper()
	key, found, err := s.Get(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("getting %s: found %v, %v", id, found, err)
	}
	return key
}

func TestAPIKeys_Get_returnsTheKey(t *testing.T) {
	r := newRig(t)
	s := r.keys
	key, text := putKey(t, s, "acme", createdAt)
	got := getKey(t, s, key.ID)
	if diff := cmp.Diff(key, got); diff != "" {
		t.Errorf("key (-want +got):\n%s", diff)
	}
	if !got.Accepts(text) {
		t.Error("the stored key does not accept its text")
	}
	if _, found, err := s.Get(t.Context(), "01JB3ZKX9M4W0S5V7N2Q8R6TYA"); found || err != nil {
		t.Errorf("an unknown id: %v %v", found, err)
	}
	r.wantConsistentReads()
}

func TestAPIKeys_Spend_countsUpToTheBudgetOfEachMinute(t *testing.T) {
	r := newRig(t)
	s, faults := r.keys, r.faults
	key, text := putKey(t, s, "acme", createdAt)
	minute := createdAt.Truncate(time.Minute)
	spend := func(was apikey.Key, units int, at time.Time, want, calls int) apikey.Key {
		t.Helper()
		faults.Reset()
		got, spent, err := s.Spend(t.Context(), was, units, 10, at)
		if err != nil || spent != (want > 0) || spent && got.Spent != want || !got.Accepts(text) {
			t.Fatalf("spent %v: %+v, %v, want %d", spent, got, err, want)
		}
		if n := len(faults.Calls("UpdateItem")); n != calls {
			t.Errorf("%d calls, want %d", n, calls)
		}
		return got
	}
	seen := spend(key, 4, minute, 4, 1)
	seen = spend(seen, 6, minute.Add(59*time.Second), 10, 1)
	spend(seen, 1, minute.Add(59*time.Second), 0, 1)
	other := spend(key, 1, minute.Add(time.Minute), 1, 1) // a process that has not seen it for long
	spend(seen, 4, minute.Add(time.Minute), 5, 2)         // one that does not know that the minute has begun
	spend(other, 1, minute.Add(59*time.Second), 6, 1)     // one with its clock behind
	if got := getKey(t, s, key.ID); !got.LastUsedAt.Equal(minute.Add(time.Minute)) {
		t.Errorf("last used at %v", got.LastUsedAt)
	}
}
