//go:build !race

package signature_test

import (
	"testing"

	"github.com/herald-webhooks/herald/internal/signature"
)

// The race detector makes a pool forget at random, hence the build tag.
func TestSign_allocatesNothingButTheHeader(t *testing.T) {
	body := make([]byte, 500)
	allocs := testing.AllocsPerRun(100, func() {
		signature.Sign("whs_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_glydzab4iuc4v7ixntzjq3mv6eclrza5", 1_700_000_000, body)
	})
	if allocs > 1 {
		t.Errorf("%v allocations, want 1", allocs)
	}
}
