package allowance

import (
	"testing"
	"time"
)

func TestCharged(t *testing.T) {
	at := time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC)
	const ms = time.Millisecond
	for name, row := range map[string]struct {
		stored, now, want time.Time
	}{
		"the first":           {time.Time{}, at, at.Add(7 * ms)},
		"added":               {at.Add(time.Hour), at, at.Add(time.Hour + 7*ms)},
		"passed":              {at.Add(-ms), at, at.Add(7 * ms)},
		"passed just now":     {at, at, at.Add(7 * ms)},
		"passed, by less":     {at, at.Add(ms / 2), at.Add(7 * ms)},
		"passed, all counted": {at, at.Add(9 * ms / 10), at.Add(8 * ms)},
		"ahead by the least":  {at.Add(ms), at.Add(ms / 2), at.Add(8 * ms)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Charged(row.stored, 7*ms+ms/4, row.now); !got.Equal(row.want) || got.Location() != time.UTC {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
}

func TestMoves(t *testing.T) {
	at := time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC)
	const ms = time.Millisecond
	for name, row := range map[string]struct {
		from, to time.Duration // of at, which is stored
		want     bool
	}{
		"raised":                      {0, ms, true},
		"raised by no millisecond":    {0, ms / 2, false},
		"to where it is":              {0, 0, false},
		"raised, and it is beyond":    {-time.Hour, -ms, false},
		"lowered":                     {0, -ms, true},
		"lowered, and it is beyond":   {time.Hour, ms, false},
		"lowered to where it is":      {time.Hour, 0, false},
		"raised from behind to there": {-time.Hour, 0, false},
	} {
		if got := Moves(at, at.Add(row.from), at.Add(row.to)); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if Moves(time.Time{}, at, at.Add(time.Hour)) || Moves(time.Time{}, at, at.Add(-time.Hour)) {
		t.Error("a tenant that was forgotten is remembered")
	}
}
