package circuit

import (
	"slices"
	"time"
)

// Result is the result of one attempt, a POST that was begun. Internal errors are not results.
type Result struct {
	DeliveryID string
	Begun      time.Time
	OK         bool // 2xx
	Status     int
	Reason     string
	Retry      bool          // not the first place of its schedule
	RetryAfter time.Duration // that first attempts wait, too; zero: they do not
	Probe      time.Time     // as the message is marked; zero: no probe
}

// Observe returns the item after the attempts of one batch to the endpoint, and whether it has to be stored. Any 2xx
// among them speaks for all: failures in the same batch do not count. seen are the endpoint's attempts that this
// process has not stored yet, the batch's included.
func (i Item) Observe(s Settings, results []Result, seen Seen, now time.Time) (next Item, store bool) {
	next, store = i.observe(s, results, now)
	if !store {
		return i, false
	}
	next.Recent = i.Recent.Add(seen.Tried, seen.OK, now)
	return next.changed(now), true
}

// Seen counts attempts and the 2xx among them.
type Seen struct{ Tried, OK int }

func (i Item) observe(s Settings, results []Result, now time.Time) (next Item, store bool) {
	if i.State == Open {
		return i.observeProbe(results, now)
	}
	if slices.ContainsFunc(results, func(r Result) bool { return r.OK && !r.Begun.Before(i.Since) }) {
		return i.succeed(now)
	}
	next = i.count(s, results, now)
	switch added := next.Failures - i.Failures; {
	case added == 0, added == 1 && i.State == None && !slices.ContainsFunc(results, startsRun):
		return i, false
	case s.opens(next, now):
		return next.opened(s, now), true
	}
	return next, i.State == Recovering || !s.idle(i, next)
}

// succeed ends a run of failures. It does not end a recovery.
func (i Item) succeed(now time.Time) (next Item, store bool) {
	next = i
	switch i.State {
	case Failing:
		return i.enter(None, now), true
	case Recovering:
		next.Failures, next.Deliveries = 0, nil
		return next, i.Failures > 0
	}
	return i, false
}

// opened opens the circuit. Behind a recovery that failed the probes wait longer.
func (i Item) opened(s Settings, now time.Time) Item {
	if i.State == Recovering {
		i.Probes = max(i.Probes, len(s.Probes))
	}
	return i.open(now)
}

// observeProbe looks at probes only: nothing else was begun while the circuit was open.
func (i Item) observeProbe(results []Result, now time.Time) (next Item, store bool) {
	next = i
	for _, r := range results {
		switch {
		case !i.Probing(r.Probe) || r.Begun.Before(i.Since):
		case r.OK:
			return i.recover(now), true
		default:
			next.Last, store = Answer{At: now, Status: r.Status, Reason: r.Reason}, true
		}
	}
	return next, store
}

// Probing reports whether the mark belongs to a probe of this opening. It need not be the last: a probe that comes
// late, when RetryQueue is behind, would otherwise never be made, nor any other.
func (i Item) Probing(mark time.Time) bool {
	return i.State == Open && !mark.IsZero() && !mark.Before(i.Since.Truncate(time.Millisecond))
}

// startsRun reports whether a failure counts that is alone: a first attempt that is answered and fails
// is retried within seconds, and if that succeeds, nothing was written here.
func startsRun(r Result) bool { return r.Retry || r.Status == 0 }

// count adds the failures begun since the state's beginning to its run.
func (i Item) count(s Settings, results []Result, now time.Time) Item {
	next := i
	if i.State == None {
		next = i.enter(Failing, now)
	}
	next.Deliveries = slices.Clone(i.Deliveries)
	for _, r := range results {
		if r.OK || r.Begun.Before(i.Since) {
			continue
		}
		if next.Failures++; next.Failures == 1 {
			next.FailingSince = now
		}
		if next.OutageSince.IsZero() {
			next.OutageSince = now
		}
		next.Last = next.failed(s, r, now)
		if len(next.Deliveries) < s.Deliveries && !slices.Contains(next.Deliveries, r.DeliveryID) {
			next.Deliveries = append(next.Deliveries, r.DeliveryID)
		}
	}
	return next
}

// failed is the answer of a failure that was just counted. A wait that the receiver asked for in an earlier failure of
// the run still holds.
func (i Item) failed(s Settings, r Result, now time.Time) Answer {
	last := Answer{At: now, Status: r.Status, Reason: r.Reason}
	if i.Failures > 1 {
		last.RetryAt = i.Last.RetryAt
	}
	if r.RetryAfter > 0 {
		last.RetryAt = latest(last.RetryAt, now.Add(min(r.RetryAfter, s.Run)))
	}
	return last
}

// opens reports whether a run of failures is long enough.
func (s Settings) opens(i Item, now time.Time) bool {
	lasted := now.Sub(i.FailingSince)
	if i.State == Recovering {
		return i.Failures >= s.ReopenFailures && lasted >= s.ReopenSpan
	}
	return i.Failures >= s.BusyFailures && lasted >= s.BusySpan ||
		i.Failures >= s.Failures && len(i.Deliveries) >= s.Deliveries && lasted >= s.Span
}

// idle reports whether a failure need not be stored. The circuit opens after so many failures of so many deliveries. As
// long as too few deliveries have failed, another failure of the same ones decides nothing, if the failures already
// suffice once each missing delivery has failed, too.
func (s Settings) idle(i, next Item) bool {
	missing := s.Deliveries - len(i.Deliveries)
	return missing > 0 && len(next.Deliveries) == len(i.Deliveries) && i.Failures+missing >= s.Failures
}
