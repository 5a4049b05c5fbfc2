package inspect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/testkit"
)

func TestHandler_causes_countsByEndpointAndReason(t *testing.T) {
	letter := func(endpoint string, reason delivery.Reason, ago int) deadletter.Record {
		r := deadletter.Record{
			Ref:    delivery.Ref{TenantID: "acme", EndpointID: endpoint},
			Reason: reason, DiedAt: at.Add(-time.Duration(ago) * time.Minute),
		}
		if endpoint == "" {
			r.TenantID = ""
		}
		return r
	}
	w := &world{
		letters: []deadletter.Record{
			letter("webhook_1", "timeout", 1), letter("webhook_2", "http_4xx", 2), letter("", "unreadable", 3),
			letter("webhook_2", "http_4xx", 4), letter("webhook_2", "timeout", 5),
		},
		endpoints: []endpoint.Endpoint{
			{ID: "webhook_2", TenantID: "acme", URL: "https://hooks.example.com/x", Description: "crm", Status: endpoint.Active},
		},
		circuits: []circuit.Item{{TenantID: "acme", EndpointID: "webhook_2", Version: 1, State: circuit.Open}},
	}
	got := testkit.Read[Causes](t, w.ask(t, "causes", ""))
	ago := func(minutes int) time.Time { return at.Add(-time.Duration(minutes) * time.Minute) }
	crm := Cause{TenantID: "acme", EndpointID: "webhook_2", Host: "hooks.example.com", Description: "crm", State: "open"}
	most, least := crm, crm
	most.Reason, most.Count, most.FirstDiedAt, most.LatestDiedAt = "http_4xx", 2, ago(4), ago(2)
	least.Reason, least.Count, least.FirstDiedAt, least.LatestDiedAt = "timeout", 1, ago(5), ago(5)
	want := Causes{Data: []Cause{
		most,
		{
			TenantID: "acme", EndpointID: "webhook_1", State: "deleted", Reason: "timeout", Count: 1,
			FirstDiedAt: ago(1), LatestDiedAt: ago(1),
		},
		{Reason: "unreadable", Count: 1, FirstDiedAt: ago(3), LatestDiedAt: ago(3)},
		least,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if w.selector != (job.Selector{Status: "dead"}) {
		t.Errorf("selected %+v", w.selector)
	}
}

func TestHandler_causes_saysThatThereAreMore(t *testing.T) {
	w := &world{letters: make([]deadletter.Record, 5000), next: "cursor"}
	if !testkit.Read[Causes](t, w.ask(t, "causes", `"tenant_id":"acme"`)).More {
		t.Error("it does not")
	}
	if want := (job.Selector{TenantID: "acme", Status: "dead"}); w.selector != want {
		t.Errorf("selected %+v, want %+v", w.selector, want)
	}
}
