//go:build emulator

package e2e

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// The demonstration is the proof of its scenes: every event, a receiver that recovers, an outage longer than
// the schedule, a dead letter that is opened and replayed, and notices that come through a rule on the bus.
func TestTheDemonstrationHolds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	var out strings.Builder
	cmd := exec.Command(filepath.Join(root, ".local", "bin", "demo"), "-state", stateFile)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := child.Run(ctx, cmd); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	prints(t, out.String(), "26 of 26 verified", "replayed with the same wh-id", "dead_letter", "checks held")
}
