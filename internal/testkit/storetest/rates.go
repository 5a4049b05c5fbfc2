package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/rate"
)

// Rates is the store of the slots of endpoints with a limit.
type Rates interface {
	Take(ctx context.Context, key dynamo.EndpointKey, a rate.Ask, now time.Time) (rate.Taken, error)
}

func take(t testing.TB, b Backend, endpointID string, a rate.Ask, now time.Time) rate.Taken {
	t.Helper()
	taken, err := b.Rates.Take(t.Context(), key(endpointID), a, now)
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

// asked is the answer by the rule, where slots are taken until then.
func asked(a rate.Ask, until, now time.Time) rate.Taken {
	slots := a.Free(until, now)
	if slots == 0 {
		return rate.Taken{Until: until}
	}
	next := a.Take(until, now, slots)
	return rate.Taken{Slots: slots, First: next.Add(-rate.Time(a.Limit, slots)), Until: next}
}

var ratePromises = []Promise{
	{"slots of one moment add up", func(t testing.TB, b Backend) {
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				a := rate.Ask{Limit: 10, Want: 3, Ahead: time.Minute}
				if taken, err := b.Rates.Take(t.Context(), key("webhook_1"), a, at); err != nil || taken.Slots != 3 {
					t.Errorf("%+v, %v", taken, err)
				}
			})
		}
		wait.Wait()
		got := take(t, b, "webhook_1", rate.Ask{Limit: 10, Want: 1, Ahead: time.Minute}, at)
		if first := at.Add(2400 * time.Millisecond); !got.First.Equal(first) {
			t.Errorf("24 slots end at %s", got.First.Sub(at))
		}
	}},
	{"as many slots are taken as there are, whatever the limit was before", func(t testing.TB, b Backend) {
		var until time.Time
		for n, row := range []struct {
			after time.Duration
			ask   rate.Ask
		}{
			{0, rate.Ask{Limit: 10, Want: 4, Ahead: rate.Burst}},
			{0, rate.Ask{Limit: 10, Want: 9, Ahead: rate.Burst}},                         // six are left
			{0, rate.Ask{Limit: 10, Want: 1, Ahead: rate.Burst}},                         // none
			{250 * time.Millisecond, rate.Ask{Limit: 10, Want: 5, Ahead: rate.Burst}},    // two
			{250 * time.Millisecond, rate.Ask{Limit: 300, Want: 500, Ahead: rate.Burst}}, // raised
			{time.Second, rate.Ask{Limit: 3, Want: 2, Ahead: rate.Burst}},                // lowered
			{time.Second, rate.Ask{Limit: 3, Want: 999, Ahead: 75 * time.Second}},        // the minute ahead
			{time.Minute, rate.Ask{Limit: 3, Want: 1, Ahead: rate.Burst}},                // taken ahead
			{time.Hour, rate.Ask{Limit: 3, Want: 1, Ahead: rate.Burst}},                  // idle for long
			{time.Hour, rate.Ask{Limit: 3, Want: 1, Ahead: rate.Burst}},
		} {
			now := at.Add(row.after)
			want := asked(row.ask, until, now)
			got := take(t, b, "webhook_1", row.ask, now)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("step %d (-want +got)\n%s", n, diff)
			}
			until = want.Until
		}
	}},
	{"what the asker has seen decides nothing", func(t testing.TB, b Backend) {
		var until time.Time
		for _, seen := range []time.Duration{-time.Hour, 0, 500 * time.Millisecond, time.Second, time.Hour} {
			a := rate.Ask{Limit: 10, Want: 3, Ahead: rate.Burst, Seen: at.Add(seen)}
			want := asked(a, until, at)
			if diff := cmp.Diff(want, take(t, b, "webhook_1", a, at)); diff != "" {
				t.Errorf("seen %s from now (-want +got)\n%s", seen, diff)
			}
			until = want.Until
		}
	}},
	{"clocks are finer than the moments that are stored", func(t testing.TB, b Backend) {
		// A slot's time is left, short of a part of a microsecond that the clock adds.
		for _, limit := range []int{3, 7, 299, 300} {
			endpointID := fmt.Sprint("webhook_", limit)
			first := take(t, b, endpointID, rate.Ask{Limit: limit, Want: limit - 1, Ahead: rate.Burst}, at)
			left := rate.Time(limit, 1) - time.Nanosecond
			now := first.Until.Add(left - rate.Burst)
			a := rate.Ask{Limit: limit, Want: 2, Ahead: rate.Burst, Seen: first.Until}
			if diff := cmp.Diff(asked(a, first.Until, now), take(t, b, endpointID, a, now)); diff != "" {
				t.Errorf("limit %d (-want +got)\n%s", limit, diff)
			}
		}
	}},
	{"endpoints share no slots, and neither do the late ones of one", func(t testing.TB, b Backend) {
		a := rate.Ask{Limit: 10, Want: 10, Ahead: rate.Burst}
		late := a
		late.Late = true
		want := asked(a, time.Time{}, at)
		for n, got := range []rate.Taken{
			take(t, b, "webhook_1", a, at), take(t, b, "webhook_2", a, at), take(t, b, "webhook_1", late, at),
		} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the taker %d (-want +got)\n%s", n, diff)
			}
		}
	}},
	{"a lost answer gives no slot twice", func(t testing.TB, b Backend) {
		a := rate.Ask{Limit: 10, Want: 3, Ahead: time.Minute}
		b.Unheard(func() {
			if taken, err := b.Rates.Take(t.Context(), key("webhook_1"), a, at); err == nil {
				t.Errorf("%+v without an answer", taken)
			}
		})
		if taken := take(t, b, "webhook_1", a, at); taken.First.Before(at.Add(rate.Time(10, 3))) {
			t.Errorf("the first slot afterwards is %s from now", taken.First.Sub(at))
		}
	}},
	{"slots are no trouble", func(t testing.TB, b Backend) {
		for n := range 3 {
			take(t, b, fmt.Sprint("webhook_", n), rate.Ask{Limit: 10, Want: 1, Ahead: rate.Burst}, at)
		}
		var none []circuit.Item
		wantAll(t, b, none, map[string]time.Time{}, false)
		if keys, _, err := b.Circuits.Trouble(t.Context(), 9, ""); err != nil || len(keys) > 0 {
			t.Errorf("in trouble: %v, %v", keys, err)
		}
	}},
}
