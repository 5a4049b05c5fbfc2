package stack

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit/names"
)

// A tenant's id comes back from a line of deliver's log, and from the audit log, as it was. Saved queries compare it
// with a text in double quotes, so that it has neither a quote nor a backslash.
func TestLinesOfTheLogs_nameTheirTenant(t *testing.T) {
	holds := func(t rapid.TB, tenant string) {
		t.Helper()
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("attempt",
			telemetry.KeyTenant, tenant, telemetry.KeyEndpoint, "webhook_1", telemetry.KeyOutcome, "retry")
		a, is := ReadAttempt(log.String())
		if !is || a.TenantID != tenant {
			t.Errorf("%s is logged as %q: %s", tenant, a.TenantID, &log)
		}
		line, err := json.Marshal(audit.Line{TenantID: tenant})
		if err != nil {
			t.Fatal(err)
		}
		if got := lineOf(string(line)).TenantID; got != tenant {
			t.Errorf("%s is audited as %q: %s", tenant, got, line)
		}
		if strings.ContainsAny(tenant, `"\`) {
			t.Errorf("%s ends a text of a query", tenant)
		}
	}
	for _, tenant := range names.Tenants() {
		holds(t, tenant)
	}
	rapid.Check(t, func(t *rapid.T) { holds(t, names.Any().Draw(t, "tenant")) })
}
