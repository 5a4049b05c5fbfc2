package deliver

import (
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/recent"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
)

// accountKey names a tenant's account for SlowQueue, or that for the other queues. The price of time differs between
// the two.
type accountKey struct {
	tenantID string
	slow     bool
}

// charge is time to charge to a tenant.
type charge struct {
	accountKey
	time time.Duration
}

// accounts are the tenants' accounts in this process. They add up charges, so that each tenant's are written at most
// once a second. When a process ends, up to a second's charges are lost.
type accounts struct {
	mu sync.Mutex
	of recent.Memory[accountKey, allowance.Account]
}

// owe adds a charge to its account, and returns the charge to write now, which may be zero.
func (a *accounts) owe(c charge, now time.Time) (due charge) {
	return a.change(c.accountKey, func(account allowance.Account) allowance.Account { return account.Owe(c.time) }, now)
}

// waited adds the time that a tenant spent while others waited to its account, and returns the charge to write now.
func (a *accounts) waited(s allowance.Settings, tenantID string, spent time.Duration, now time.Time) (due charge) {
	return a.change(accountKey{tenantID: tenantID}, func(account allowance.Account) allowance.Account {
		return s.Waited(account, spent, now)
	}, now)
}

// change applies how to an account, takes the time that is due now from it, and keeps the rest. The lock
// covers all three: the charge of a timer and that for the last batch may come together, and one of them would be
// lost.
func (a *accounts) change(
	key accountKey, how func(allowance.Account) allowance.Account, now time.Time,
) (due charge) {
	a.mu.Lock()
	defer a.mu.Unlock()
	account, _ := a.of.Get(key)
	rest, d := how(account).Collect(now)
	a.of.Put(key, rest)
	return charge{key, d}
}
