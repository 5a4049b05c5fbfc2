//go:build emulator

package dynamo_test

import (
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
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

func TestAPIKeys_Get_readsStronglyConsistent(t *testing.T) {
	r := newRig(t)
	key, _ := putKey(t, r.keys, "acme", createdAt)
	if _, found, err := r.keys.Get(t.Context(), key.ID); !found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	r.wantConsistentReads()
}

func TestAPIKeys_Spend_isOneWriteUnlessAMinuteBeganUnseen(t *testing.T) {
	r := newRig(t)
	key, _ := putKey(t, r.keys, "acme", createdAt)
	spend := func(was apikey.Key, at time.Time, calls int) apikey.Key {
		t.Helper()
		r.faults.Reset()
		got, _, err := r.keys.Spend(t.Context(), was, 1, 10, at)
		if n := len(r.faults.Calls("UpdateItem")); err != nil || n != calls {
			t.Errorf("%d calls, want %d: %v", n, calls, err)
		}
		return got
	}
	minute := createdAt.Truncate(time.Minute)
	seen := spend(key, minute, 1)
	spend(seen, minute.Add(59*time.Second), 1)
	other := spend(key, minute.Add(time.Minute), 1)
	spend(seen, minute.Add(time.Minute), 2)
	spend(other, minute.Add(59*time.Second), 1)
}
