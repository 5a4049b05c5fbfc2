//go:build emulator

package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// The demonstration is the proof of its scenes: every event, a receiver that recovers, an outage longer than
// the schedule, a dead letter that is opened and replayed, and notices that come through a rule on the bus.
func TestTheDemonstrationHolds(t *testing.T) {
	t.Parallel()
	demo := exec.Command(filepath.Join(root, ".local", "bin", "demo"), "-state", stateFile)
	out := execute(t, 2*patience, demo)
	prints(t, out, "26 of 26 verified", "replayed with the same wh-id", "dead_letter", "checks held")
}
