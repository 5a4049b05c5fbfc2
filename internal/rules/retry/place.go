package retry

import "time"

// A place in the schedule is the number of an attempt: 1 is the first attempt, MaxRetries+1 the
// last. After the attempt at place n the wait is Wait(n, …), the wait before retry n.

const (
	// LongWait is the longest short wait, unless the schedule says otherwise: longer ones are spent in
	// Backlog, not as visibility timeouts.
	LongWait = 150 * time.Second
	// MaxLife bounds Schedule.MaxLife: half as long as queues keep a message.
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

// Place is a delivery's place in its schedule. attempts is the number of places used before the delivery came to its
// queue, and receives is the number of receives there. A receive without an attempt may skip places before a short
// wait: it was throttled, crashed, or met an internal error. It never skips a place before a long wait, nor the last.
func (s Schedule) Place(attempts, receives int) int {
	attempts = min(max(attempts, 0), s.Last())
	place := attempts + 1
	for place < min(attempts+max(receives, 1), s.Last()) && !s.LongAfter(place) {
		place++
	}
	return min(place, s.Last())
}

// End is the end of a life that began at started: nothing is due later.
func (s Schedule) End(started time.Time) time.Time {
	if s.MaxLife == 0 {
		return started.Add(MaxLife)
	}
	return started.Add(s.MaxLife)
}
