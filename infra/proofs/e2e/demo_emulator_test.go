//go:build emulator

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// The demonstration is the proof of its scenes: every event, a receiver that recovers, an outage longer than
// the schedule, a dead letter that is opened and replayed, and notices that come through a rule on the bus.
func TestTheDemonstrationHolds(t *testing.T) {
	t.Parallel()
	demo := exec.Command(filepath.Join(root, ".local", "bin", "demo"), "-state", stateFile)
	out := execute(t, demo)
	prints(t, out, "26 of 26 verified", "replayed with the same wh-id", "dead_letter", "checks held")
}

// An incident of few dead letters: the seed decides how many have which reason.
func TestAnIncidentIsTheSameForItsSeed(t *testing.T) {
	t.Parallel()
	execute(t, exec.Command(filepath.Join(root, ".local", "bin", "incident"),
		"-state", stateFile, "-seed", "17", "-letters", "20", "-once"))
	letters := get(t, api.ListDeadLetters, api.DeadLettersRequest{
		Selector: api.Selector{Status: "dead"}, Page: api.Page{Limit: new(100)},
	})
	got := map[delivery.Reason]int{}
	for _, d := range letters.Data {
		if strings.HasSuffix(d.TenantID, "_17") && strings.Contains(d.EventID, "_dead_") { // others died of themselves
			got[d.Reason]++
		}
	}
	want := map[delivery.Reason]int{"http_4xx": 5, "http_5xx": 14, "timeout": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dead letters by reason (-want +got):\n%s", diff)
	}
}
