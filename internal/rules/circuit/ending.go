package circuit

import "time"

// End is the write that ends a run of release for an endpoint with nothing held.
type End int

// The ends.
const (
	Keep   End = iota // the item as it is
	Close             // the state none: the recovery has emptied, or an outage with notices is over
	Unpace            // the state as it is: nothing waits for its rate any more
	Clear             // remove the lease: only the state keeps the item
	Remove            // remove the item
)

// Empty returns the end of a run that found nothing held for the endpoint and nothing left of its recovery. searched
// is the moment before the first strongly consistent read of its eight shards. It is zero where no search was needed,
// because there is no lease.
//
// The first case that is true decides. The package comment has the table.
func (i Item) Empty(s Settings, f Facts, searched, now time.Time) End {
	leased := !i.HeldUntil.IsZero()
	switch {
	case i.State == Recovering && !f.Gone:
		// Nothing is left of the recovery. The next run asks whether the item is still needed.
		return Close
	case i.Pacing() && !f.Gone:
		// Likewise.
		return Unpace
	case leased && !i.HeldUntil.Before(searched):
		// Something may have been put into Backlog after the search, under the lease.
		return Keep
	case f.Gone:
		// No owner is told of a deleted endpoint.
		return Remove
	case i.needed(s, now):
		return cleared(leased)
	case !i.remembers(s, now):
		return Remove
	case i.Outage.lasts() && !f.Stopped:
		// The state none ends the outage, and the owner hears of it.
		return Close
	}
	// A notice is still to be sent, or must not be sent again.
	return cleared(leased)
}

// cleared is the end of an item that stays, without the lease that has passed.
func cleared(leased bool) End {
	if leased {
		return Clear
	}
	return Keep
}

// needed reports whether deliveries still depend on an item that is not in a recovery. They depend on it while its
// state says something, and while it is too early for another recovery.
func (i Item) needed(s Settings, now time.Time) bool {
	recovered := now.Sub(i.RecoveredAt) < s.RecoverOnce
	return recovered || i.State != None && !i.forgotten(s, now)
}

// forgotten reports whether nothing has failed for so long that the state says nothing any more.
func (i Item) forgotten(s Settings, now time.Time) bool {
	return now.Sub(latest(i.Last.At, i.Since)) >= s.Forget
}

// remembers reports whether the owner's notices depend on the item: one is still to be sent, or must not be sent again.
func (i Item) remembers(s Settings, now time.Time) bool {
	death := !i.Death.At.IsZero() && (!i.Death.Told || now.Sub(i.Death.At) < DeadLetterEvery)
	return s.Notices && (death || !i.Outage.At.IsZero() || !i.Pause.At.IsZero())
}

// Closed is the item after Close. An outage of which the owner hears ends with it.
func (i Item) Closed(now time.Time) Item {
	next := i.enter(None, now)
	if !next.Outage.At.IsZero() {
		next.Outage.EndedAt = now
	}
	return next.changed(now)
}
