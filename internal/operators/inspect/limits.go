package inspect

import (
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// limitsOf shows an endpoint's limits.
func limitsOf(e endpoint.Endpoint) api.Limits {
	return api.Limits{
		RateLimit: limit(e.RateLimit), OperatorRateLimit: limit(e.Marks.RateLimit), EffectiveRateLimit: limit(e.Rate()),
		LimitedBy: e.Marks.LimitedBy, LimitedAt: e.Marks.LimitedAt, LimitReason: e.Marks.LimitReason,
	}
}

// limit is a limit as answers have it. A 0 would be taken for a stop.
func limit(rate int) *int {
	if rate == 0 {
		return nil
	}
	return &rate
}
