package parts

import (
	"math"
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// AttemptList are attempts as the log has them.
func (s Site) AttemptList(q url.Values, attempts []stack.Attempt) *Table {
	type row = stack.Attempt
	return NewTable(q, attempts, Moment(s, "when", func(a row) time.Time { return a.At }),
		Tenants(s, func(a row) string { return a.TenantID }),
		Endpoints(s, func(a row) Endpoint { return Endpoint{TenantID: a.TenantID, ID: a.EndpointID} }),
		IDs(s, "delivery", "/delivery", "delivery_id", func(a row) string { return a.DeliveryID }),
		Amount("attempt", func(a row) int { return a.Number }),
		States("outcome", "", attemptColours, func(a row) delivery.Verdict { return a.Outcome }),
		failures("answer", func(a row) (int, delivery.Reason) { return a.Status, a.Reason }),
		Amount("ms", func(a row) int { return int(math.Round(a.Millis)) }))
}
