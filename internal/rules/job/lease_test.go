package job

import (
	"testing"
	"time"
)

func TestLease_Yields(t *testing.T) {
	until := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	for name, row := range map[string]struct {
		lease  Lease
		worker string
		after  time.Duration
		want   bool
	}{
		"of none":               {Lease{}, "w1", 0, true},
		"of none, for long":     {Lease{Until: until}, "w1", 0, true},
		"its own":               {Lease{"w1", until}, "w1", -time.Hour, true},
		"another's":             {Lease{"w1", until}, "w2", -time.Hour, false},
		"another's, to its end": {Lease{"w1", until}, "w2", 0, false},
		"that has passed":       {Lease{"w1", until}, "w2", time.Millisecond, true},
	} {
		if got := row.lease.Yields(row.worker, until.Add(row.after)); got != row.want {
			t.Errorf("a lease %s: %v", name, got)
		}
	}
}
