package telemetry

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Processes and functions have to agree.
func TestSample_Takes_theSameIdsEverywhere(t *testing.T) {
	var got []string
	for i := range 300 {
		id := fmt.Sprint("evt_", i)
		if Sample(1).Takes(id) {
			got = append(got, id)
		}
		if Sample(0).Takes(id) || !Everything.Takes(id) {
			t.Errorf("%s is in 0 %% or not in 100 %%", id)
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
