package commands

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// A test has no record until it has ended, and one of a slow tenant is retrying before.
func TestTest_waitsForTheEnd(t *testing.T) {
	missing := refused(api.Refusal{Code: api.CodeNotFound, Message: "no", Field: "delivery_id"})
	for state, want := range map[delivery.State]int{
		delivery.Acknowledged: exit.Done, delivery.Discarded: exit.Unhealthy,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeOf(to(api.SendTest, api.TestDelivery{DeliveryID: "msg_1", Host: "a.com", Body: "{}"}))
			f.later = []string{missing, written(api.Delivery{State: delivery.Retrying}), written(api.Delivery{
				State: state, LastStatus: 503, Reason: delivery.ReasonHTTP5xx, DurationMS: 12,
			})}
			start := time.Now()
			f.ends(t, want, "-y test acme/crm", "ended.status", "503", "ended.duration_ms", "sent.delivery_id", "msg_1")
			wantAsked := sent{"action": "test", "endpoint_id": "crm", "tenant_id": "acme",
				"operator": "arn:aws:iam::1:user/ann"}
			if diff := cmp.Diff(wantAsked, f.requests[0]); diff != "" || len(f.requests) != 4 {
				t.Errorf("%s: %d requests, (-want +got):\n%s", state, len(f.requests), diff)
			}
			if took := time.Since(start); took != 2*time.Second { // each look is a call of a function
				t.Errorf("three looks took %s", took)
			}
		})
	}
}

func TestTest_givesUpInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeOf(to(api.SendTest, api.TestDelivery{DeliveryID: "msg_1"}),
			refusing(api.GetDelivery, api.Refusal{Code: api.CodeNotFound, Message: "no", Field: "delivery_id"}))
		f.ends(t, exit.Unhealthy, "-y test webhook_1", "herald deliveries show msg_1")
	})
}
