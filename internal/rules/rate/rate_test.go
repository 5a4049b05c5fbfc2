package rate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/rules/rate"
)

var now = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

func TestAsk_Free_isWhatIsLeftOfTheTimeAhead(t *testing.T) {
	for name, row := range map[string]struct {
		ask   rate.Ask
		until time.Duration // from now
		want  int
	}{
		"an idle endpoint has a second's slots": {rate.Ask{Limit: 10, Want: 100, Ahead: rate.Burst}, -time.Hour, 10},
		"fewer are wanted":                      {rate.Ask{Limit: 10, Want: 3, Ahead: rate.Burst}, 0, 3},
		"some are taken":                        {rate.Ask{Limit: 10, Want: 100, Ahead: rate.Burst}, 650e6, 3},
		"all are taken":                         {rate.Ask{Limit: 10, Want: 100, Ahead: rate.Burst}, time.Second, 0},
		"more are taken, for the minute ahead":  {rate.Ask{Limit: 10, Want: 100, Ahead: rate.Burst}, time.Minute, 0},
		"of the minute ahead a part is left":    {rate.Ask{Limit: 10, Want: 999, Ahead: 75 * time.Second}, time.Minute, 150},
		"one a second, too early":               {rate.Ask{Limit: 1, Want: 1, Ahead: rate.Burst}, time.Microsecond, 0},
		"one a second":                          {rate.Ask{Limit: 1, Want: 1, Ahead: rate.Burst}, 0, 1},
		"a limit that divides no second":        {rate.Ask{Limit: 3, Want: 9, Ahead: rate.Burst}, 0, 3},
	} {
		if got := row.ask.Free(now.Add(row.until), now); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}

func TestAsk_NoneBefore_isWhenASlotIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rate.Ask{Limit: rapid.IntRange(1, 300).Draw(t, "limit"), Want: 1, Ahead: rate.Burst}
		until := now.Add(time.Duration(rapid.Int64Range(0, 100_000_000).Draw(t, "micros")) * time.Microsecond)
		at := a.NoneBefore(until)
		if a.Free(until, at) != 1 || a.Free(until, at.Add(-time.Microsecond)) != 0 {
			t.Fatalf("none before %s: %d then, %d before", at.Sub(now), a.Free(until, at),
				a.Free(until, at.Add(-time.Microsecond)))
		}
	})
}

func TestTaken_Slot_isEachInItsTurn(t *testing.T) {
	taken := rate.Taken{Slots: 4, First: now}
	var got []time.Duration
	for n := range taken.Slots {
		got = append(got, taken.Slot(3, n).Sub(now).Round(time.Millisecond))
	}
	want := []time.Duration{0, 333 * time.Millisecond, 667 * time.Millisecond, time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Whoever asks, and whenever: no second has more slots than twice the limit. A longer time has no more than the limit
// allows for it, and one second's slots on top.
func TestAsk_holdsTheLimitWhateverIsAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 300).Draw(t, "limit")
		until, at := time.Time{}, now
		var slots []time.Time
		for range rapid.IntRange(1, 30).Draw(t, "asks") {
			// Clocks are finer than the moments that are stored.
			at = at.Add(time.Duration(rapid.Int64Range(0, 3_000_000).Draw(t, "micros")) * time.Microsecond)
			at = at.Add(time.Duration(rapid.Int64Range(0, 999).Draw(t, "nanos")))
			a := rate.Ask{Limit: limit, Want: rapid.IntRange(1, 2*limit).Draw(t, "want"), Ahead: rate.Burst}
			release := rapid.Bool().Draw(t, "release")
			if release {
				a.Ahead = 75 * time.Second
			}
			n := a.Free(until, at)
			if n == 0 {
				continue
			}
			next := a.Take(until, at, n).Truncate(time.Microsecond)
			taken := rate.Taken{Slots: n, First: next.Add(-rate.Time(limit, n)), Until: next}
			if until = next; until.After(at.Add(a.Ahead)) {
				t.Fatalf("taken until %s after the time ahead", until.Sub(at.Add(a.Ahead)))
			}
			for k := range n {
				if release {
					slots = append(slots, taken.Slot(limit, k)) // sent in its slot
				} else {
					slots = append(slots, at) // sent at once
				}
			}
		}
		for _, from := range slots {
			for _, span := range []time.Duration{time.Second, time.Minute} {
				within := 0
				for _, slot := range slots {
					if !slot.Before(from) && slot.Before(from.Add(span)) {
						within++
					}
				}
				if most := limit * int(span/time.Second+1); within > most {
					t.Fatalf("%d in %s, at most %d", within, span, most)
				}
			}
		}
	})
}
