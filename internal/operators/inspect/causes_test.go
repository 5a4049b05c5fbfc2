package inspect

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func TestHandler_causes_countsByEndpointAndReason(t *testing.T) {
	letter := func(endpoint string, reason delivery.Reason, ago int) deadletter.Record {
		r := deadletter.Record{
			Ref:    delivery.Ref{DeliveryID: fmt.Sprint("msg_", ago), TenantID: "acme", EndpointID: endpoint},
			Status: deadletter.Dead,
			Reason: reason, DiedAt: at.Add(-time.Duration(ago) * time.Minute),
		}
		if endpoint == "" {
			r.TenantID = ""
		}
		return r
	}
	ago := func(minutes int) time.Time { return at.Add(-time.Duration(minutes) * time.Minute) }
	crm := api.Cause{
		TenantID: "acme", EndpointID: "webhook_2", Host: "hooks.example.com", Description: "crm", State: "open",
	}
	most, least := crm, crm
	most.Reason, most.Count, most.FirstDiedAt, most.LatestDiedAt = "http_4xx", 2, ago(4), ago(2)
	least.Reason, least.Count, least.FirstDiedAt, least.LatestDiedAt = "timeout", 1, ago(5), ago(5)
	want := api.Causes{Data: []api.Cause{
		most,
		{
			TenantID: "acme", EndpointID: "webhook_1", State: "deleted", Reason: "timeout", Count: 1,
			FirstDiedAt: ago(1), LatestDiedAt: ago(1),
		},
		{Reason: "unreadable", Count: 1, FirstDiedAt: ago(3), LatestDiedAt: ago(3)},
		least,
	}}
	inAccount(t, func(a *account) {
		a.putLetters(
			letter("webhook_1", "timeout", 1), letter("webhook_2", "http_4xx", 2), letter("", "unreadable", 3),
			letter("webhook_2", "http_4xx", 4), letter("webhook_2", "timeout", 5),
		)
		replayed := letter("webhook_2", "timeout", 6)
		replayed.Status = deadletter.Replayed // counts on request only
		a.putLetters(replayed)
		a.putEndpoints(endpoint.Endpoint{
			ID: "webhook_2", TenantID: "acme", URL: "https://hooks.example.com/x", Description: "crm", Status: endpoint.Active,
		})
		a.putCircuits(circuit.Item{TenantID: "acme", EndpointID: "webhook_2", Version: 1, State: circuit.Open})
		if diff := cmp.Diff(want, read[api.Causes](a, "causes", "")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		again := read[api.Causes](a, "causes", `"tenant_id":"acme","status":"replayed"`)
		if len(again.Data) != 1 || again.Data[0].Count != 1 || again.More {
			t.Errorf("of the replayed ones: %+v", again)
		}
	})
}

func TestHandler_causes_saysThatThereAreMore(t *testing.T) {
	for n, want := range map[int]bool{maxDeaths - 1: false, maxDeaths + 1: true} {
		inAccount(t, func(a *account) {
			for i := range n {
				a.putLetters(deadletter.Record{
					Ref: ref(fmt.Sprint("msg_", i)), Status: deadletter.Dead, Reason: "timeout", DiedAt: at,
				})
			}
			got := read[api.Causes](a, "causes", `"tenant_id":"acme"`)
			if got.More != want || got.Data[0].Count != min(n, maxDeaths) {
				t.Errorf("of %d: %+v", n, got)
			}
		})
	}
}

// The causes in a summary are those of the action causes, and the counts those of a summary without them.
func TestHandler_summary_hasTheCausesOfDeathOnRequest(t *testing.T) {
	for _, n := range []int{0, 1, 3, maxDeaths, maxDeaths + 1} {
		inAccount(t, func(a *account) {
			for i := range n {
				a.putLetters(deadletter.Record{
					Ref: ref(fmt.Sprint("msg_", i)), Status: deadletter.Dead, Reason: "timeout",
					DiedAt: at.Add(-time.Duration(i) * time.Millisecond),
				})
			}
			a.putLetters(deadletter.Record{Ref: ref("msg_again"), Status: deadletter.Replayed, DiedAt: at})
			want := read[api.Summary](a, "summary", "")
			causes := read[api.Causes](a, "causes", "")
			if want.Causes != nil {
				t.Errorf("of %d: causes that were not asked for", n)
			}
			want.Causes = &causes
			if diff := cmp.Diff(want, read[api.Summary](a, "summary", `"causes":true`)); diff != "" {
				t.Errorf("of %d (-want +got):\n%s", n, diff)
			}
		})
	}
}
