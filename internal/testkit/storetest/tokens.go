package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/token"
)

// Tokens is the store of access tokens that processes share.
type Tokens interface {
	Claim(ctx context.Context, key dynamo.EndpointKey, claim token.Kept, now time.Time) (
		stored token.Kept, claimed bool, err error)
	Store(ctx context.Context, key dynamo.EndpointKey, next token.Kept, now time.Time) error
}

// asking is a claim of these credentials, for six seconds from at.
func asking(of, name string, after time.Duration) token.Kept {
	now := at.Add(after)
	return token.Kept{Of: of, Claim: name, Asked: now, Until: now.Add(6 * time.Second).UnixMilli()}
}

func mustClaim(t testing.TB, b Backend, k token.Kept, after time.Duration) token.Kept {
	t.Helper()
	_, claimed, err := b.Tokens.Claim(t.Context(), key("webhook_1"), k, at.Add(after))
	if err != nil || !claimed {
		t.Fatalf("%s: claimed %v, %v", k.Claim, claimed, err)
	}
	return k
}

// wantToken says what a claim finds that is not made.
func wantToken(t testing.TB, b Backend, want token.Kept, after time.Duration) {
	t.Helper()
	got, claimed, err := b.Tokens.Claim(t.Context(), key("webhook_1"), asking(want.Of, "late", after), at.Add(after))
	if err != nil || claimed {
		t.Fatalf("after %s: claimed %v, %v", after, claimed, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after %s (-want +got)\n%s", after, diff)
	}
}

func keepToken(t testing.TB, b Backend, k token.Kept) {
	t.Helper()
	if err := b.Tokens.Store(t.Context(), key("webhook_1"), k, at); err != nil {
		t.Fatal(err)
	}
}

// came is what became of a claim: a token for a minute.
func came(k token.Kept) token.Kept {
	k.Until, k.Sealed = k.Asked.Add(time.Minute).UnixMilli(), []byte("sealed")
	return k
}

var tokenPromises = []Promise{
	{"one of many claims at once is made", func(t testing.TB, b Backend) {
		var wait sync.WaitGroup
		var made atomic.Int32
		for n := range 8 {
			wait.Go(func() {
				_, claimed, err := b.Tokens.Claim(t.Context(), key("webhook_1"), asking("a", fmt.Sprint(n), 0), at)
				if err != nil {
					t.Error(err)
				}
				if claimed {
					made.Add(1)
				}
			})
		}
		wait.Wait()
		if n := made.Load(); n != 1 {
			t.Errorf("%d claims were made", n)
		}
	}},
	{"a claim and its result stand until their time", func(t testing.TB, b Backend) {
		k := mustClaim(t, b, asking("a", "1", 0), 0)
		wantToken(t, b, k, 6*time.Second-time.Millisecond)
		keepToken(t, b, came(k))
		wantToken(t, b, came(k), time.Minute-time.Millisecond)
		next := mustClaim(t, b, asking("a", "2", time.Minute), time.Minute)
		next.Until, next.Reason = at.Add(2*time.Minute).UnixMilli(), delivery.ReasonTokenRefused
		keepToken(t, b, next)
		wantToken(t, b, next, 90*time.Second)
	}},
	{"other credentials do not wait", func(t testing.TB, b Backend) {
		keepToken(t, b, came(mustClaim(t, b, asking("a", "1", 0), 0)))
		wantToken(t, b, mustClaim(t, b, asking("b", "2", 0), 0), 0)
	}},
	{"endpoints share no tokens", func(t testing.TB, b Backend) {
		mustClaim(t, b, asking("a", "1", 0), 0)
		if _, claimed, err := b.Tokens.Claim(t.Context(), key("webhook_2"), asking("a", "2", 0), at); err != nil || !claimed {
			t.Errorf("claimed %v, %v", claimed, err)
		}
	}},
	{"the result of a claim that another one has followed is dropped", func(t testing.TB, b Backend) {
		late := mustClaim(t, b, asking("a", "1", 0), 0)
		next := mustClaim(t, b, asking("a", "2", 6*time.Second), 6*time.Second)
		keepToken(t, b, came(late))
		wantToken(t, b, next, 7*time.Second)
	}},
	{"a lost answer leaves the claim with its caller", func(t testing.TB, b Backend) {
		k := asking("a", "1", 0)
		b.Unheard(func() {
			if _, claimed, err := b.Tokens.Claim(t.Context(), key("webhook_1"), k, at); err == nil {
				t.Errorf("claimed %v without an answer", claimed)
			}
		})
		mustClaim(t, b, k, 0)
	}},
	{"tokens are no trouble", func(t testing.TB, b Backend) {
		keepToken(t, b, came(mustClaim(t, b, asking("a", "1", 0), 0)))
		var none []circuit.Item
		wantAll(t, b, none, map[string]time.Time{}, false)
	}},
}
