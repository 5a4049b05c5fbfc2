package circuit

import "time"

// A limit of the endpoint makes deliveries wait for their rate: held in Backlog, under the lease, although nothing is
// wrong. release sends them at the pace of the limit, which needs no recovery. This file has the rules for both at
// once.

// Oldest is the oldest item that a run of release may send to the endpoint.
type Oldest struct {
	At    time.Time // created_at
	Rated bool      // waits for its rate
}

// Paces reports whether release sends the deliveries that wait for their rate, at the pace of the limit.
func (i Item) Paces(f Facts) bool {
	return f.Limit > 0 && !i.HeldUntil.IsZero() && (i.State == None || i.State == Failing)
}

// SlotsAhead is how far ahead release takes the slots of a limit. It is longer than a run, so that runs which begin a
// little late leave no slots to deliveries that are younger than those which wait.
func (s Settings) SlotsAhead() time.Duration { return s.Run + s.Run/4 }

// slots is the number of slots ahead.
func (s Settings) slots(limit int) int {
	return int(s.SlotsAhead() * time.Duration(limit) / time.Second)
}

// Quota is the number of items that this run of release may send to the endpoint: of a recovery and a limit the smaller
// one. Where the oldest item waits for its rate, nothing of an outage is left, and the limit alone decides.
func (i Item) Quota(s Settings, f Facts, oldest Oldest, now time.Time) int {
	switch {
	case f.Limit == 0:
		return i.NextQuota(s, oldest.At, now)
	case i.State != Recovering || oldest.Rated:
		return s.slots(f.Limit)
	}
	return min(i.NextQuota(s, oldest.At, now), s.slots(f.Limit))
}

// Pacing reports whether deliveries waited for their rate when release last looked.
func (i Item) Pacing() bool { return i.Pace.Quota > 0 && (i.State == None || i.State == Failing) }

// Unpaced is the item after a run that found nothing waiting for its rate.
func (i Item) Unpaced(now time.Time) Item {
	next := i
	next.Pace = Pace{}
	return next.changed(now)
}

// Troubled reports whether the endpoint is in trouble. It is not because deliveries wait for their rate.
func (i Item) Troubled(f Facts) bool {
	return i.State != None || i.InTrouble() && (f.Limit == 0 || f.Stopped)
}

// Backoff is how long a first attempt waits because the receiver has answered 429 with Retry-After; zero: not at all.
// Each waits for the same time, so that they do not all arrive at the end of it.
func (i Item) Backoff(now time.Time) time.Duration {
	if i.Failures == 0 || i.State == Open || !now.Before(i.Last.RetryAt) {
		return 0
	}
	return i.Last.RetryAt.Sub(i.Last.At)
}
