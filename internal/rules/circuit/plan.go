package circuit

import (
	"hash/fnv"
	"time"
)

// Facts come from the endpoint's row and its tenant's.
type Facts struct {
	Gone            bool      // deleted, or not there
	Stopped         bool      // disabled by its owner, or paused by an operator
	Limit           int       // deliveries a second; 0: none
	ChangedAt       time.Time // last change by the owner, secret included, or by an operator
	ReleasedAt      time.Time // an operator's order to send the backlog; zero: none
	DiscardedBefore time.Time // deliveries that began before are dropped; zero: none
	PausedAt        time.Time // by an operator; zero: it is not
	ResumedAt       time.Time // end of the last pause
}

// Plan is the work of one run of release for one endpoint.
type Plan struct {
	Item    Item // after the change of state that no attempt brings about
	Changed bool // Item has to be stored first; when that is refused, the endpoint is left to the next run
	Probe   bool // send one delivery, after Claim is stored
	Recover bool // send, within Pace, items with the verdict Send
	Search  bool // search the endpoint's shards for held deliveries, and ones to drop
}

// Plan returns the work of a run of release for the endpoint.
func (i Item) Plan(s Settings, f Facts, now time.Time) Plan {
	p := Plan{Item: i}
	if !f.Gone {
		p.Item, p.Changed = i.tend(s, f, now)
	}
	free := !f.Gone && !f.Stopped
	p.Probe = free && p.Item.probeDue(s, f, now)
	p.Recover = free && (p.Item.State == Recovering || p.Item.Paces(f))
	p.Search = p.Recover || !i.HeldUntil.IsZero() && p.Item.searched(s, f, now)
	return p
}

// tend records new troubles, then makes a transition.
func (i Item) tend(s Settings, f Facts, now time.Time) (next Item, changed bool) {
	next, noted := i, false
	if s.Notices {
		next, noted = i.noted(f, now)
	}
	next, moved := next.transition(s, f, now)
	if noted && !moved {
		next = next.changed(now)
	}
	return next, noted || moved
}

// transition is the change of state that an operator's order or a stop brings about.
func (i Item) transition(s Settings, f Facts, now time.Time) (next Item, changed bool) {
	switch {
	case !f.Stopped && i.ordered(s, f, now):
		return i.recover(now).changed(now), true
	case i.State == Recovering && (f.Stopped || f.ChangedAt.After(i.Since)): // it may have been stopped since
		return i.enter(None, now).changed(now), true
	}
	return i, false
}

// ordered reports whether an operator's order has still to be carried out. An attempt that changes the state
// before release has seen a new order does not swallow it.
func (i Item) ordered(s Settings, f Facts, now time.Time) bool {
	isNew := now.Sub(f.ReleasedAt) < s.RecoverOnce
	return f.ReleasedAt.After(i.Since) || isNew && f.ReleasedAt.After(i.RecoveredAt)
}

// searched reports whether there may be something to drop, or something held that could be sent.
func (i Item) searched(s Settings, f Facts, now time.Time) bool {
	discards := f.Gone || !f.DiscardedBefore.IsZero()
	return discards || !f.Stopped && (i.State != Open || i.forgotten(s, now))
}

// Found returns the item after a search found something held, and whether a recovery begins.
func (i Item) Found(s Settings, f Facts, now time.Time) (next Item, begins bool) {
	if f.Gone || f.Stopped || i.State == Open || i.State == Recovering || now.Sub(i.RecoveredAt) < s.RecoverOnce {
		return i, false
	}
	return i.recover(now).changed(now), true
}

// MayHold reports whether a batch that has read the item may put deliveries into Backlog as held. If
// not, it first stores a lease until NewLease.
func (i Item) MayHold(s Settings, now time.Time) bool {
	return !i.HeldUntil.Before(now.Add(2 * s.FunctionTimeout))
}

// NewLease is the end of a lease stored now.
func (s Settings) NewLease(now time.Time) time.Time {
	return now.Add(max(s.Lease, 4*s.FunctionTimeout))
}

// NextProbe is the moment from which the next probe is sent; zero while the circuit is not open.
func (i Item) NextProbe(s Settings) time.Time {
	if i.State != Open {
		return time.Time{}
	}
	return latest(latest(i.Since, i.ProbedAt).Add(s.probeWait(i.Probes)), i.RecoveredAt.Add(s.RecoverOnce))
}

// probeDue allows for runs of release that start a little early: a tenth of a run.
func (i Item) probeDue(s Settings, f Facts, now time.Time) bool {
	if i.State != Open || now.Sub(i.RecoveredAt) < s.RecoverOnce {
		return false
	}
	changed := f.ChangedAt.After(latest(i.Since, i.ProbedAt)) && now.Sub(i.ProbedAt) >= s.RecoverOnce
	return changed || !now.Before(i.NextProbe(s).Add(-s.Run/10))
}

// probeWait is the wait before the probe with this index: first those of Probes, of which the last repeats. A circuit
// that opens again in a recovery begins with the first of Reprobes instead.
func (s Settings) probeWait(index int) time.Duration {
	if index < len(s.Probes) {
		return s.Probes[index]
	}
	return s.Reprobes[min(index-len(s.Probes), len(s.Reprobes)-1)]
}

// Claim is the item stored before a probe is sent, which is then marked with its ProbedAt: only the run
// that stored it sends. A crash after that costs one wait.
func (i Item) Claim(s Settings, now time.Time) Item {
	next := i
	next.ProbedAt = now.Truncate(time.Millisecond)
	if i.Probes != len(s.Probes)-1 { // the last of Probes repeats
		next.Probes = min(i.Probes+1, len(s.Probes)+len(s.Reprobes)-1)
	}
	return next.changed(now)
}

// Spread is the moment within a run at which the endpoint's probe is sent, so that the probes of many
// endpoints do not all arrive in the same second.
func (s Settings) Spread(endpointID string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(endpointID)) // never fails
	return s.Run * time.Duration(h.Sum32()%64) / 64
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
