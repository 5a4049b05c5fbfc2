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

// The recipe's own tests play it on an emulator of SES and DynamoDB.
//
// Threat of the mails: has strangers mailed, by their address on many endpoints of many tenants. Held by: an address
// confirms first, for each tenant; a mailbox gets three mails in 24 hours and three questions in 90 days, whatever the
// tenants and spellings. With `Confirm=off`, the three mails are left.
//
// Threat of the mails: uses up the mails of others. Held by: 20 a day of a tenant; a question takes one of a mailbox's
// three; of its three questions, two are one tenant's; what was limited or refused counts nowhere.
//
// Threat of the mails: spoils the sender's reputation. Held by: who bounced or complained is left alone; a tenant may
// have five questions without an answer.
//
// Threat of the mails: says something to a stranger, or forges a header or markup. Held by: a question has no text of a
// tenant's; fields are one line, escaped in HTML, and SES makes the headers.
//
// Threat of the mails: confirms for others, by a guess, a mail scanner or a spelling. Held by: 256 bits, kept as a
// hash, for a week and once; only a button confirms, and the exact address.
//
// Threat of the mails: stops others' mails. Held by: the link has a keyed hash of tenant and address.
//
// Threat of the mails: learns addresses from table, log or queue. Held by: keyed hashes; neither contacts nor error
// texts in the log; a contact is read when it is mailed.
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
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "Ran 38 tests") {
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
