package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Both views of an endpoint tell who has limited it, and which limit is the smaller one.
func TestHandler_endpoint_showsItsLimits(t *testing.T) {
	byAnn := endpoint.Marks{RateLimit: 5, LimitedAt: since, LimitedBy: "ann", LimitReason: "their quota"}
	for name, row := range map[string]struct {
		owner int
		marks endpoint.Marks
		want  api.Limits
	}{
		"none":        {0, endpoint.Marks{}, api.Limits{}},
		"the owner's": {10, endpoint.Marks{}, api.Limits{RateLimit: new(10), EffectiveRateLimit: new(10)}},
		"both": {10, byAnn, api.Limits{
			RateLimit: new(10), OperatorRateLimit: new(5), EffectiveRateLimit: new(5),
			LimitedBy: "ann", LimitedAt: since, LimitReason: "their quota",
		}},
		"an operator's larger one": {3, byAnn, api.Limits{
			RateLimit: new(3), OperatorRateLimit: new(5), EffectiveRateLimit: new(3),
			LimitedBy: "ann", LimitedAt: since, LimitReason: "their quota",
		}},
	} {
		inAccount(t, func(a *account) {
			a.putEndpoints(endpoint.Endpoint{
				ID: "webhook_1", TenantID: "acme", Status: endpoint.Active, RateLimit: row.owner, Marks: row.marks,
			})
			one := read[api.Endpoint](a, "endpoint", `"tenant_id":"acme","endpoint_id":"webhook_1"`).Limits
			listed := read[api.List[api.ListedEndpoint]](a, "endpoints", `"tenant_id":"acme"`).Data[0].Limits
			if diff := cmp.Diff([]api.Limits{row.want, row.want}, []api.Limits{one, listed}); diff != "" {
				t.Errorf("%s: one and listed (-want +got):\n%s", name, diff)
			}
		})
	}
}

// An endpoint that waits for its rate is in no trouble: it is listed where a healthy one is, with the number of
// its waiting deliveries and the time of the oldest. Where it flaps, too, that is shown.
func TestHandler_endpoints_thatWaitForTheirRateAreInNoTrouble(t *testing.T) {
	inAccount(t, func(a *account) {
		paced := circuit.Pace{Quota: 750, Oldest: failed}
		for id, recent := range map[string]circuit.Recent{"webhook_1": {}, "webhook_2": {Start: at, Tried: 10, OK: 5}} {
			a.putEndpoints(endpoint.Endpoint{ID: id, TenantID: "acme", Status: endpoint.Active, RateLimit: 10})
			a.putCircuits(circuit.Item{
				TenantID: "acme", EndpointID: id, Version: 1, HeldUntil: at, Pace: paced, Recent: recent,
			})
		}
		a.wait("webhook_1", 12, 12, failed)
		for fields, want := range map[string][][]string{
			"":                               {{"webhook_2"}},
			`"tenant_id":"acme"`:             {{"webhook_1", "webhook_2"}},
			`"state":"waiting for its rate"`: {{"webhook_1"}},
			`"state":"flapping"`:             {{"webhook_2"}},
		} {
			if diff := cmp.Diff(want, a.pages(fields)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", fields, diff)
			}
		}
		got := read[api.Endpoint](a, "endpoint", `"tenant_id":"acme","endpoint_id":"webhook_1"`)
		if got.Health.State != api.StateRated || !got.Health.Since.Equal(failed) || got.Waiting.Held != 12 {
			t.Errorf("%+v, %+v", got.Health, got.Waiting)
		}
		want := map[api.State]int{"flapping": 1}
		if diff := cmp.Diff(want, read[api.Summary](a, "summary", "").Endpoints.States); diff != "" {
			t.Errorf("summary (-want +got):\n%s", diff)
		}
	})
}
