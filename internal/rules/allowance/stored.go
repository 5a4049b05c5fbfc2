package allowance

import "time"

// The rules of slow_until, a tenant's moment in the table EndpointHealth. It is counted in milliseconds; zero is a
// tenant that was never charged, or was forgotten.

// Charged is the moment after a charge of d: later by d, and from now where it has passed.
func Charged(stored time.Time, d time.Duration, now time.Time) time.Time {
	if stored.UnixMilli() > now.UnixMilli() {
		return stored.Add(d.Truncate(time.Millisecond))
	}
	return now.Add(d).UTC().Truncate(time.Millisecond)
}

// Moves reports whether a move from one moment to another changes the stored one: it is not beyond that already, and
// was not forgotten.
func Moves(stored, from, to time.Time) bool {
	switch {
	case stored.IsZero():
		return false
	case to.Before(from):
		return stored.UnixMilli() > to.UnixMilli()
	}
	return stored.UnixMilli() < to.UnixMilli()
}
