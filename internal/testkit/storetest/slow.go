package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/allowance"
)

func charge(t testing.TB, b Backend, tenant string, d time.Duration) time.Time {
	t.Helper()
	until, err := b.Circuits.Charge(t.Context(), tenant, d, at)
	if err != nil {
		t.Fatal(err)
	}
	return until
}

// slowUntil is acme's moment that is stored; zero for none.
func slowUntil(t testing.TB, b Backend) time.Time {
	t.Helper()
	slow, err := b.Circuits.SlowUntil(t.Context(), []string{"acme", "another"})
	if err != nil || len(slow) > 1 {
		t.Fatal(slow, err)
	}
	return slow["acme"]
}

var slowPromises = []Promise{
	{"charges of one moment add up", func(t testing.TB, b Backend) {
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				if _, err := b.Circuits.Charge(t.Context(), "acme", time.Minute, at); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if got := slowUntil(t, b); !got.Equal(at.Add(8 * time.Minute)) {
			t.Errorf("eight minutes make %s", got.Sub(at))
		}
	}},
	{"a charge begins anew when the moment has passed", func(t testing.TB, b Backend) {
		want := charge(t, b, "acme", time.Minute)
		for _, after := range []time.Duration{
			30 * time.Second, 90*time.Second + 999*time.Microsecond, 91 * time.Second, time.Hour, time.Hour + time.Microsecond,
		} {
			want = allowance.Charged(want, 1500*time.Microsecond, at.Add(after))
			got, err := b.Circuits.Charge(t.Context(), "acme", 1500*time.Microsecond, at.Add(after))
			if err != nil || !got.Equal(want) || !slowUntil(t, b).Equal(want) {
				t.Errorf("after %s: %s, want %s, %v", after, got.Sub(at), want.Sub(at), err)
			}
		}
	}},
	{"a move never goes beyond another", func(t testing.TB, b Backend) {
		charge(t, b, "acme", time.Hour)
		want := at.Add(time.Hour)
		for _, row := range []struct{ from, to time.Duration }{
			{time.Hour, 2 * time.Hour},                          // raised
			{time.Hour, 90 * time.Minute},                       // raised by another already
			{3 * time.Hour, 150 * time.Minute},                  // lowered by another already
			{2 * time.Hour, 30 * time.Minute},                   // lowered
			{30 * time.Minute, 6 * time.Hour},                   // raised again
			{6 * time.Hour, 6*time.Hour + time.Millisecond/2},   // no millisecond
			{6*time.Hour + time.Millisecond/2, 6 * time.Hour},   // likewise
			{6 * time.Hour, 6*time.Hour + 3*time.Millisecond/2}, // one
		} {
			if to := at.Add(row.to); allowance.Moves(want, at.Add(row.from), to) {
				want = to.Truncate(time.Millisecond)
			}
			if err := b.Circuits.MoveSlow(t.Context(), "acme", at.Add(row.from), at.Add(row.to)); err != nil {
				t.Fatal(err)
			}
			if got := slowUntil(t, b); !got.Equal(want) {
				t.Errorf("from %s to %s: %s, want %s", row.from, row.to, got.Sub(at), want.Sub(at))
			}
		}
	}},
	{"a move of a tenant that was forgotten makes nothing", func(t testing.TB, b Backend) {
		for _, to := range []time.Time{at.Add(time.Hour), at.Add(-time.Hour)} {
			if err := b.Circuits.MoveSlow(t.Context(), "acme", at, to); err != nil || !slowUntil(t, b).IsZero() {
				t.Errorf("%s, %v", slowUntil(t, b), err)
			}
		}
	}},
	{"a moment is forgotten only as it was read", func(t testing.TB, b Backend) {
		old := charge(t, b, "acme", time.Minute)
		now := charge(t, b, "acme", time.Minute)
		if err := b.Circuits.ForgetSlow(t.Context(), "acme", old); err != nil || !slowUntil(t, b).Equal(now) {
			t.Errorf("forgotten: %v", err)
		}
		again(t, b, func() error { return b.Circuits.ForgetSlow(t.Context(), "acme", now) })
		if got := slowUntil(t, b); !got.IsZero() {
			t.Errorf("remembered: %s", got)
		}
	}},
	{"tenants are listed once they became slow", func(t testing.TB, b Backend) {
		want := map[string]time.Time{}
		for n := range 3 {
			tenant := fmt.Sprint("tenant_", n)
			until := charge(t, b, tenant, time.Minute)
			if n == 0 {
				continue
			}
			want[tenant] = until.Add(time.Hour)
			if err := b.Circuits.MoveSlow(t.Context(), tenant, until, want[tenant]); err != nil {
				t.Fatal(err)
			}
		}
		got, more, err := b.Circuits.Slow(t.Context(), 10)
		if diff := cmp.Diff(want, got); err != nil || more || diff != "" {
			t.Errorf("%v, %v (-want +got)\n%s", more, err, diff)
		}
		got, more, err = b.Circuits.Slow(t.Context(), 1)
		if err != nil || !more || len(got) != 1 {
			t.Errorf("one of two: %v, more is %v, %v", got, more, err)
		}
	}},
}
