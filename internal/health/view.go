package health

import (
	"slices"
	"time"
)

// View is what a process knows of one endpoint: its item and its tenant's, as read. Items that
// are not there are zero, which is also what deliver takes for items that it could not read.
type View struct {
	TenantID   string
	EndpointID string
	Endpoint   Item
	Tenant     Item
}

func (v View) paused() bool { return v.Endpoint.Paused || v.Tenant.Paused }

// item is the endpoint's item with its key.
func (v View) item() Item {
	i := v.Endpoint
	i.TenantID, i.EndpointID = v.TenantID, v.EndpointID
	return i
}

// Reason says why a delivery waits or ends. They are delivery's reasons as text.
type Reason string

// The reasons of this package.
const (
	ReasonOpen      Reason = "circuit_open"
	ReasonPaused    Reason = "endpoint_paused"
	ReasonDisabled  Reason = "endpoint_disabled"
	ReasonDeleted   Reason = "endpoint_deleted"
	ReasonDiscarded Reason = "discarded"
)

// Question is one delivery in hand, whose endpoint exists.
type Question struct {
	Disabled  bool      // its endpoint is, by its owner
	StartedAt time.Time // when its life began
	DiesAt    time.Time // when it ends; zero: not fixed yet
	Probe     int64     // the number it is marked with, 0 for none
	Last      bool      // it is marked as the last attempt
}

// Action is what deliver does with a delivery in hand.
type Action int

// The actions.
const (
	Post    Action = iota // make the attempt
	Hold                  // put it into Backlog, held
	Dropped               // acknowledge it without an attempt: an operator discarded it
	Ended                 // make it a dead letter without an attempt: its life ended while it was held
)

// Decision is the answer to a Question. Before anything is held, First has to be stored (if its
// Kind is not Nothing): release finds what is held by its endpoint's item. When First is refused,
// the question is asked again about the item that is stored, or the delivery stays on its queue.
type Decision struct {
	Action Action
	Reason Reason
	First  Write
}

// Decide says what deliver does with a delivery now.
func (v View) Decide(q Question, now time.Time) Decision {
	i := v.item()
	switch {
	case q.StartedAt.Before(latest(i.DiscardedBefore, v.Tenant.DiscardedBefore)):
		return Decision{Action: Dropped, Reason: ReasonDiscarded}
	case q.Disabled, v.paused():
		if reason, ended := v.ended(q.Disabled, q.StartedAt, q.DiesAt, now); ended {
			return Decision{Action: Ended, Reason: reason}
		}
		return v.hold(q, now)
	case i.State == Open && !q.Last && !i.probes(q.Probe):
		return Decision{Action: Hold, Reason: ReasonOpen}
	}
	return Decision{Action: Post}
}

// hold is the decision about an endpoint that its owner or an operator holds.
func (v View) hold(q Question, now time.Time) Decision {
	if i := v.item(); q.Disabled {
		d := Decision{Action: Hold, Reason: ReasonDisabled}
		if i.State != Disabled {
			d.First = i.put(i.enter(Disabled, now), now)
		}
		return d
	}
	return Decision{Action: Hold, Reason: ReasonPaused, First: v.underPause(now)}
}

// underPause makes sure that the endpoint recovers when its tenant's pause ends. Its item says that
// something may be held, and is not in recovery: otherwise release would take an empty Backlog for
// the end of the recovery while the last batches of the pause still put something into it.
func (v View) underPause(now time.Time) Write {
	i := v.item()
	if i.Paused || i.Held && i.State != Recovering {
		return Write{}
	}
	next := i
	if i.State == Recovering {
		next = i.enter(None, now)
	}
	return i.put(next.withHeld(), now)
}

func (i Item) withHeld() Item {
	i.Held = true
	return i
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Result is what became of one attempt, a POST that was begun. Faults of ours are not results.
type Result struct {
	DeliveryID string
	Begun      time.Time
	OK         bool // 2xx
	Status     int
	Reason     string
	Retry      bool  // not the first place of its schedule
	Probe      int64 // as marked
	Last       bool
}

// Observe says what has to be written after the attempts of one batch to the endpoint. Any 2xx
// among them speaks for all: failures beside it do not count. When the write is refused, it may be
// asked once more about the item that is stored.
func (v View) Observe(s Settings, results []Result, now time.Time) Write {
	i := v.item()
	ok := slices.ContainsFunc(results, func(r Result) bool { return r.OK })
	switch i.State {
	case Open:
		return i.observeOpen(results, now)
	case Recovering:
		if ok {
			return i.clearRun()
		}
		return i.observeRecovering(s, results, now)
	case None, Failing:
		if ok {
			return v.succeed(now)
		}
		return i.fail(s, results, now)
	}
	return Write{} // disabled: its owner and release decide
}

// observeOpen looks at the probe and at last attempts: nothing else was begun while open.
func (i Item) observeOpen(results []Result, now time.Time) Write {
	for _, r := range results {
		if r.OK && !r.Begun.Before(i.Since) {
			return i.put(i.recover(now), now)
		}
	}
	for _, r := range results {
		if i.probes(r.Probe) && !r.Begun.Before(i.Since) {
			next := i
			next.ProbeFailed, next.LastStatus, next.LastReason = now, r.Status, r.Reason
			return i.put(next, now)
		}
	}
	return Write{}
}

// probes reports whether the number is that of a probe since the opening. It need not be the last: a
// probe that comes late, when RetryQueue is behind, would otherwise never be made, nor any other.
func (i Item) probes(number int64) bool { return number != 0 && number >= i.Since.UnixNano() }

func (i Item) clearRun() Write {
	if i.Failures == 0 {
		return Write{}
	}
	return Write{Kind: ClearRun, Item: i}
}

func (i Item) observeRecovering(s Settings, results []Result, now time.Time) Write {
	next := i.count(s, results, now)
	if next.Failures == i.Failures {
		return Write{}
	}
	if next.Failures >= s.ReopenFailures && now.Sub(next.FailingSince) >= s.ReopenSpan {
		next = next.open(s, now)
	}
	return i.put(next, now)
}

// succeed ends a run of failures. What was held under the item is left to recovery.
func (v View) succeed(now time.Time) Write {
	i := v.item()
	switch {
	case i.State != Failing:
		return Write{}
	case i.bare():
		return Write{Kind: ClearFailing, Item: i}
	case i.Held && !v.paused():
		return i.put(i.recover(now), now)
	}
	return i.put(i.enter(None, now), now)
}

// fail counts failures of a healthy or failing endpoint. A first attempt that is answered and fails alone
// starts no run: it is retried within seconds, and if that succeeds, nothing was written here.
func (i Item) fail(s Settings, results []Result, now time.Time) Write {
	from := i
	if i.State == None {
		from = i.enter(Failing, now)
		from.Changed = i.Changed
	}
	next := from.count(s, results, now)
	switch added := next.Failures - i.Failures; {
	case added == 0, added == 1 && i.State == None && !slices.ContainsFunc(results, startsRun):
		return Write{}
	case s.opens(next, now):
		next = next.open(s, now)
	case s.idle(i, next):
		return Write{} // one or two deliveries that go through their schedule open nothing
	}
	return i.put(next, now)
}

// idle reports whether a failure of a delivery that is known already changes nothing: too few deliveries
// have failed to open the circuit, and with one failure of each that is missing there will be enough.
func (s Settings) idle(i, next Item) bool {
	missing := s.Deliveries - len(i.Deliveries)
	return missing > 0 && len(next.Deliveries) == len(i.Deliveries) && i.Failures+missing >= s.Failures
}

// startsRun reports whether a failure counts that is alone. What had no answer does: of an endpoint that
// hangs the slow lane may make no retry for minutes.
func startsRun(r Result) bool { return r.Retry || r.Status == 0 }

// opens reports whether a run of failures is long enough.
func (s Settings) opens(i Item, now time.Time) bool {
	lasted := now.Sub(i.FailingSince)
	return i.Failures >= s.BusyFailures && lasted >= s.BusySpan ||
		i.Failures >= s.Failures && len(i.Deliveries) >= s.Deliveries && lasted >= s.Span
}

// count adds the failures begun since the item's change to its run.
func (i Item) count(s Settings, results []Result, now time.Time) Item {
	next := i
	next.Deliveries = slices.Clone(i.Deliveries)
	for _, r := range results {
		if r.OK || r.Begun.Before(i.Changed) {
			continue
		}
		if next.Failures == 0 {
			next.FailingSince = now
		}
		next.Failures++
		next.FailedAt, next.LastStatus, next.LastReason = now, r.Status, r.Reason
		if len(next.Deliveries) < s.Deliveries && !slices.Contains(next.Deliveries, r.DeliveryID) {
			next.Deliveries = append(next.Deliveries, r.DeliveryID)
		}
	}
	return next
}
