package cost

import (
	"testing"
	"time"
)

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
