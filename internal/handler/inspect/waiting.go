package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/parallel"
)

// EndpointCounts is how many endpoints are in which state, without the healthy ones that have no item.
type EndpointCounts struct {
	States        map[string]int `json:"states"`
	PausedTenants int            `json:"paused_tenants"` // that own one of these endpoints
	SlowTenants   int            `json:"slow_tenants"`   // whose deliveries go through SlowQueue
	Slow          []SlowTenant   `json:"slow"`           // some of them, those slow the longest first
	More          bool           `json:"more"`           // than were counted
}

// SlowTenant is a tenant whose deliveries go through SlowQueue until then, or longer if it stays slow.
type SlowTenant struct {
	TenantID string    `json:"tenant_id"`
	Until    time.Time `json:"until"`
}

// Backlogged is how much lies in Backlog for all endpoints together, at least.
type Backlogged struct {
	Count     int        `json:"count"`
	Held      int        `json:"held"`        // of them wait for their endpoints and not for their schedules
	More      bool       `json:"more"`        // there are more than were counted
	NextDueAt *time.Time `json:"next_due_at"` // long past: release does not run
}

// The most that a summary counts.
const (
	maxTrouble  = 1000 // items of EndpointHealth
	maxHeld     = 50   // endpoints whose held deliveries are counted, up to 1,000 each
	maxSlow     = 20   // slow tenants that are named
	maxDueShard = 1000 // items of each of the 16 parts of Backlog's index
)

func (h *Handler) waiting(ctx context.Context) (EndpointCounts, Backlogged, error) {
	items, slow, next, err := h.Circuits.Trouble(ctx, maxTrouble, "")
	if err != nil {
		return EndpointCounts{}, Backlogged{}, err
	}
	total, err := h.Backlog.Total(ctx, maxDueShard)
	if err != nil {
		return EndpointCounts{}, Backlogged{}, err
	}
	found, err := h.whose(ctx, items)
	if err != nil {
		return EndpointCounts{}, Backlogged{}, err
	}
	counts, holding := h.countStates(found)
	counts.Slow = h.slowTenants(slow)
	counts.SlowTenants = len(counts.Slow)
	counts.Slow = counts.Slow[:min(counts.SlowTenants, maxSlow)]
	counts.More = next != ""
	waiting := Backlogged{Count: total.Items, More: total.More || counts.More, NextDueAt: timeOrNull(total.NextDue)}
	if len(holding) > maxHeld {
		holding, waiting.More = holding[:maxHeld], true
	}
	held := make([]dynamo.Waiting, len(holding))
	for i, err := range parallel.Each(len(holding), countedAtOnce, func(i int) (err error) {
		held[i], err = h.Backlog.Count(ctx, holding[i])
		return err
	}) {
		if err != nil {
			return EndpointCounts{}, Backlogged{}, err
		}
		waiting.Held += held[i].Held
		waiting.More = waiting.More || held[i].More
	}
	return counts, waiting, nil
}

// countStates also names the endpoints under which something may be held.
func (h *Handler) countStates(found []operator.Found) (counts EndpointCounts, holding []string) {
	counts.States = map[string]int{}
	paused := map[string]bool{}
	for _, f := range found {
		counts.States[h.state(f)]++
		if f.Tenant.Paused() {
			paused[f.Endpoint.TenantID] = true
		}
		if !f.Circuit.HeldUntil.IsZero() {
			holding = append(holding, f.Endpoint.ID)
		}
	}
	counts.PausedTenants = len(paused)
	return counts, holding
}

// slowTenants are those whose deliveries go through SlowQueue, the longest to stay there first. It is never null.
func (h *Handler) slowTenants(until map[string]time.Time) []SlowTenant {
	slow := []SlowTenant{}
	for tenantID, at := range until {
		if h.Allowance.Slow(at, h.Now()) {
			slow = append(slow, SlowTenant{TenantID: tenantID, Until: h.Allowance.End(at)})
		}
	}
	slices.SortFunc(slow, func(a, b SlowTenant) int {
		return cmp.Or(b.Until.Compare(a.Until), strings.Compare(a.TenantID, b.TenantID))
	})
	return slow
}
