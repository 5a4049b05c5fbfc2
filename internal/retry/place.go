package retry

import "time"

// A place in the schedule is the number of an attempt: 1 is the first attempt, MaxRetries+1 the
// last. After the attempt at place n the wait is Wait(n, …), the wait before retry n.

const (
	// LongWait is the longest short wait, unless the schedule says otherwise: longer ones are spent in
	// Backlog, not on RetryQueue.
	LongWait = 150 * time.Second
	// MaxLife bounds the time that a delivery is tried for, held or not: half of what queues
	// keep a message for.
	MaxLife = 7 * 24 * time.Hour
)

// Last is the schedule's last place.
func (s Schedule) Last() int { return s.MaxRetries + 1 }

// IsLong reports whether a wait is spent in Backlog.
func (s Schedule) IsLong(wait time.Duration) bool {
	if s.Long == 0 {
		return wait > LongWait
	}
	return wait > s.Long
}

// LongAfter reports whether the wait after the place is long, judged without jitter: whether an extra
// receive may skip a place must not depend on chance.
func (s Schedule) LongAfter(place int) bool { return s.IsLong(s.Wait(place, 0, 0, 0)) }

// Place is where in its schedule a delivery is: attempts is the number of places used before it
// came to the queue, receives how often it was received there. A receive without an attempt (one
// that was throttled, crashed, met a fault of ours) may skip places that are followed by short
// waits, but never one that is followed by a long wait, and never the last.
func (s Schedule) Place(attempts, receives int) int {
	attempts = min(max(attempts, 0), s.Last())
	place := attempts + 1
	for place < min(attempts+max(receives, 1), s.Last()) && !s.LongAfter(place) {
		place++
	}
	return min(place, s.Last())
}

// Remaining is the sum of the longest waits after the place, that after it included.
func (s Schedule) Remaining(place int) time.Duration {
	var sum time.Duration
	for n := max(place, 1); n <= s.MaxRetries; n++ {
		sum += s.Wait(n, 1, 0, 0)
	}
	return sum
}

// DiesAt is when a life ends that is parked for the first time at a place: when its schedule
// would end at the latest, and not before it is due. due is zero for what is held.
func (s Schedule) DiesAt(place int, started, due, now time.Time) time.Time {
	end := now.Add(s.Remaining(place))
	if due.After(end) {
		end = due
	}
	if limit := started.Add(MaxLife); limit.Before(end) {
		return limit
	}
	return end
}
