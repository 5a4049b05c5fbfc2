package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
)

// APIKeys is the store of API keys.
type APIKeys interface {
	Get(ctx context.Context, keyID string) (key apikey.Key, found bool, err error)
	Put(ctx context.Context, key apikey.Key) error
	Spend(
		ctx context.Context, was apikey.Key, units, budget int, now time.Time,
	) (key apikey.Key, spent bool, err error)
	ListByTenant(ctx context.Context, tenantID string, limit int, cursor string) ([]apikey.Key, string, error)
	Revoke(ctx context.Context, tenantID, keyID string, now time.Time) (key apikey.Key, found bool, err error)
}

const noKey = "01JB3ZKX9M4W0S5V7N2Q8R6TYA"

func issue(t testing.TB, b Backend, tenant string, issued time.Time) (apikey.Key, string) {
	t.Helper()
	key, text := apikey.New(issued)
	key.TenantID = tenant
	key.Scopes = apikey.Scopes()
	key.Description = "ci"
	if err := b.APIKeys.Put(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	return key, text
}

func wantKey(t testing.TB, b Backend, doing string, want apikey.Key) {
	t.Helper()
	got, found, err := b.APIKeys.Get(t.Context(), want.ID)
	if diff := cmp.Diff(want, got); err != nil || !found || diff != "" {
		t.Errorf("%s: %v, %v (-want +got):\n%s", doing, found, err, diff)
	}
}

var keyPromises = []Promise{
	{"a key is stored once", func(t testing.TB, b Backend) {
		key, _ := apikey.New(at)
		key.TenantID, key.Scopes = "acme", apikey.Scopes()
		again(t, b, func() error { return b.APIKeys.Put(t.Context(), key) })
		other := key
		other.TenantID, other.Hash = "globex", []byte("another")
		if err := b.APIKeys.Put(t.Context(), other); err == nil {
			t.Error("a key was overwritten")
		}
		wantKey(t, b, "stored", key)
		if _, found, err := b.APIKeys.Get(t.Context(), noKey); found || err != nil {
			t.Errorf("an unknown id: %v %v", found, err)
		}
	}},
	{"a revocation keeps the key and the first time", func(t testing.TB, b Backend) {
		want, text := issue(t, b, "acme", at)
		if _, found, err := b.APIKeys.Revoke(t.Context(), "globex", want.ID, at); found || err != nil {
			t.Errorf("another tenant revokes it: %v %v", found, err)
		}
		wantKey(t, b, "another tenant's", want)
		first := at.Add(time.Hour)
		want.RevokedAt = first
		for _, now := range []time.Time{first, first.Add(time.Hour)} {
			got, found, err := b.APIKeys.Revoke(t.Context(), "acme", want.ID, now)
			if diff := cmp.Diff(want, got); err != nil || !found || diff != "" || got.Accepts(text) {
				t.Errorf("at %v: %v, %v (-want +got):\n%s", now, found, err, diff)
			}
		}
		wantKey(t, b, "revoked", want)
		if _, found, err := b.APIKeys.Revoke(t.Context(), "acme", noKey, first); found || err != nil {
			t.Errorf("an unknown id: %v %v", found, err)
		}
	}},
	{"a tenant's keys are listed, the newest first", func(t testing.TB, b Backend) {
		var want []string
		for n := range 5 {
			key, _ := issue(t, b, "acme", at.Add(time.Duration(n)*time.Second))
			issue(t, b, "globex", at.Add(time.Duration(n)*time.Second))
			want = append([]string{key.ID}, want...)
		}
		var got []string
		for _, key := range pages(t, 2, func(cursor string) ([]apikey.Key, string, error) {
			return b.APIKeys.ListByTenant(t.Context(), "acme", 2, cursor)
		}) {
			got = append(got, key.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if _, _, err := b.APIKeys.ListByTenant(t.Context(), "acme", 2, "nonsense"); !errors.Is(err, dynamo.ErrCursor) {
			t.Errorf("cursor: %v", err)
		}
	}},
	{"a key spends up to its budget in each minute", func(t testing.TB, b Backend) {
		key, text := issue(t, b, "acme", at)
		minute := at.Truncate(time.Minute)
		spend := func(was apikey.Key, units int, now time.Time, want int) apikey.Key {
			t.Helper()
			got, spent, err := b.APIKeys.Spend(t.Context(), was, units, 10, now)
			if err != nil || spent != (want > 0) || spent && got.Spent != want || !got.Accepts(text) {
				t.Fatalf("spent %v: %+v, %v, want %d", spent, got, err, want)
			}
			return got
		}
		seen := spend(key, 4, minute, 4)
		seen = spend(seen, 6, minute.Add(59*time.Second), 10)
		spend(seen, 1, minute.Add(59*time.Second), 0)
		other := spend(key, 1, minute.Add(time.Minute), 1) // a process that has not seen it for long
		spend(seen, 4, minute.Add(time.Minute), 5)         // one that does not know that the minute has begun
		spend(other, 1, minute.Add(59*time.Second), 6)     // one with a clock that is behind
		want := key
		want.Spent = 6
		want.SpentMinute = apikey.Minute(minute) + 1
		want.LastUsedAt = minute.Add(time.Minute)
		wantKey(t, b, "spent", want)
	}},
	{"a request shows that its key is revoked, or gone", func(t testing.TB, b Backend) {
		key, text := issue(t, b, "acme", at)
		if _, _, err := b.APIKeys.Revoke(t.Context(), "acme", key.ID, at); err != nil {
			t.Fatal(err)
		}
		if got, _, err := b.APIKeys.Spend(t.Context(), key, 1, 10, at); err != nil || got.Accepts(text) {
			t.Errorf("a revoked key: %+v, %v", got, err)
		}
		for n, minute := range []int64{0, apikey.Minute(at)} {
			gone := apikey.Key{ID: fmt.Sprint(noKey[:25], n), SpentMinute: minute}
			if got, spent, err := b.APIKeys.Spend(t.Context(), gone, 1, 10, at); err != nil || spent || got.ID != "" {
				t.Errorf("no key: %+v, %v, %v", got, spent, err)
			}
		}
	}},
}
