// Package allowance decides which tenants are slow. A tenant may keep processes of deliver busy for a
// share of their time. A tenant that takes more is slow for hours, and its deliveries go through
// SlowQueue, where they delay no other tenant's.
//
// Two things are charged. A tenant that keeps a batch for longer than Free pays for the rest, whether or not others
// wait (Due). And while deliveries wait for a process, the tenants of the batch that the process had before pay for the
// time of their attempts and of their puts into Backlog there (Waited): the harm is that no process is free, and those
// tenants kept this one. While processes are free, that time harms no other tenant and costs nothing.
//
// The whole state of a tenant is one moment, slow_until, in its item of EndpointHealth. It is moved by
// the generic cell rate algorithm (ITU-T I.371): each charged second moves it by 1/Rate seconds, and time
// passing pays for it. It promises that charges made at the same moment by several processes add up,
// because the update asks only whether the moment has passed, never for its value; that a crossing lasts
// at least Least, which makes pulses pointless; and that no stay is longer than Most. It is pure.
//
// A batch tells that others wait by its deliveries that were due more than a second ago while the batch before was
// still at work: first attempts, and first receives of retries that were sent ahead. Nothing is charged while waits
// get shorter: then processes are fast enough, and what waits is left from an attack or from Herald's own outage. Slow
// tenants delay one another. A life that ends on SlowQueue becomes a dead letter (tenant_slow): SQS would delete it
// unseen after 14 days.
package allowance

import "time"

// Settings are the allowance of each tenant.
type Settings struct {
	Rate     float64       // process-seconds a second that are paid for: 0.25 % of DeliveryQueue's processes
	SlowRate float64       // the same on SlowQueue: 25 % of its processes
	Burst    time.Duration // process time beyond it: two attempt timeouts
	Free     time.Duration // of each batch: a fifth of the attempt timeout
	Late     time.Duration // longest wait of a first attempt while processes are free
	Least    time.Duration // of a stay in SlowQueue: 6 h
	Most     time.Duration // 24 h
}

// New returns the allowance for mappings of so many processes and this attempt timeout.
func New(processes int, attemptTimeout time.Duration) Settings {
	return Settings{
		Rate: float64(processes) / 400, SlowRate: float64(processes) / 4,
		Burst: 2 * attemptTimeout, Free: attemptTimeout / 5, Late: time.Second,
		Least: 6 * time.Hour, Most: 24 * time.Hour,
	}
}

// Behind is the allowance for mappings with a batch window, for which messages wait although processes are free.
func (s Settings) Behind(window time.Duration) Settings {
	s.Late += window
	return s
}

// Charge is the move of slow_until for so much process time; slow says that it was spent on SlowQueue.
func (s Settings) Charge(kept time.Duration, slow bool) time.Duration {
	rate := s.Rate
	if slow {
		rate = s.SlowRate
	}
	return time.Duration(float64(max(kept, 0)) / rate)
}

// threshold is the distance of slow_until from now beyond which a tenant is slow.
func (s Settings) threshold() time.Duration { return time.Duration(float64(s.Burst) / s.Rate) }

// Slow reports whether the tenant is slow.
func (s Settings) Slow(until, now time.Time) bool { return until.Sub(now) > s.threshold() }

// End is the moment from which a tenant with this slow_until is no longer slow.
func (s Settings) End(until time.Time) time.Time { return until.Add(-s.threshold()) }

// Adjust says where slow_until has to be moved to after a charge of d has moved it to until, and whether
// it has to: up, where the charge made the tenant slow, and down, where the stay would be too long. A charge
// outside SlowQueue that finds the tenant slow raises it, too: the answer to the one that made it slow may
// have been lost.
func (s Settings) Adjust(until time.Time, d time.Duration, slow bool, now time.Time) (to time.Time, move bool) {
	least, most := now.Add(s.threshold()+s.Least), now.Add(s.threshold()+s.Most)
	crossed := s.Slow(until, now) && (!slow || !s.Slow(until.Add(-d), now))
	switch {
	case until.After(most):
		return most, true
	case crossed && until.Before(least):
		return least, true
	}
	return until, false
}

// Due returns the process time to charge to a tenant that has kept a batch for so long and was charged a part of it
// already. While its attempts go on, it is charged each time the total has doubled: at 2 and 4 times Free; at the
// end, for the rest.
func (s Settings) Due(kept, charged time.Duration) time.Duration { return max(kept-s.Free-charged, 0) }
