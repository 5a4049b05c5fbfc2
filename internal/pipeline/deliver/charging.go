package deliver

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// charging charges the tenants of one batch for its time while the batch is at work (internal/rules/allowance).
//
// A tenant pays for how long it keeps the batch: from the beginning of its first attempt to the end of its last one. A
// tenant with many attempts at once pays for the time once, since the process is kept once. When the batch begins, it
// also charges the tenants of the batch before for the waits that they caused (charger.go). A batch of SlowQueue
// neither does that nor leaves anything to the next one: deliveries wait there on purpose.
type charging struct {
	charger
	from   delivery.Queue
	leaves bool  // its time to the next batch
	waited waits // of this batch
	timers []*time.Timer

	// running counts the timers that have not ended, and the charges that they and the beginning have begun.
	running sync.WaitGroup

	mu      sync.Mutex
	tenants map[string]*usage
	spent   map[string]time.Duration // sum of attempts and of puts into Backlog, by tenant
}

// usage is a tenant's part of a batch.
type usage struct {
	// open is the number of attempts that have not ended.
	open int

	// began is the beginning of the first attempt. It is zero if internal errors prevented all attempts.
	began time.Time

	// last is the end of the latest attempt.
	last time.Time

	// charged is the time that was charged already.
	charged time.Duration
}

// startCharging begins to charge for a batch of attempts and of deliveries that are put into Backlog without one. It
// charges twice while attempts are still open, so that other processes hear of a slow tenant before the end of the
// batch.
func (h *Handler) startCharging(ctx context.Context, posts []candidate, ends []end) *charging {
	c := &charging{charger: h.charger(), tenants: map[string]*usage{}, spent: map[string]time.Duration{}}
	ctx = context.WithoutCancel(ctx)
	all := slices.Clone(posts)
	for _, e := range ends {
		if e.stores() {
			all = append(all, e.candidate)
		}
	}
	if len(all) > 0 {
		c.from, c.leaves = all[0].from, all[0].from != delivery.SlowQueue
	}
	if c.leaves {
		var due []charge
		c.waited, due = c.chargesForWaits(all)
		if len(due) > 0 {
			c.running.Go(func() { c.write(ctx, due) })
		}
	}
	if len(posts) > 0 {
		c.startTimers(ctx, posts)
	}
	return c
}

// startTimers charges for attempts that last.
func (c *charging) startTimers(ctx context.Context, posts []candidate) {
	for _, p := range posts {
		if c.tenants[p.message.TenantID] == nil {
			c.tenants[p.message.TenantID] = &usage{}
		}
		c.tenants[p.message.TenantID].open++
	}
	free := c.allowance.Free
	for _, after := range []time.Duration{2 * free, 4 * free} {
		// It is counted before its timer starts, so that stop cannot miss it.
		c.running.Add(1)
		c.timers = append(c.timers, time.AfterFunc(after, func() {
			defer c.running.Done()
			c.chargeUsage(ctx)
		}))
	}
}

// begun notes the beginning of an attempt.
func (c *charging) begun(tenantID string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if u := c.tenants[tenantID]; u.began.IsZero() {
		u.began = at
	}
}

// ended notes the end of an attempt.
func (c *charging) ended(tenantID string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.tenants[tenantID]
	u.open--
	u.last = at
}

// spends notes time that a delivery of the tenant kept the batch.
func (c *charging) spends(tenantID string, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spent[tenantID] += d
}

// stop charges the rest, after the last attempt. When it returns, no timer or charge runs any more.
func (c *charging) stop(ctx context.Context) {
	for _, t := range c.timers {
		// A timer that is stopped in time never runs its function, which would have called Done.
		if t.Stop() {
			c.running.Done()
		}
	}
	c.running.Wait()
	c.chargeUsage(context.WithoutCancel(ctx))
}

// leave leaves the time that each tenant spent to the next batch, which knows whether others waited for it.
func (c *charging) leave() {
	if !c.leaves {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memory.batches.leave(c.from, lastBatch{ended: c.now(), wait: c.waited.average, spent: c.spent})
}

// chargeUsage adds the usage since the last charge to the tenants' accounts, and writes the charges that are due.
func (c *charging) chargeUsage(ctx context.Context) {
	now := c.now()
	charges := c.excess(c.allowance, now)
	for n, one := range charges {
		charges[n] = c.memory.accounts.owe(one, now)
	}
	c.write(ctx, charges)
}

// excess returns each tenant's time beyond the free time. Time that it has returned before is left out.
func (c *charging) excess(a allowance.Settings, now time.Time) (charges []charge) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for tenant, u := range c.tenants {
		if u.began.IsZero() {
			continue
		}
		until := now
		// While attempts are open, time runs on. Afterwards it ended with the last of them.
		if u.open == 0 {
			until = u.last
		}
		if d := a.Due(until.Sub(u.began), u.charged); d > 0 {
			u.charged += d
			charges = append(charges, charge{accountKey{tenant, c.from == delivery.SlowQueue}, d})
		}
	}
	return charges
}
