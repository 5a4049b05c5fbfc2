package inspect

import (
	"context"
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
	More          bool           `json:"more"`           // than were counted
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
	counts, holding := countStates(found)
	counts.SlowTenants = h.slowTenants(slow)
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
func countStates(found []operator.Found) (counts EndpointCounts, holding []string) {
	counts.States = map[string]int{}
	paused := map[string]bool{}
	for _, f := range found {
		counts.States[f.State()]++
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

// slowTenants counts the tenants whose deliveries go through SlowQueue.
func (h *Handler) slowTenants(until map[string]time.Time) (n int) {
	now := h.Now()
	for _, at := range until {
		if h.Allowance.Slow(at, now) {
			n++
		}
	}
	return n
}
