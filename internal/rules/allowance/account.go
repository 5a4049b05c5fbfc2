package allowance

import "time"

// Account is a tenant's account in one process: the time to charge that no write has charged yet. The zero Account is
// a new one. It is a value: each step returns the account after it.
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

// Waited adds the time that a tenant spent in a batch while other deliveries waited. Free of it is free, once in Least:
// an honest tenant takes its part while an attacker is being found, and must not be found with it.
func (s Settings) Waited(a Account, spent time.Duration, now time.Time) Account {
	if now.Sub(a.opened) >= s.Least {
		a.opened, a.spent = now, 0
	}
	free := min(spent, s.Free-a.spent)
	a.spent += free
	return a.Owe(spent - free)
}

// Collect takes the time to charge now: all that is owed, or nothing where the last charge is too recent.
func (a Account) Collect(now time.Time) (rest Account, due time.Duration) {
	if a.owed == 0 || now.Sub(a.charged) < ChargeEvery {
		return a, 0
	}
	due = a.owed
	a.owed, a.charged = 0, now
	return a, due
}

// Share is the part of the time spent in a batch for which a tenant pays, where so many of the deliveries of the batch
// behind it have waited.
func Share(spent time.Duration, waited, of int) time.Duration {
	return spent * time.Duration(waited) / time.Duration(max(of, 1))
}
