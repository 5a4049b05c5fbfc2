package release

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/circuit"
)

// recoveries send the backlog of endpoints that answer again, each at its own pace and all of them within the budget
// of a run.
type recoveries struct {
	walker   *walker
	slow     func(tenantID string) bool
	searches []*search
	allotted bool // the searches have their quotas
}

func (r *recoveries) send(ctx context.Context, until time.Time) (left bool) {
	if !r.allotted {
		r.allot(ctx, until)
		r.allotted = true
	}
	return r.walker.goOn(ctx, r.searches, until)
}

// allot finds the oldest item that each search may send, and from it the quota. A search that has much to
// leave before it, and no time yet to pass it, gets one as if nothing were late.
func (r *recoveries) allot(ctx context.Context, until time.Time) {
	r.walker.goOn(ctx, r.searches, until)
	for _, s := range r.searches {
		oldest := s.oldest
		switch {
		case oldest.IsZero() && s.over: // there is none
			continue
		case oldest.IsZero():
			oldest = s.plan.Item.Since
		}
		s.quota = s.plan.Item.NextQuota(r.walker.h.Settings, oldest, r.walker.h.Now())
	}
	r.divide()
	for _, s := range r.searches {
		s.over = s.quota == 0
	}
}

// divide divides the budget among tenants, and a tenant's part among its endpoints, each up to its quota. The endpoints
// of a slow tenant get no more together than one at the beginning of its recovery.
func (r *recoveries) divide() {
	tenants := grouped(r.searches, func(s *search) string { return s.key.TenantID })
	quotas, sums := make([][]int, len(tenants)), make([]int, len(tenants))
	for t, searches := range tenants {
		for _, s := range searches {
			quotas[t] = append(quotas[t], s.quota)
			sums[t] += s.quota
		}
		if r.slow(searches[0].key.TenantID) {
			sums[t] = min(sums[t], r.walker.h.Settings.Recovery)
		}
	}
	for t, part := range circuit.Allot(r.walker.h.Settings.Budget, sums) {
		for n, quota := range circuit.Allot(part, quotas[t]) {
			tenants[t][n].quota = quota
		}
	}
}
