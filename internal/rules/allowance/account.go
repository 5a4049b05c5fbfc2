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
// attacker.
//
// Ten tenants that share 40 (20) events at once each minute, with answers after 2.5 s, stay out of the lane for long.
// Other rules ended that sooner, and found honest tenants as well. Not slow after fifteen minutes, and others' late:
//
//	3 s free, as it is                       2, 1.8 %  (7, 2.6 %)
//	1.5 s free                               2, 0.6 %  (5, 2.6 %)
//	1.5 s free, twice the rest               1, 0.5 %  (4, 0.5 %)
//	1.5 s free, four times the rest          1, 0.0 %  (3, 0.0 %)  slower and three-seconds become slow
//	2 s free, four times                     1, 0.0 %  (4, 0.5 %)  slower becomes slow
//	3 s free, eight times                    1, 1.1 %  (3, 0.0 %)
//	nothing free a minute after a wait       2, 1.6 %  (5, 2.6 %)
//	nothing free, and eight times            1, 0.6 %  (3, 0.0 %)
//	less free with each wait, and twice      1, 0.0 %  (3, 0.3 %)  crawl becomes slow
//
// The first tenant of a pulse takes the idle processes, and pays for all. No price was found between the 13 to 50 s
// that a pulse is charged and the 30 to 67 s of crawl, whose own attempts end while the others wait.
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
