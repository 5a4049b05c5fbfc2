package release

import (
	"context"
	"time"
)

// forgetAfter is how long the number of a tenant is kept that is slow no more.
const forgetAfter = 24 * time.Hour

// forgetSlow removes tenants' numbers that have long passed.
func (h *Handler) forgetSlow(ctx context.Context, t *tally, until map[string]time.Time) {
	var passed []string
	for tenantID, at := range until {
		if h.Now().Sub(at) >= forgetAfter {
			passed = append(passed, tenantID)
		}
	}
	t.each(ctx, "forgetting a slow tenant", len(passed), func(n int) error {
		return h.Circuits.ForgetSlow(ctx, passed[n], until[passed[n]])
	})
}
