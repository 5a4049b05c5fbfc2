package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/operator"
)

// Both views of an endpoint tell who has limited it, and which limit is the smaller one.
func TestHandler_endpoint_showsItsLimits(t *testing.T) {
	byAnn := endpoint.Marks{RateLimit: 5, LimitedAt: since, LimitedBy: "ann", LimitReason: "their quota"}
	for name, row := range map[string]struct {
		owner int
		marks endpoint.Marks
		want  Limits
	}{
		"none":        {0, endpoint.Marks{}, Limits{}},
		"the owner's": {10, endpoint.Marks{}, Limits{RateLimit: new(10), EffectiveRateLimit: new(10)}},
		"both": {10, byAnn, Limits{
			RateLimit: new(10), OperatorRateLimit: new(5), EffectiveRateLimit: new(5),
			LimitedBy: "ann", LimitedAt: since, LimitReason: "their quota",
		}},
		"an operator's larger one": {3, byAnn, Limits{
			RateLimit: new(3), OperatorRateLimit: new(5), EffectiveRateLimit: new(3),
			LimitedBy: "ann", LimitedAt: since, LimitReason: "their quota",
		}},
	} {
		inAccount(t, func(a *account) {
			a.putEndpoints(endpoint.Endpoint{
				ID: "webhook_1", TenantID: "acme", Status: endpoint.Active, RateLimit: row.owner, Marks: row.marks,
			})
			one := read[Endpoint](a, "endpoint", `"tenant_id":"acme","endpoint_id":"webhook_1"`).Limits
			listed := read[operator.List[ListedEndpoint]](a, "endpoints", `"tenant_id":"acme"`).Data[0].Limits
			if diff := cmp.Diff([]Limits{row.want, row.want}, []Limits{one, listed}); diff != "" {
				t.Errorf("%s: one and listed (-want +got):\n%s", name, diff)
			}
		})
	}
}
