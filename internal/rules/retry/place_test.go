package retry

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var local = Schedule{Base: time.Second, Factor: 2, MaxRetries: 4, Long: 3 * time.Second}

func TestSchedule_Place(t *testing.T) {
	for name, row := range map[string]struct {
		schedule           Schedule
		attempts, receives int
		want               int
	}{
		"the first attempt":                        {production, 0, 1, 1},
		"the first retry":                          {production, 1, 1, 2},
		"the second, by visibility":                {production, 1, 2, 3},
		"ten throttled receives skip two places":   {production, 1, 10, 4},
		"before any POST they skip three":          {production, 0, 10, 4},
		"behind a long wait none":                  {production, 4, 10, 5},
		"and no long place":                        {production, 7, 10, 8},
		"the last":                                 {production, 9, 1, 10},
		"never beyond the last":                    {production, 9, 50, 10},
		"never beyond the last, whatever it says":  {production, 50, 50, 10},
		"a count that nobody wrote":                {production, -1, 0, 1},
		"local: 1, 2, then 4 s, which is long":     {local, 0, 10, 3},
		"a schedule without long waits skips all":  {Schedule{Base: time.Second, Factor: 1, MaxRetries: 5}, 1, 10, 6},
		"a schedule of nothing but long waits not": {Schedule{Base: time.Hour, Factor: 1, MaxRetries: 5}, 0, 10, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.schedule.Place(row.attempts, row.receives); got != row.want {
				t.Errorf("place %d, want %d", got, row.want)
			}
		})
	}
}

// anySchedule draws a valid one.
var anySchedule = rapid.Custom(func(t *rapid.T) Schedule {
	return Schedule{
		Base:       time.Duration(rapid.IntRange(1, 600).Draw(t, "base")) * time.Second,
		Factor:     rapid.Float64Range(1, 10).Draw(t, "factor"),
		MaxRetries: rapid.IntRange(1, MaxRetries).Draw(t, "retries"),
		Long:       time.Duration(rapid.IntRange(0, 900).Draw(t, "long")) * time.Second,
	}
})

func TestSchedule_Place_skipsNoLongPlaceAndUsesEveryReceive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySchedule.Draw(t, "schedule")
		attempts := rapid.IntRange(0, s.MaxRetries).Draw(t, "attempts")
		receives := rapid.IntRange(1, 100).Draw(t, "receives")
		place := s.Place(attempts, receives)
		if place <= attempts || place > attempts+receives || place > s.Last() {
			t.Fatalf("place %d of %d", place, s.Last())
		}
		for skipped := attempts + 1; skipped < place; skipped++ {
			if s.LongAfter(skipped) {
				t.Fatalf("place %d is skipped, %d is next", skipped, place)
			}
		}
		if place < min(attempts+receives, s.Last()) && !s.LongAfter(place) {
			t.Fatalf("place %d waits at a short wait", place)
		}
		if next := s.Place(attempts, receives+1); next < place || next > place+1 {
			t.Fatalf("place %d, a receive later %d", place, next)
		}
	})
}

func TestSchedule_LongAfter(t *testing.T) {
	for place, want := range map[int]bool{1: false, 2: false, 3: false, 4: true, 9: true} {
		if got := production.LongAfter(place); got != want {
			t.Errorf("after place %d: %v", place, got)
		}
	}
	edge := Schedule{Base: LongWait, Factor: 1, MaxRetries: 1}
	if edge.LongAfter(1) || !edge.IsLong(LongWait+1) {
		t.Error("what is exactly as long is short, what is longer is not")
	}
	edge.Long = LongWait - 1
	if !edge.LongAfter(1) || edge.IsLong(edge.Long) {
		t.Error("the schedule's own limit does not count, or is not a short wait itself")
	}
}

func TestSchedule_End_isSevenDaysAfterTheBeginningAtMost(t *testing.T) {
	started := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	shorter := production
	shorter.MaxLife = 24 * time.Hour
	for want, s := range map[time.Time]Schedule{started.Add(MaxLife): production, started.Add(24 * time.Hour): shorter} {
		if got := s.End(started); !got.Equal(want) {
			t.Errorf("ends at %s, want %s", got, want)
		}
	}
}
