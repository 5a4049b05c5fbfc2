package allowance

import "time"

// Account holds the time that a tenant has used in one process and has not been charged for yet. The zero Account is a
// new one. It is a value: each step returns the account after it.
type Account struct {
	opened  time.Time     // when the free time began
	spent   time.Duration // of the free time
	owed    time.Duration
	charged time.Time // last
}

// ChargeEvery is how often, at most, a process charges one tenant.
const ChargeEvery = time.Second

// Owe adds time to charge.
func (a Account) Owe(d time.Duration) Account {
	a.owed += max(d, 0)
	return a
}

// Waited adds the time that a tenant spent in a batch while other deliveries waited. The first Free of it in each Least
// is not charged: an honest tenant takes its part while an attacker is being found, and must not be found with the
// attacker. A smaller Free or a dearer rest ends pulses sooner, and finds honest tenants as well (capacity.md).
func (s Settings) Waited(a Account, spent time.Duration, now time.Time) Account {
	if now.Sub(a.opened) >= s.Least {
		a.opened, a.spent = now, 0
	}
	free := min(spent, s.Free-a.spent)
	a.spent += free
	return a.Owe(spent - free)
}

// Collect takes the time to charge now. That is everything that is owed, or nothing if the last charge is too recent.
func (a Account) Collect(now time.Time) (rest Account, due time.Duration) {
	if a.owed == 0 || now.Sub(a.charged) < ChargeEvery {
		return a, 0
	}
	due = a.owed
	a.owed, a.charged = 0, now
	return a, due
}

// Share is the part of the time spent in a batch for which its tenant pays. It is the fraction of the next batch's
// deliveries that have waited meanwhile.
func Share(spent time.Duration, waited, of int) time.Duration {
	return spent * time.Duration(waited) / time.Duration(max(of, 1))
}
