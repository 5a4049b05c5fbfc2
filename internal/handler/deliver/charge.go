package deliver

import (
	"context"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
)

// patience bounds a batch's wait for its writes of charges and circuits.
const patience = 250 * time.Millisecond

// meter measures for how long each tenant keeps a batch, until the tenant's last attempt there has
// ended, and charges the excess to the tenant's allowance (internal/allowance).
type meter struct {
	h      *Handler
	lane   bool // the batch is of SlowQueue
	timers []*time.Timer
	late   sync.WaitGroup // charges of timers

	mu      sync.Mutex
	tenants map[string]*kept
}

// kept is a tenant's part of a batch.
type kept struct {
	open    int       // attempts that have not ended
	began   time.Time // first attempt; zero: none has begun, by a fault of ours
	last    time.Time
	charged time.Duration
}

func (h *Handler) startMeter(ctx context.Context, posts []sight) *meter {
	m := &meter{h: h, lane: posts[0].from == delivery.SlowQueue, tenants: map[string]*kept{}}
	for _, s := range posts {
		if m.tenants[s.message.TenantID] == nil {
			m.tenants[s.message.TenantID] = &kept{}
		}
		m.tenants[s.message.TenantID].open++
	}
	free := h.Rules.Allowance.Free
	for _, after := range []time.Duration{2 * free, 4 * free} {
		m.late.Add(1)
		m.timers = append(m.timers, time.AfterFunc(after, func() {
			defer m.late.Done()
			m.charge(context.WithoutCancel(ctx))
		}))
	}
	return m
}

// begun notes the beginning of an attempt.
func (m *meter) begun(s sight, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.tenants[s.message.TenantID]; k.began.IsZero() {
		k.began = at
	}
}

// ended notes the end of an attempt.
func (m *meter) ended(s sight) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.tenants[s.message.TenantID]
	k.open--
	k.last = m.h.Now()
}

// stop charges the rest. When it returns, nothing of the meter runs any more.
func (m *meter) stop(ctx context.Context) {
	for _, t := range m.timers {
		if t.Stop() {
			m.late.Done()
		}
	}
	m.late.Wait()
	m.charge(ctx)
}

// charge charges each tenant for its time beyond the free time, as far as it was not charged yet.
func (m *meter) charge(ctx context.Context) {
	var due []charge
	now := m.h.Now()
	m.mu.Lock()
	for tenant, k := range m.tenants {
		until := now
		if k.open == 0 {
			until = k.last
		}
		if k.began.IsZero() {
			continue
		}
		if d := m.h.Rules.Allowance.Due(until.Sub(k.began), k.charged); d > 0 {
			k.charged += d
			due = append(due, m.h.memory.accounts.owe(charge{payer{tenant, m.lane}, d}, now))
		}
	}
	m.mu.Unlock()
	m.h.charge(ctx, due)
}
