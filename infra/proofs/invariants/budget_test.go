package invariants

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// budgetOf is how long a search goes on: quick in "go test", and for INVARIANTS_FOR in "make invariants".
func budgetOf(quick time.Duration) time.Duration {
	if d, err := time.ParseDuration(os.Getenv("INVARIANTS_FOR")); err == nil {
		return d
	}
	return quick
}

// seedOf is another one every time, or INVARIANTS_SEED: searches then look for the same again.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("INVARIANTS_SEED"), 10, 64)
	if err != nil {
		seed = 1 // the same search every time; make invariants makes new ones
		if os.Getenv("INVARIANTS_FOR") != "" {
			seed = uint64(time.Now().UnixNano())
		}
	}
	t.Logf("INVARIANTS_SEED=%d", seed)
	return seed
}

// leftOut reports whether a try is left to "make invariants": three of four.
func leftOut() bool { return budgetOf(0) == 0 && rand.IntN(4) > 0 }
