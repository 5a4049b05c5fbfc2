package deliver

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/allowance"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/recent"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// payer is a tenant in the slow lane or outside of it: time has a price in each.
type payer struct {
	tenantID string
	lane     bool
}

// charge is time to charge to a tenant.
type charge struct {
	payer
	time time.Duration
}

// accounts are the tenants' accounts in this process: a charge is written once a second at most, and is added up here
// until then. A process that ends takes up to a second's charges with it.
type accounts struct {
	mu sync.Mutex
	of recent.Memory[payer, allowance.Account]
}

// owe adds a charge to its account, and returns the charge to write now, which may be zero.
func (a *accounts) owe(c charge, now time.Time) (due charge) {
	return a.change(c.payer, func(account allowance.Account) allowance.Account { return account.Owe(c.time) }, now)
}

// waited adds to a tenant's account what the tenant spent while others waited, likewise.
func (a *accounts) waited(s allowance.Settings, tenantID string, spent time.Duration, now time.Time) (due charge) {
	return a.change(payer{tenantID: tenantID}, func(account allowance.Account) allowance.Account {
		return s.Waited(account, spent, now)
	}, now)
}

func (a *accounts) change(
	p payer, how func(allowance.Account) allowance.Account, now time.Time,
) (due charge) {
	a.mu.Lock()
	defer a.mu.Unlock()
	account, _ := a.of.Get(p)
	rest, d := how(account).Collect(now)
	a.of.Put(p, rest)
	return charge{p, d}
}

// charge writes the charges that are due. One that is lost costs isolation, never a delivery.
func (h *Handler) charge(ctx context.Context, charges []charge) {
	var due []charge
	for _, c := range charges {
		if c.time > 0 {
			due = append(due, c)
		}
	}
	if len(due) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for i, err := range parallel.Each(len(due), tableWrites, func(i int) error { return h.chargeTenant(ctx, due[i]) }) {
		if err != nil {
			h.Output.Log.WarnContext(ctx, "slow tenant not charged",
				slog.String(telemetry.KeyTenant, due[i].tenantID), telemetry.Cause(err))
		}
	}
}

// chargeTenant moves the tenant's slow_until, and settles it where a stay begins or would be too long.
func (h *Handler) chargeTenant(ctx context.Context, c charge) error {
	now := h.Now()
	d := h.Rules.Allowance.Charge(c.time, c.lane)
	until, err := h.Tables.Circuits.Charge(ctx, c.tenantID, d, now)
	if err != nil {
		return err
	}
	to, move := h.Rules.Allowance.Settle(until, d, c.lane, now)
	h.memory.slow(c.tenantID, to)
	if !move {
		return nil
	}
	h.Output.Metrics.Count("SlowTenants", 1)
	return h.Tables.Circuits.MoveSlow(ctx, c.tenantID, until, to)
}
