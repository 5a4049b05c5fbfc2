//go:build emulator

package e2e

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// An incident of few dead letters: the seed decides how many have which reason.
func TestAnIncidentIsTheSameForItsSeed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	var out strings.Builder
	cmd := exec.Command(filepath.Join(root, ".local", "bin", "incident"),
		"-state", stateFile, "-seed", "17", "-letters", "20", "-once")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := child.Run(ctx, cmd); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	var list struct {
		Data []struct {
			TenantID string `json:"tenant_id"`
			EventID  string `json:"event_id"`
			Reason   string `json:"reason"`
		} `json:"data"`
	}
	asked := map[string]any{"action": "dead_letters", "operator": "e2e", "status": "dead", "limit": 100}
	if err := operator.Invoke(t.Context(), "inspect", asked, &list); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, d := range list.Data {
		if strings.HasSuffix(d.TenantID, "_17") && strings.Contains(d.EventID, "_dead_") { // others died of themselves
			got[d.Reason]++
		}
	}
	want := map[string]int{"http_4xx": 5, "http_5xx": 14, "timeout": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dead letters by reason (-want +got):\n%s", diff)
	}
}
