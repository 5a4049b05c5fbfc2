package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func handle(i int) string { return fmt.Sprintf("r%02d", i) }

func changes(n int) []VisibilityChange {
	list := make([]VisibilityChange, n)
	for i := range list {
		list[i] = VisibilityChange{ReceiptHandle: handle(i), Wait: time.Duration(100+i) * time.Second}
	}
	return list
}

func TestVisibility_ChangeVisibility_asksOnceMoreForWhatFailed(t *testing.T) {
	const always = 9
	for name, row := range map[string]struct {
		n      int
		fail   map[int]int // index: how often
		calls  []int
		failed []int
	}{
		"nothing makes no call":       {0, nil, nil, nil},
		"ten in one call":             {10, nil, []int{10}, nil},
		"eleven in two":               {11, nil, []int{10, 1}, nil},
		"twenty-five in three":        {25, nil, []int{10, 10, 5}, nil},
		"one fails once":              {11, map[int]int{10: 1}, []int{10, 1, 1}, nil},
		"one of each call fails once": {25, map[int]int{3: 1, 10: 1, 24: 1}, []int{10, 10, 5, 3}, nil},
		"one fails twice":             {11, map[int]int{9: always}, []int{10, 1, 1}, []int{9}},
		"some fail once, others twice": {
			25, map[int]int{0: 1, 7: always, 13: 1, 19: always, 20: always, 23: 1}, []int{10, 10, 5, 6},
			[]int{7, 19, 20},
		},
		"eleven fail once, in two more": {
			25, map[int]int{0: 1, 2: 1, 4: 1, 6: 1, 8: 1, 10: 1, 12: 1, 14: 1, 16: 1, 18: 1, 20: 2},
			[]int{10, 10, 5, 10, 1}, []int{20},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeSQS{waits: map[string]int32{}, fails: map[string]int{}}
			for i, times := range row.fail {
				f.fails[handle(i)] = times
			}
			errs := Visibility{Client: f}.ChangeVisibility(t.Context(), changes(row.n))
			if got := f.sizes(); !slices.Equal(got, row.calls) {
				t.Errorf("calls of %v, want %v", got, row.calls)
			}
			if len(errs) != row.n {
				t.Fatalf("%d errors for %d messages", len(errs), row.n)
			}
			for i, err := range errs {
				got, changed := f.waits[handle(i)]
				if slices.Contains(row.failed, i) {
					if err == nil || !strings.HasSuffix(err.Error(), "Refused-"+handle(i)) || changed {
						t.Errorf("message %d: %v, changed %v; want an error of its own and no change", i, err, changed)
					}
					continue
				}
				if want := int32(100 + i); err != nil || got != want {
					t.Errorf("message %d: %v, changed to %d s, want %d s", i, err, got, want)
				}
			}
		})
	}
}

func TestVisibility_ChangeVisibility_survivesACallThatFailsAsAWhole(t *testing.T) {
	for name, row := range map[string]struct {
		down   func(call int) bool
		calls  []int
		failed bool
	}{
		"once":   {func(call int) bool { return call == 1 }, []int{10, 10, 5, 10}, false},
		"always": {func(call int) bool { return call == 1 || call == 3 }, []int{10, 10, 5, 10}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeSQS{waits: map[string]int32{}, down: row.down}
			errs := Visibility{Client: f}.ChangeVisibility(t.Context(), changes(25))
			if got := f.sizes(); !slices.Equal(got, row.calls) || !slices.Equal(f.calls[3], f.calls[1]) {
				t.Errorf("calls of %v, want %v, the second again at the end", f.calls, row.calls)
			}
			for i, err := range errs {
				secondCall := i/10 == 1
				if want := row.failed && secondCall; (err != nil) != want {
					t.Errorf("message %d: %v, want an error: %v", i, err, want)
				}
			}
		})
	}
}
