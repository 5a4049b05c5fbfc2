package replay

import (
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// The orders of an endpoint's owner refuse a replay, in the same order as in all other functions. A replay waits for an
// operator's pause, and an order to discard is about lives that began before it.
func TestReadReceiver_refusesByTheAnswerOfTheGate(t *testing.T) {
	narrowed, marked := []string{"user.created"}, endpoint.Marks{PausedAt: time.Now(), DiscardedBefore: time.Now()}
	for name, row := range map[string]struct {
		endpoint endpoint.Endpoint
		want     string
	}{
		"active":                    {endpoint.Endpoint{Status: endpoint.Active}, ""},
		"paused and discarded":      {endpoint.Endpoint{Status: endpoint.Active, Marks: marked}, ""},
		"disabled":                  {endpoint.Endpoint{Status: endpoint.Disabled}, api.ReasonEndpointDisabled},
		"unsubscribed":              {endpoint.Endpoint{Status: endpoint.Active, Events: narrowed}, api.ReasonUnsubscribed},
		"unsubscribed and disabled": {endpoint.Endpoint{Status: endpoint.Disabled, Events: narrowed}, api.ReasonUnsubscribed},
		"unsubscribed and deleted": {
			endpoint.Endpoint{Status: endpoint.Deleted, Events: narrowed}, api.ReasonEndpointDeleted,
		},
	} {
		inAccount(t, func(a *account) {
			row.endpoint.ID, row.endpoint.TenantID = "webhook_1", "acme"
			a.Endpoints["webhook_1"] = row.endpoint
			key := dynamo.EndpointKey{TenantID: "acme", EndpointID: "webhook_1"}
			r, err := readReceiver(a.Context(), a.Process("replay").Endpoints(), key)
			if got := r.refusal("user.updated"); got != row.want || err != nil {
				a.Errorf("%s: %q, %v, want %q", name, got, err, row.want)
			}
		})
	}
	if got := (receiver{}).refusal("user.updated"); got != "" {
		t.Errorf("where no endpoint is asked: %q", got)
	}
}
