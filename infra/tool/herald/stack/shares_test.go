package stack

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// traffic is an hour of which acme's deliveries all succeed at once, and globex' all fail. It writes the lines that
// deliver would, with a sample of successes.
func traffic(t *testing.T, sample float64, events int) LoggedLines {
	t.Helper()
	var log strings.Builder
	line := func(tenant, outcome string, attempt, ms int) {
		fmt.Fprintf(&log, `{"timestamp":%q,"message":"attempt","tenant_id":%q,"endpoint_id":"webhook_%s","outcome":%q,`+
			`"attempt":%d,"ms":%d}`+"\n",
			now.Add(-time.Minute).Format(time.RFC3339Nano), tenant, tenant, outcome, attempt, ms)
	}
	for n := range events {
		if telemetry.Sample(sample).Takes(fmt.Sprint("evt_", n)) {
			line("acme", "acknowledged", 1, 20)
		}
		line("globex", "retry", 1, 20)
	}
	line("acme", "acknowledged", 2, 20) // a retry is always logged
	path := filepath.Join(t.TempDir(), "deliver.log")
	if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return LoggedLines{path, sample}
}

// Of the same traffic, a log with a sample of one percent tells the same shares as a log of everything. Before lines
// were weighed, a tenant whose deliveries fail had a hundred times its share.
func TestShares_areTheSameWithAnySample(t *testing.T) {
	const events = 20_000
	for _, sample := range []float64{100, 50, 1} {
		shares, err := traffic(t, sample, events).Shares(t.Context(), now.Add(-time.Hour), now)
		if err != nil || len(shares.Parts) != 2 {
			t.Fatal(shares, err)
		}
		for _, share := range shares.Parts {
			part, time := share.Attempts/shares.Total().Attempts, share.Millis/shares.Total().Millis
			if math.Abs(part-.5) > .05 || math.Abs(time-.5) > .05 {
				t.Errorf("with a sample of %v, %s has %.3f of the attempts, %.3f of the time", sample, share.ID, part, time)
			}
		}
		if said := shares.Meaning(); strings.HasPrefix(said, "Estimates") != (sample < 100) {
			t.Errorf("with a sample of %v: %s", sample, said)
		}
	}
}

// Without any success in the log, its failures are all that can be compared.
func TestShares_areOfFailuresAloneWithoutASample(t *testing.T) {
	shares, err := traffic(t, 0, 10).Shares(t.Context(), now.Add(-time.Hour), now)
	if err != nil || len(shares.Parts) != 1 || shares.Parts[0].ID != "globex" || shares.Parts[0].Attempts != 10 {
		t.Errorf("%+v, %v", shares, err)
	}
	if said := shares.Meaning(); !strings.HasPrefix(said, "Failures alone") {
		t.Error(said)
	}
}

func TestEndpointShares_areThoseOfOneTenant(t *testing.T) {
	shares, err := traffic(t, 100, 10).EndpointShares(t.Context(), "acme", now.Add(-time.Hour), now)
	if err != nil || len(shares.Parts) != 1 || shares.Parts[0].ID != "webhook_acme" || shares.Parts[0].Attempts != 11 {
		t.Errorf("%+v, %v", shares, err)
	}
}

// An id comes from an address, and a query can read every field of the log. Whatever is given, the query is ours with
// an id in it, or is not asked.
func TestInsights_EndpointShares_takesNothingButAnIdIntoTheQuery(t *testing.T) {
	try := func(given string) bool {
		logs := &insights{ends: types.QueryStatusComplete}
		_, err := Insights{Stack{}, logs}.EndpointShares(t.Context(), given, now, now)
		if !event.ValidTenantID(given) {
			return err != nil && len(logs.asked) == 0
		}
		before, after, _ := strings.Cut(endpointsQuery, "TENANT")
		return err == nil && *logs.asked[0].QueryString == before+given+after
	}
	for _, given := range hostileIDs {
		if !try(given) {
			t.Errorf("%q gets into a query", given)
		}
	}
	if err := quick.Check(try, nil); err != nil {
		t.Error(err)
	}
}

// hostileIDs are texts that mean something in a query or in a filter, and ids that look like that.
var hostileIDs = []string{
	"", " ", "*", `"`, `\`, `\"`, "acme\"", `" or tenant_id like "`, `acme" | fields @message | filter "`,
	"acme\n| limit 1",
	`acme") || ($.tenant_id = "*`, "%.*%", "/.*/", "acme/", "{ $.x }", "a c", "ä", "acme\x00", "acme\u202e",
	"'acme'", "`acme`", "acme|42", "auth0|42", "a=b", "a:b", "~", "+", "|", "a.b-c_d@e", "=", strings.Repeat("a", 128),
	strings.Repeat("a", 129),
}
