//go:build emulator

package examples_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/notice"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// The recipe's own tests play it on an emulator of SES and DynamoDB, against mutants of a tenant's and a stranger's.
func TestOwnersAreMailedWithinLimits(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	python, err := tools.Python(root)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-B", "-m", "unittest", "discover", "-s", "tests", "-p", "*_test.py")
	cmd.Dir = "notices"
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "Ran 36 tests") {
		t.Errorf("%v\n%s", err, out)
	}
}

// What the recipe is tested with is what Herald publishes.
func TestOwnersAreMailedOfWhatHeraldPublishes(t *testing.T) {
	e := endpoint.Endpoint{
		ID: "webhook_1", TenantID: "acme", URL: "https://hooks.example.com/path", Description: "orders",
		About: endpoint.About{Contact: "ann@example.com"},
	}
	at := time.Date(2026, 11, 28, 21, 30, 0, 123_000_000, time.UTC)
	var told []notice.Notice
	for _, i := range []circuit.Item{
		{Outage: circuit.Spell{At: at, Reason: "http_5xx", Status: 503, EndedAt: at.Add(time.Hour)}},
		{Pause: circuit.Spell{At: at, EndedAt: at.Add(time.Hour)}}, {Death: circuit.Spell{At: at, Reason: "timeout"}},
	} {
		for _, n := range i.Owed() {
			told = append(told, notice.Of(e, n))
		}
	}
	want, err := json.MarshalIndent(told, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("notices/tests/notices.json")
	if diff := cmp.Diff(string(want)+"\n", string(got)); err != nil || diff != "" {
		t.Errorf("notices.json: %v (-published +there)\n%s", err, diff)
	}
}
