package deliver

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
)

// charging charges the tenants of a batch for their usage while the batch is at work (internal/rules/allowance).
type charging struct {
	h      *Handler
	usage  usage
	timers []*time.Timer

	// running counts the timers that have not ended, and the charges that they have begun.
	running sync.WaitGroup
}

// startCharging begins to charge. It charges twice while attempts are still open, so that other processes hear of a
// slow tenant before the end of the batch.
func (h *Handler) startCharging(ctx context.Context, posts []candidate) *charging {
	c := &charging{h: h}
	c.usage.start(posts)
	free := h.Rules.Allowance.Free
	for _, after := range []time.Duration{2 * free, 4 * free} {
		// It is counted before its timer starts, so that stop cannot miss it.
		c.running.Add(1)
		c.timers = append(c.timers, time.AfterFunc(after, func() {
			defer c.running.Done()
			c.charge(context.WithoutCancel(ctx))
		}))
	}
	return c
}

// stop charges the rest. When it returns, no timer or charge runs any more.
func (c *charging) stop(ctx context.Context) {
	for _, t := range c.timers {
		// A timer that is stopped in time never runs its function, which would have called Done.
		if t.Stop() {
			c.running.Done()
		}
	}
	c.running.Wait()
	c.charge(ctx)
}

// charge adds the usage since the last charge to the tenants' accounts, and writes the charges that are due.
func (c *charging) charge(ctx context.Context) {
	now := c.h.Now()
	used := c.usage.excess(c.h.Rules.Allowance, now)
	for n, one := range used {
		used[n] = c.h.memory.accounts.owe(one, now)
	}
	c.h.charge(ctx, used)
}

// charge writes the charges that are due. A lost charge costs isolation, never a delivery.
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

// chargeTenant moves the tenant's slow_until. It settles the moment if a stay on SlowQueue begins, or would be too
// long. The memory of the process gets the new moment, since reads are a little behind.
func (h *Handler) chargeTenant(ctx context.Context, c charge) error {
	now := h.Now()
	d := h.Rules.Allowance.Charge(c.time, c.slow)
	until, err := h.Tables.Circuits.Charge(ctx, c.tenantID, d, now)
	if err != nil {
		return err
	}
	to, move := h.Rules.Allowance.Settle(until, d, c.slow, now)
	h.memory.slow(c.tenantID, to)
	if !move {
		return nil
	}
	h.Output.Metrics.Count("SlowTenants", 1)
	return h.Tables.Circuits.MoveSlow(ctx, c.tenantID, until, to)
}

// chargeBefore charges the tenants of the batch before for their time there, by the share of this batch that waited. It
// returns how this batch waited.
//
// It charges only while waits grow. When waits get shorter, the processes are fast enough, and the waiting deliveries
// are left from an event that is over, such as an attack or an outage of our own.
func (h *Handler) chargeBefore(ctx context.Context, posts []candidate) waiting {
	now, b := h.Now(), h.memory.take(posts[0].from)
	w := b.waits(posts, h.Rules.Allowance.Late, now)
	if w.late == 0 || w.average <= b.wait {
		return w
	}
	due := make([]charge, 0, len(b.spent))
	for tenant, spent := range b.spent {
		share := allowance.Share(spent, w.late, len(posts))
		due = append(due, h.memory.accounts.waited(h.Rules.Allowance, tenant, share, now))
	}
	h.charge(ctx, due)
	return w
}
