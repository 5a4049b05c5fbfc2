package telemetry

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSample_Takes_theShareOfIdsThatItSays(t *testing.T) {
	const n = 20_000
	for name, id := range map[string]func(i int) string{
		"numbers in a row": func(i int) string { return fmt.Sprint("evt_", i) },
		"long ids":         func(i int) string { return fmt.Sprintf("01JD%022d", i*7919) },
	} {
		for _, sample := range []Sample{0, 0.1, 1, 10, 50, 100} {
			took := 0
			for i := range n {
				if sample.Takes(id(i)) {
					took++
				}
			}
			want := float64(sample) / 100 * n
			if off := math.Abs(float64(took) - want); off > 5*math.Sqrt(want) || (sample == 100 && took != n) {
				t.Errorf("%s: %v %% takes %d of %d", name, sample, took, n)
			}
		}
	}
}

// Processes and functions have to agree.
func TestSample_Takes_theSameIdsEverywhere(t *testing.T) {
	var got []string
	for i := range 300 {
		if id := fmt.Sprint("evt_", i); Sample(1).Takes(id) {
			got = append(got, id)
		}
	}
	if diff := cmp.Diff(inOnePercent, got); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
	for _, id := range inOnePercent {
		if !Sample(2).Takes(id) {
			t.Errorf("%s is in 1 %% and not in 2 %%", id)
		}
	}
}

func TestSample_Validate(t *testing.T) {
	for sample, ok := range map[Sample]bool{0: true, 0.5: true, 100: true, -0.1: false, 100.1: false} {
		if err := sample.Validate(); (err == nil) != ok {
			t.Errorf("%v: %v", sample, err)
		}
	}
	if Sample(math.NaN()).Validate() == nil {
		t.Error("what is not a number is taken for a share")
	}
}

// inOnePercent was computed apart from this code.
var inOnePercent = []string{"evt_41", "evt_83", "evt_139"}
