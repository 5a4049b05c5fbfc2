package console

import (
	"math"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// A percentile of a few attempts is one of these attempts: the steps are wider where there are few.
func TestWidened_hasEnoughAttemptsInMostSteps(t *testing.T) {
	minute := stack.Window{Step: time.Minute, Steps: 60}
	for name, c := range map[string]struct {
		each float64
		want time.Duration
	}{
		"many": {100, time.Minute}, "some": {30, 5 * time.Minute}, "few": {1, 10 * time.Minute},
		"none": {math.NaN(), 10 * time.Minute},
	} {
		attempts := make([]float64, 60)
		for n := range attempts {
			attempts[n] = c.each
		}
		got := widened(minute, []int{1, 5, 10}, attempts)
		if got.Step != c.want || got.Step*time.Duration(got.Steps) != time.Hour {
			t.Errorf("%s: %d steps of %s, want %s", name, got.Steps, got.Step, c.want)
		}
	}
}
