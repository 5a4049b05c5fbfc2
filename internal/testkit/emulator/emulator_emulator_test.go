//go:build emulator

package emulator

import (
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/patience"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// Where the kernel does not kill it, the closed pipe is how the emulator learns that its parent is gone.
func TestEmulator_endsWhenItsStandardInputCloses(t *testing.T) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	e, err := Start(t.Context(), root, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	if err := e.life.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-e.Done():
	case <-time.After(patience.Limit()):
		t.Error("the emulator outlived its standard input")
	}
}
