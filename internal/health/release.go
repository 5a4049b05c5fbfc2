package health

import (
	"time"

	"github.com/herald-webhooks/herald/internal/retry"
)

// Endpoint is what release needs to know of the endpoint itself.
type Endpoint struct {
	Gone      bool      // deleted, or not there
	Final     bool      // not there: nobody can take its deletion back
	Disabled  bool      // by its owner
	ChangedAt time.Time // when its owner last changed it, secret included
}

// Plan is what one run of release does about one endpoint in trouble.
type Plan struct {
	Turn    Write // stored first; when it is refused, the endpoint is left to the next run
	After   View  // the view once Turn is stored, for Fate, Claim and Pace
	Probe   bool  // send one item, after Claim is stored
	Recover bool  // send what Fate calls SendRecovery, at most Pace items
	Search  bool  // look through the endpoint's shards: something may be held, or has to be dropped
}

// Plan says what a run of release does about the endpoint.
func (v View) Plan(s Settings, e Endpoint, now time.Time) Plan {
	i := v.item()
	v.Endpoint = i
	turn := v.turn(s, e, now)
	v.Endpoint, _ = turn.Apply(i)
	p := Plan{Turn: turn, After: v}
	if v.Endpoint.Version == 0 {
		return p
	}
	i = v.Endpoint
	free := !e.Gone && !e.Disabled && !v.paused()
	p.Probe = free && v.probeDue(s, e, now)
	p.Recover = free && i.State == Recovering
	p.Search = e.Gone || i.Held || p.Recover || i.discards()
	return p
}

// turn is the change of state that no attempt brings about.
func (v View) turn(s Settings, e Endpoint, now time.Time) Write {
	i := v.Endpoint
	switch {
	case i.Version == 0 || e.Gone:
		return Write{}
	case e.Disabled && i.State != Disabled:
		return i.put(i.enter(Disabled, now), now)
	case !e.Disabled && v.overdue():
		return i.put(i.recover(now), now)
	case v.Tenant.Paused && i.State == Recovering: // it starts again when the pause ends
		return i.put(i.enter(None, now), now)
	case i.forgotten(s, now):
		return i.put(i.enter(None, now), now)
	}
	return i.Expire(s, now)
}

// Expire removes discarded_before once nothing can be left of what it drops. For a tenant's item, that
// is all that a run of release does about it.
func (i Item) Expire(s Settings, now time.Time) Write {
	if !i.discarded(s, now) {
		return Write{}
	}
	next := i
	next.DiscardedBefore = time.Time{}
	return i.put(next, now)
}

// forgotten reports whether a failing endpoint has had no further failure for long.
func (i Item) forgotten(s Settings, now time.Time) bool {
	return i.State == Failing && now.Sub(i.FailedAt) >= s.Forget
}

// discarded reports whether nothing can be left of what discarded_before drops.
func (i Item) discarded(s Settings, now time.Time) bool {
	return i.discards() && now.Sub(i.DiscardedBefore) >= s.Discard
}

// overdue reports whether something may still be held although its item no longer holds anything.
func (v View) overdue() bool {
	i := v.Endpoint
	return i.State == Disabled || i.Held && !i.holds() && !v.paused() && i.State != Recovering
}

// probeDue allows for runs of release that start a little early: a tenth of a tick.
func (v View) probeDue(s Settings, e Endpoint, now time.Time) bool {
	i := v.Endpoint
	if i.State != Open {
		return false
	}
	return !now.Before(i.NextProbe.Add(-s.Tick/10)) || v.ownerChanged(e)
}

func (v View) ownerChanged(e Endpoint) bool {
	return e.ChangedAt.After(latest(v.Endpoint.Since, v.Endpoint.ProbedAt))
}

// Claim is stored before a probe is sent, which is then marked with Item.Probe. Refused, no
// probe is sent.
func (v View) Claim(s Settings, e Endpoint, now time.Time) Write {
	i := v.item()
	next := i
	next.Probes++
	if v.ownerChanged(e) {
		next.Probes = 1
	}
	next.ProbedAt, next.NextProbe = now, now.Add(s.probeAfter(next.Probes))
	w := i.put(next, now)
	w.Item.Probe = w.Item.Version // never used twice
	return w
}

// Waiting is what the decisions need of an item of Backlog.
type Waiting struct {
	Held      bool // not by its schedule: due when its life ends
	ParkedAt  time.Time
	StartedAt time.Time
	DueAt     time.Time
	DiesAt    time.Time
	NotBefore time.Time // Retry-After's floor, zero for none
}

// Step is what release does with one item of Backlog.
type Step int

// The steps.
const (
	Keep         Step = iota // nothing
	SendDue                  // to RetryQueue, delayed until DueAt
	SendRecovery             // to RetryQueue, within the quota
	SendLast                 // to RetryQueue, marked last, at most Settings.Last a tick and endpoint
	Redate                   // hold it: due at Due
	Die                      // to DeadLetterQueue with Reason and Status
	Drop                     // discarded, with Reason
)

// Fate is what becomes of an item of Backlog in one run of release.
type Fate struct {
	Step   Step
	Reason string
	Status int
	Due    time.Time // of Redate: when its life ends
}

// Fate says what becomes of an item now. It is asked with Plan.After.
func (v View) Fate(s Settings, e Endpoint, w Waiting, now time.Time) Fate {
	i := v.Endpoint
	switch {
	case e.Gone:
		return Fate{Step: Drop, Reason: string(ReasonDeleted)}
	case w.StartedAt.Before(latest(i.DiscardedBefore, v.Tenant.DiscardedBefore)):
		return Fate{Step: Drop, Reason: string(ReasonDiscarded)}
	case e.Disabled, v.paused():
		if reason, ended := v.ended(e.Disabled, w.StartedAt, w.DiesAt, now); ended {
			return Fate{Step: Die, Reason: string(reason)}
		}
		return held(s, w, now)
	case i.State == Disabled:
		return held(s, w, now)
	case i.State == Open:
		return v.fateOpen(s, w, now)
	case i.State == Recovering:
		return v.fateRecovering(s, w, now)
	case !now.Before(w.DiesAt):
		return Fate{Step: SendLast}
	}
	return due(s, w, now)
}

func due(s Settings, w Waiting, now time.Time) Fate {
	if !w.Held && !w.DueAt.After(now.Add(s.Ahead)) {
		return Fate{Step: SendDue}
	}
	return Fate{}
}

// fateOpen sends once more what has reached the end of its life. What has waited too long for that
// dies of the failure of a probe made since.
func (v View) fateOpen(s Settings, w Waiting, now time.Time) Fate {
	i := v.Endpoint
	if now.Before(w.DiesAt) {
		return held(s, w, now)
	}
	if i.OutOfPatience(s, w.DiesAt, now) {
		return Fate{Step: Die, Reason: i.LastReason, Status: i.LastStatus}
	}
	return Fate{Step: SendLast}
}

// OutOfPatience reports whether what ended at diesAt has waited too long for its last attempt to an open
// endpoint, and dies of the failure of a probe. What became overdue in a recovery has waited since the circuit opened
// again.
func (i Item) OutOfPatience(s Settings, diesAt, now time.Time) bool {
	from := latest(diesAt, i.Since)
	return now.Sub(from) >= s.LastPatience && i.ProbeFailed.After(from)
}

// fateRecovering sends everything that waited for the endpoint, whether its life is over or not. What
// comes back from that after the end of its life, or has lived for MaxLife, is sent as a last attempt.
func (v View) fateRecovering(s Settings, w Waiting, now time.Time) Fate {
	switch {
	case w.NotBefore.After(now) && !v.ordered(w):
		return Fate{}
	case !now.Before(w.StartedAt.Add(retry.MaxLife)):
		return Fate{Step: SendLast}
	case w.Held, w.ParkedAt.Before(v.Endpoint.Since):
		return Fate{Step: SendRecovery}
	case !now.Before(w.DiesAt): // it had its attempt in this recovery; due() would send it with every tick
		return Fate{Step: SendLast}
	}
	return due(s, w, now)
}

// ordered reports whether an operator asked for the item when it waited already.
func (v View) ordered(w Waiting) bool {
	return v.Endpoint.Ordered && w.ParkedAt.Before(v.Endpoint.Since)
}

// Pace is how many items this run of release may send to a recovering endpoint; oldest is the
// created_at of the oldest of them. The pace doubles up to RecoveryLimit, and beyond it as long as
// the pace of the last tick is too slow to send what is left within CatchUp of the first 2xx.
func (i Item) Pace(s Settings, oldest, now time.Time) int {
	switch {
	case i.Ticks == 0:
		return s.Recovery
	case i.Quota < s.RecoveryLimit:
		return min(2*i.Quota, s.RecoveryLimit)
	case i.Full && i.late(s, oldest, now):
		return min(2*i.Quota, s.Budget)
	}
	return i.Quota
}

// late reports whether what is left takes too long. However little of CatchUp remains, a sixth of it
// is allowed: no endpoint gets everything at once because it has been away for long.
func (i Item) late(s Settings, oldest, now time.Time) bool {
	left, done := i.Since.Sub(oldest), oldest.Sub(i.Oldest)
	within := max(s.CatchUp-now.Sub(i.Since), s.CatchUp/6)
	return float64(left)*float64(s.Tick) > float64(within)*float64(max(done, 0))
}

// Released is stored after a tick in which items of a recovering endpoint were sent: quota is
// what Pace allowed, sent how many there were, oldest as handed to Pace.
func (v View) Released(quota, sent int, oldest, now time.Time) Write {
	i := v.item()
	if i.State != Recovering || sent == 0 {
		return Write{}
	}
	next := i
	next.Ticks++
	next.Quota, next.Full, next.Oldest = quota, sent >= quota, oldest
	return i.put(next, now)
}

// Empty is what is stored after strongly consistent reads of all the endpoint's shards found
// nothing that is held, or that recovery would send. Nothing else removes an item under which
// anything was held, and this does not unless every batch that may have acted on a holding state
// was over before the first of these reads, at from: a shard read earlier may have been filled since.
func (v View) Empty(s Settings, e Endpoint, from time.Time) Write {
	i := v.item()
	if i.Version == 0 || !v.mayEnd(s, e, from) {
		return Write{}
	}
	if e.Gone && !e.Final && i.Held && !i.Paused && i.State != Recovering {
		// It may be active again by now, and a batch may hold under this very item, for its circuit, its owner or
		// its tenant: first nothing is to.
		return i.put(i.recover(from), from)
	}
	next := i.enter(None, from)
	next.Held = i.Paused // what operators asked for outlives a deletion, which can be taken back
	if e.Final {
		return i.put(Item{TenantID: i.TenantID, EndpointID: i.EndpointID}, from)
	}
	if next.Held == i.Held && next.State == i.State {
		return Write{}
	}
	return i.put(next, from)
}

// mayEnd reports whether the endpoint is gone or recovering, and every batch that may have acted on a
// state before this one was over at from.
func (v View) mayEnd(s Settings, e Endpoint, from time.Time) bool {
	i := v.item()
	if e.Gone {
		return from.Sub(latest(i.Changed, e.ChangedAt)) >= s.linger()
	}
	return i.State == Recovering && !v.paused() && from.Sub(i.Since) >= s.linger()
}
