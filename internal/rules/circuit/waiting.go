package circuit

import "time"

// Waiting is an item of Backlog, as far as decisions need it.
type Waiting struct {
	Held      bool // waits for its endpoint, not for its schedule
	Rated     bool // held by the endpoint's limit alone
	StoredAt  time.Time
	DueAt     time.Time // its schedule's time for the next attempt; zero: none
	NotBefore time.Time // the receiver's Retry-After, zero for none
	Last      bool      // the next attempt is at the last place of the schedule
}

// Verdict is the work of one run of release for one item that it meets in a search.
type Verdict int

// The verdicts.
const (
	Leave   Verdict = iota // it waits
	Send                   // to RetryQueue, within the quota
	PutBack                // it waits for its schedule, no longer for its endpoint
)

// Verdict decides what a run of release does with an item of Backlog whose endpoint has the circuit i and may be sent
// to (endpoint.Gate). A recovery sends the held items, and those that were waiting for their schedule when it began.
// Outside a recovery only items that wait for their rate are sent.
func (i Item) Verdict(f Facts, w Waiting, now time.Time) Verdict {
	ordered := f.ReleasedAt.After(w.StoredAt)
	recovers := i.State == Recovering && (w.Held || w.StoredAt.Before(i.Since))
	paced := f.Limit > 0 && i.paces(w)
	switch {
	case !recovers && !paced:
		return Leave
	case ordered, !w.NotBefore.After(now) && (!w.Last || !w.DueAt.After(now)):
		return Send
	case w.Held:
		return PutBack
	}
	return Leave
}

// paces reports whether the item goes on at the pace of a limit: one that waits for its rate, or that a recovery which
// is over has left. Another recovery may not begin for long.
func (i Item) paces(w Waiting) bool {
	left := w.Held && !i.RecoveredAt.IsZero() && w.StoredAt.Before(i.Since)
	return i.State != Open && (w.Rated || left)
}

// NextQuota is the number of items that this run of release may send to a recovering endpoint; oldest is
// the created_at of the oldest of them. It doubles up to RecoveryLimit, and beyond it while, at the
// pace of the last run, the rest would take longer than CatchUp.
func (i Item) NextQuota(s Settings, oldest, now time.Time) int {
	switch quota := i.Pace.Quota; {
	case quota == 0:
		return s.Recovery
	case quota < s.RecoveryLimit:
		return min(2*quota, s.RecoveryLimit)
	case i.late(s, oldest, now):
		return min(2*quota, s.Budget)
	default:
		return quota
	}
}

// late reports whether the rest would take too long at the pace of the last run. For example, the outage lasted for six
// hours, and the last run sent what was created within two minutes of it. Deliveries of four hours are left: 120 runs,
// two hours at a run a minute. That is late if less than two hours of CatchUp remain.
//
// However little of CatchUp remains, a sixth of it is allowed: no endpoint gets everything at once because it has been
// away for long.
func (i Item) late(s Settings, oldest, now time.Time) bool {
	left := i.Since.Sub(oldest)
	done := oldest.Sub(i.Pace.Oldest) // by the last run
	// CONDITIONALS_BOUNDARY: what is left is then divided by zero: infinite, or no number, which exceeds nothing.
	if done <= 0 {
		return left > 0
	}
	runs := float64(left) / float64(done)
	allowed := max(s.CatchUp-now.Sub(i.Since), s.CatchUp/6)
	return runs*float64(s.Run) > float64(allowed)
}

// Paced is the item after a run in which the recovery was allowed to send quota items, the oldest of
// which was created at oldest.
func (i Item) Paced(quota int, oldest, now time.Time) Item {
	next := i
	next.Pace = Pace{Quota: quota, Oldest: oldest}
	return next.changed(now)
}
