package cost

import (
	"testing"
	"time"
)

// The figures were reckoned by hand. 10/7 units are provisioned for a load of one, so that 300 s of 3/7 are left over.
// A load that doubles takes 4/7 more than is provisioned, and throttles after 128.6 / (4/7) s. Scaling sees only the
// capacity that is used, so that each round of five minutes adds two fifths.
func TestGrow(t *testing.T) {
	for _, row := range []struct {
		times        float64
		borne, until time.Duration
	}{
		{1, -1, 0}, {1.4, -1, 0}, {2, 225 * time.Second, 5 * time.Minute}, {5, 36 * time.Second, 20 * time.Minute},
	} {
		b := grow(row.times)
		if b.borne != row.borne || b.until != row.until {
			t.Errorf("%v times: borne for %s, throttled until %s, want %+v", row.times, b.borne, b.until, row)
		}
		if quiet := row.until == 0; quiet != (b.refused == 0) || b.refused*60 > row.until.Seconds() {
			t.Errorf("%v times: %v minutes of the load are throttled", row.times, b.refused)
		}
	}
}

func TestRotated(t *testing.T) {
	for rotations, want := range []float64{2, 4, 6, 6} {
		if got := rotated(2, rotations); got != want {
			t.Errorf("2 keys after %d rotations: $%v a month", rotations, got)
		}
	}
}

// 24,000 units a second are 196,608,000 bytes.
func TestScan(t *testing.T) {
	used, least := scan(196_608_000 * 60)
	if used[reads] != 24_000*60 || least != time.Minute {
		t.Errorf("%v units in %s", used[reads], least)
	}
}

func TestPublisher(t *testing.T) {
	for _, row := range []struct {
		batch float64
		group bool
		want  float64
	}{{1, false, 0.40}, {10, false, 0.04}, {1, true, 0.70}, {10, true, 0.07}} {
		if got := publisher(row.batch, row.group).all(); got-row.want > 1e-9 || row.want-got > 1e-9 {
			t.Errorf("batches of %v, a group %v: $%v a million", row.batch, row.group, got)
		}
	}
}
