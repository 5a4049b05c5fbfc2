package inspect

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Limits are those on an endpoint's deliveries, each in deliveries a second. Null means that there is none.
type Limits struct {
	// The owner's limit.
	RateLimit *int `json:"rate_limit"`

	// An operator's limit.
	OperatorRateLimit *int `json:"operator_rate_limit"`

	// The smaller one of the two.
	EffectiveRateLimit *int `json:"effective_rate_limit"`

	// The operator who set the limit, when, and the reason that they gave.
	LimitedBy   string    `json:"limited_by"`
	LimitedAt   time.Time `json:"limited_at"`
	LimitReason string    `json:"limit_reason"`
}

// limitsOf shows an endpoint's limits.
func limitsOf(e endpoint.Endpoint) Limits {
	return Limits{
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
