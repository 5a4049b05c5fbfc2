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
	wants := make([]int, len(r.searches))
	for n, s := range r.searches {
		oldest := s.oldest
		switch {
		case oldest.IsZero() && s.over: // there is none
			continue
		case oldest.IsZero():
			oldest = s.plan.Item.Since
		}
		wants[n] = s.plan.Item.NextQuota(r.walker.h.Settings, oldest, r.walker.h.Now())
	}
	for n, quota := range r.quotas(wants) {
		s := r.searches[n]
		s.quota, s.over = quota, quota == 0
	}
}

// quotas divides the budget among tenants, and a tenant's part among its endpoints. The endpoints of a slow
// tenant get no more together than one at the beginning of its recovery.
func (r *recoveries) quotas(wants []int) []int {
	quotas := make([]int, len(wants))
	indices := make([]int, len(wants))
	for n := range indices {
		indices[n] = n
	}
	tenants := grouped(indices, func(n int) string { return r.searches[n].key.TenantID })
	sums := make([]int, len(tenants))
	for t, searches := range tenants {
		for _, n := range searches {
			sums[t] += wants[n]
		}
		if r.slow(r.searches[searches[0]].key.TenantID) {
			sums[t] = min(sums[t], r.walker.h.Settings.Recovery)
		}
	}
	for t, part := range circuit.Allot(r.walker.h.Settings.Budget, sums) {
		of := make([]int, len(tenants[t]))
		for k, n := range tenants[t] {
			of[k] = wants[n]
		}
		for k, quota := range circuit.Allot(part, of) {
			quotas[tenants[t][k]] = quota
		}
	}
	return quotas
}
