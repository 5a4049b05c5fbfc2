package commands

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// Each kind of time has its name: as a flag, in the request, and where the answer repeats it.
func TestTimes_areNamedByWhatHappened(t *testing.T) {
	for line, row := range map[string]struct {
		asks  sent
		named []string
	}{
		"dead list --died-since 2h --published-until 2026-05-01": {
			sent{"since": "2026-05-02T07:00:00Z", "published_until": "2026-05-01T00:00:00Z", "status": "dead"},
			[]string{"died_since", "published_until"},
		},
		"dead list --tenant acme --since 2h --until 08:00": {
			sent{"since": "2026-05-02T07:00:00Z", "until": "2026-05-02T08:00:00Z", "tenant_id": "acme"},
			[]string{"died_since", "died_until"},
		},
		"rejected list --sent-since yesterday --sent-until today": {
			sent{"since": "2026-05-01T00:00:00Z", "until": "2026-05-02T00:00:00Z"}, []string{"sent_since", "sent_until"},
		},
		"deliveries find --endpoint webhook_1 --published-since 2h": {
			sent{"published_since": "2026-05-02T07:00:00Z", "endpoint_id": "webhook_1"}, []string{"published_since"},
		},
	} {
		f := fakeOf(to(api.ListDeadLetters, listOf(api.DeadLetter{})), to(api.ListDeliveries, api.DeliveryList{
			List: listOf(api.Delivery{})}), to(api.ListRejected, api.RejectedList{List: listOf(api.RejectedEvent{})}))
		out := f.ends(t, exit.Done, "-o json "+line)
		var printed struct {
			Data  []any
			Times map[string]map[string]string
		}
		if err := json.Unmarshal([]byte(out), &printed, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		var named []string
		for _, name := range row.named {
			if at := printed.Times[name]; at["utc"] != "" && at["local"] != "" {
				named = append(named, name)
			}
		}
		if diff := cmp.Diff(row.named, named); diff != "" || len(printed.Data) != 1 {
			t.Errorf("%s (-want +printed):\n%s\n%s", line, diff, out)
		}
		asked := f.requests[0]
		for _, name := range []string{"action", "operator", "limit"} {
			delete(asked, name)
		}
		if diff := cmp.Diff(row.asks, asked); diff != "" {
			t.Errorf("%s (-want +asked):\n%s", line, diff)
		}
	}
	f := fakeOf(to(api.ListDeadLetters, listOf(api.DeadLetter{})))
	f.ends(t, exit.Done, "dead list --since 2h", "died since 2026-05-02 07:00:00 UTC, as here\n")
	f.ends(t, exit.Usage, "dead list --published-since 08:00 --published-until 10:00",
		"--published-until: 10:00 is in the future; say which day: 2026-05-01 08:00 to 2026-05-01 10:00, or 2026-05-02")
	f.ends(t, exit.Usage, "dead list --since 2h --died-since 3h", "given twice")
}
