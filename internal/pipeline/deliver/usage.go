package deliver

import (
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// usage measures how long each tenant keeps a batch: from the beginning of the tenant's first attempt to the end of its
// last one.
// A tenant with many attempts at once pays for the time once, since the process is kept once.
type usage struct {
	// slow says that the batch is of SlowQueue.
	slow bool

	mu      sync.Mutex
	tenants map[string]*kept
}

// kept is a tenant's part of a batch.
type kept struct {
	// open is the number of attempts that have not ended.
	open int

	// began is the beginning of the first attempt. It is zero if internal errors prevented all attempts.
	began time.Time

	// last is the end of the latest attempt.
	last time.Time

	// charged is the time that was charged already.
	charged time.Duration
}

// start prepares for the attempts of a batch.
func (u *usage) start(posts []candidate) {
	u.slow = posts[0].from == delivery.SlowQueue
	u.tenants = map[string]*kept{}
	for _, s := range posts {
		if u.tenants[s.message.TenantID] == nil {
			u.tenants[s.message.TenantID] = &kept{}
		}
		u.tenants[s.message.TenantID].open++
	}
}

// begun notes the beginning of an attempt.
func (u *usage) begun(tenantID string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if k := u.tenants[tenantID]; k.began.IsZero() {
		k.began = at
	}
}

// ended notes the end of an attempt.
func (u *usage) ended(tenantID string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	k := u.tenants[tenantID]
	k.open--
	k.last = at
}

// excess returns each tenant's time beyond the free time. Time that it has returned before is left out.
func (u *usage) excess(a allowance.Settings, now time.Time) (charges []charge) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for tenant, k := range u.tenants {
		if k.began.IsZero() {
			continue
		}
		until := now
		// While attempts are open, time runs on. Afterwards it ended with the last of them.
		if k.open == 0 {
			until = k.last
		}
		if d := a.Due(until.Sub(k.began), k.charged); d > 0 {
			k.charged += d
			charges = append(charges, charge{payer{tenant, u.slow}, d})
		}
	}
	return charges
}
