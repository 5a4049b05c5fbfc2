package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// Circuits is the store of endpoints in trouble and of tenants' moments slow_until.
type Circuits interface {
	Store(ctx context.Context, was, next circuit.Item) (stored circuit.Item, applied bool, err error)
	Hold(ctx context.Context, key dynamo.EndpointKey, until, now time.Time) error
	MarkDeath(ctx context.Context, key dynamo.EndpointKey, death circuit.Spell, before time.Time) error
	Clear(ctx context.Context, i circuit.Item) (applied bool, err error)
	Remove(ctx context.Context, i circuit.Item) (applied bool, err error)
	Get(ctx context.Context, endpointID string) (circuit.Item, error)
	State(ctx context.Context, endpointID string) (circuit.State, error)
	All(ctx context.Context) (items []circuit.Item, slow map[string]time.Time, err error)
	Trouble(ctx context.Context, limit int, cursor string) (keys []dynamo.EndpointKey, next string, err error)
	Slow(ctx context.Context, limit int) (slow map[string]time.Time, more bool, err error)
	Charge(ctx context.Context, tenantID string, d time.Duration, now time.Time) (until time.Time, err error)
	MoveSlow(ctx context.Context, tenantID string, from, to time.Time) error
	SlowUntil(ctx context.Context, tenantIDs []string) (map[string]time.Time, error)
	ForgetSlow(ctx context.Context, tenantID string, until time.Time) error
}

// Circuit has a value in every field but the lease.
func Circuit(endpointID string, version int64) circuit.Item {
	return circuit.Item{
		TenantID: "acme", EndpointID: endpointID, Version: version, State: circuit.Recovering, Since: at,
		Failures: 4, FailingSince: at.Add(time.Second), OutageSince: at.Add(2 * time.Second),
		Deliveries: []string{"msg_2", "msg_1"},
		Last: circuit.Answer{
			At: at.Add(3 * time.Second), Status: 503, Reason: "http_5xx", RetryAt: at.Add(time.Minute),
		},
		Probes: 5, ProbedAt: at.Add(4 * time.Second), RecoveredAt: at.Add(5 * time.Second),
		Pace:   circuit.Pace{Quota: 960, Oldest: at.Add(6 * time.Second)},
		Recent: circuit.Recent{Start: at.Add(7 * time.Second), Tried: 9, OK: 8, TriedWas: 7, OKWas: 6},
		Outage: circuit.Spell{At: at, Reason: "http_5xx", Status: 503, Told: true, EndedAt: at.Add(time.Hour)},
		Pause:  circuit.Spell{At: at.Add(time.Minute), Told: true},
		Death:  circuit.Spell{At: at.Add(2 * time.Minute), Reason: "timeout"},
	}
}

func store(t testing.TB, b Backend, was, next circuit.Item) circuit.Item {
	t.Helper()
	stored, applied, err := b.Circuits.Store(t.Context(), was, next)
	if err != nil || !applied {
		t.Fatalf("storing version %d: %v, %v", next.Version, applied, err)
	}
	return stored
}

func hold(t testing.TB, b Backend, endpointID string, until time.Time) circuit.Item {
	t.Helper()
	if err := b.Circuits.Hold(t.Context(), key(endpointID), until, at); err != nil {
		t.Fatal(err)
	}
	return stored(t, b, endpointID)
}

func stored(t testing.TB, b Backend, endpointID string) circuit.Item {
	t.Helper()
	i, err := b.Circuits.Get(t.Context(), endpointID)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func wantStored(t testing.TB, b Backend, doing string, want circuit.Item) {
	t.Helper()
	if diff := cmp.Diff(want, stored(t, b, want.EndpointID)); diff != "" {
		t.Errorf("%s (-want +got)\n%s", doing, diff)
	}
}

// errRefused is the error of a write that was refused.
var errRefused = errors.New("refused")

func applied(ok bool, err error) error {
	if err == nil && !ok {
		return errRefused
	}
	return err
}

func wantAll(t testing.TB, b Backend, want []circuit.Item, slow map[string]time.Time, failed bool) {
	t.Helper()
	got, gotSlow, err := b.Circuits.All(t.Context())
	slices.SortFunc(got, func(a, b circuit.Item) int { return strings.Compare(a.EndpointID, b.EndpointID) })
	if diff := cmp.Diff(want, got) + cmp.Diff(slow, gotSlow); (err != nil) != failed || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
