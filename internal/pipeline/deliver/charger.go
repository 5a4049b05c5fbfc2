package deliver

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
)

// charger writes charges of time to tenants' slow_until.
type charger struct {
	allowance allowance.Settings
	circuits  Circuits
	memory    *memory
	output    Output
	now       func() time.Time
}

func (h *Handler) charger() charger {
	return charger{h.Rules.Allowance, h.Tables.Circuits, &h.memory, h.Output, h.Now}
}

// chargesForWaits measures how this batch waited, and charges the tenants of the last batch for their time there, by
// the share of this batch that waited.
//
// It charges only while waits grow. When waits get shorter, the processes are fast enough, and the waiting deliveries
// are left from an event that is over, such as an attack or an outage of our own.
func (c charger) chargesForWaits(posts []candidate) (w waits, due []charge) {
	now, last := c.now(), c.memory.batches.take(posts[0].from)
	w = last.waits(posts, c.allowance.Late, now)
	if w.late == 0 || w.average <= last.wait {
		return w, nil
	}
	due = make([]charge, 0, len(last.spent))
	for tenant, spent := range last.spent {
		share := allowance.Share(spent, w.late, len(posts))
		due = append(due, c.memory.accounts.waited(c.allowance, tenant, share, now))
	}
	return w, due
}

// write writes the charges that are not zero. A lost charge costs isolation, never a delivery.
func (c charger) write(ctx context.Context, charges []charge) {
	var due []charge
	for _, one := range charges {
		if one.time > 0 {
			due = append(due, one)
		}
	}
	if len(due) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for i, err := range parallel.Each(len(due), tableWrites, func(i int) error { return c.chargeTenant(ctx, due[i]) }) {
		if err != nil {
			c.output.Log.WarnContext(ctx, "slow tenant not charged",
				slog.String(telemetry.KeyTenant, due[i].tenantID), telemetry.Cause(err))
		}
	}
}

// chargeTenant moves the tenant's slow_until by a charge, and once more if a stay on SlowQueue begins with it, or would
// be too long. The memory of the process gets the new moment, since reads are a little behind.
func (c charger) chargeTenant(ctx context.Context, one charge) error {
	now := c.now()
	d := c.allowance.Charge(one.time, one.slow)
	until, err := c.circuits.Charge(ctx, one.tenantID, d, now)
	if err != nil {
		return err
	}
	to, move := c.allowance.Adjust(until, d, one.slow, now)
	c.memory.slow(one.tenantID, to)
	if !move {
		return nil
	}
	c.output.Metrics.Count("SlowTenants", 1)
	return c.circuits.MoveSlow(ctx, one.tenantID, until, to)
}
