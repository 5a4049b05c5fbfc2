package release

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// outflow sends what waits for endpoints, each at its pace and all of them within a budget. A run has one for the
// endpoints that answer again, and another for those with a limit: an outage is rare, and an owner sets limits at will.
type outflow struct {
	searcher searcher
	settings circuit.Settings
	// budget is the number of items that a run sends to all endpoints together.
	budget int
	slow   func(tenantID string) bool
	now    func() time.Time

	searches []*search
	// allotted tells that the searches have their quotas.
	allotted bool
}

// send sends within the quotas, which it gives out at its first turn.
func (o *outflow) send(ctx context.Context, until time.Time) (did counts, left bool) {
	if !o.allotted {
		did = o.allot(ctx, until)
		o.allotted = true
	}
	for {
		var more counts
		more, left = o.searcher.goOn(ctx, o.searches, until)
		did = did.plus(more)
		if left || !o.allowMore() {
			return did.plus(o.waited()), left
		}
	}
}

// allowMore divides what is left of the budget among the searches that have used up their quotas and want more: many a
// quota is larger than what waits. It reports whether there was any.
func (o *outflow) allowMore() (more bool) {
	rest := o.budget
	wanted := make([]int, len(o.searches))
	for n, s := range o.searches {
		rest -= s.sent
		if s.spent && !o.slow(s.key.TenantID) {
			wanted[n] = max(o.wanted(s)-s.quota, 0)
		}
	}
	for n, quota := range o.divide(rest, wanted) {
		if quota > 0 {
			o.searches[n].allow(o.searches[n].quota + quota)
			more = true
		}
	}
	return more
}

// waited is the longest time that a delivery has waited for its rate: of the oldest of each endpoint. Those that wait
// are not counted, since there may be millions.
func (o *outflow) waited() (did counts) {
	for _, s := range o.searches {
		if s.rated {
			did.rateWait = max(did.rateWait, o.now().Sub(s.oldest))
		}
	}
	return did
}

// allot finds the oldest item that each search may send, and gives it a quota by the age of that item.
func (o *outflow) allot(ctx context.Context, until time.Time) counts {
	// Without a quota a search stops at the first item that it may send.
	did, _ := o.searcher.goOn(ctx, o.searches, until)
	wanted := make([]int, len(o.searches))
	for n, s := range o.searches {
		wanted[n] = o.wanted(s)
	}
	for n, quota := range o.divide(o.budget, wanted) {
		o.searches[n].allow(quota)
	}
	return did
}

// wanted is the quota of a search before the budget is divided. A search that has ended without finding an item to send
// wants none. A search that has not reached its first item yet, because it had many to pass over, wants as many as if
// nothing were late.
func (o *outflow) wanted(s *search) int {
	oldest := circuit.Oldest{At: s.oldest, Rated: s.rated}
	if oldest.At.IsZero() && s.over {
		return 0
	}
	if oldest.At.IsZero() {
		oldest.At = s.plan.Item.Since
	}
	return s.plan.Item.Quota(o.settings, s.facts, oldest, o.now())
}

// divide divides a budget among tenants, and a tenant's part among its endpoints, each up to the number that it
// wants. The endpoints of a slow tenant get no more together than one at the beginning of its recovery.
func (o *outflow) divide(budget int, wanted []int) []int {
	// Searches are known by their index in these lists.
	indexes := make([]int, len(wanted))
	for n := range indexes {
		indexes[n] = n
	}
	tenantOf := func(n int) string { return o.searches[n].key.TenantID }
	tenants := grouped(indexes, tenantOf)
	sums := make([]int, len(tenants))
	for t, ofTenant := range tenants {
		for _, n := range ofTenant {
			sums[t] += wanted[n]
		}
		if o.slow(tenantOf(ofTenant[0])) {
			sums[t] = min(sums[t], o.settings.Recovery)
		}
	}
	// The budget is divided twice, in the same way: among tenants, then among the endpoints of each.
	quotas := make([]int, len(wanted))
	for t, part := range circuit.Allot(budget, sums) {
		ofTenant := make([]int, len(tenants[t]))
		for at, n := range tenants[t] {
			ofTenant[at] = wanted[n]
		}
		for at, quota := range circuit.Allot(part, ofTenant) {
			quotas[tenants[t][at]] = quota
		}
	}
	return quotas
}
