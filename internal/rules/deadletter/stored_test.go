package deadletter

import (
	"fmt"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

func TestRecord_Follows(t *testing.T) {
	stored := Record{Ref: delivery.Ref{Replay: 1}, Sealed: Sealed{History: make([]SealedEntry, 2)}}
	for _, row := range []struct {
		replay, n int
		want      bool
	}{{2, 3, true}, {5, 3, true}, {1, 3, false}, {0, 3, false}, {2, 2, false}, {2, 4, false}} {
		if got := (Record{Ref: delivery.Ref{Replay: row.replay}}).Follows(stored, row.n); got != row.want {
			t.Errorf("life %d as death %d: %v", row.replay, row.n, got)
		}
	}
}

func TestRecord_Claim(t *testing.T) {
	now := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	for status, rows := range map[Status]map[time.Duration]string{
		Dead:      {0: "8 true true", StaleClaim: "8 true true"},
		Replaying: {StaleClaim - 1: "0 false false", StaleClaim: "7 false true"},
		Replayed:  {0: "0 false false", time.Hour: "0 false false"},
	} {
		for age, want := range rows {
			r := Record{Status: status, ReplayCount: 7, UpdatedAt: now.Add(-age)}
			if got := fmt.Sprint(r.Claim(now)); got != want {
				t.Errorf("%s for %s: %s, want %s", status, age, got, want)
			}
		}
	}
}

func TestRecord_Untouched_Claimed(t *testing.T) {
	seen := Record{Status: Replaying, ReplayCount: 2, UpdatedAt: time.Unix(1, 0)}
	for name, row := range map[string]struct {
		change             func(r *Record)
		untouched, claimed bool
	}{
		"nothing":           {func(*Record) {}, true, true},
		"its attempts":      {func(r *Record) { r.Attempts++ }, true, true},
		"its status":        {func(r *Record) { r.Status = Replayed }, false, false},
		"another replay":    {func(r *Record) { r.ReplayCount++ }, true, false},
		"its time":          {func(r *Record) { r.UpdatedAt = r.UpdatedAt.Add(1) }, false, true},
		"its zone":          {func(r *Record) { r.UpdatedAt = r.UpdatedAt.UTC() }, true, true},
		"dead, of a replay": {func(r *Record) { r.Status = Dead }, false, false},
	} {
		r := seen
		row.change(&r)
		if r.Untouched(seen) != row.untouched || r.Claimed(2) != row.claimed {
			t.Errorf("%s: untouched %v, claimed %v", name, r.Untouched(seen), r.Claimed(2))
		}
	}
}
