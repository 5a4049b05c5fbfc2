package delivery

import (
	"time"

	"github.com/herald-webhooks/herald/internal/retry"
)

// Receive is what SQS says of a message it hands over.
type Receive struct {
	Count int       // receives from its queue, this one included
	First time.Time // the first of them
}

// Place is where a received delivery stands in its retry schedule. It alone says what a receive
// may do; whoever holds the message asks it and derives nothing again (infra/docs/design.md,
// "Retry schedule").
//
//	place      received from                               the receive
//	first      DeliveryQueue, whichever life it is         is the first attempt
//	early      RetryQueue, before its Retry-After is over  waits; the first one uses no place
//	retry n    RetryQueue, for the n-th time               is retry n
//	last       RetryQueue, n being the schedule's last     is retry n, and a failure is its death
//	exhausted  RetryQueue, after the last                  makes no attempt: SQS moves it on
//
// A replay is a life of its own: its message starts on DeliveryQueue, so it starts at the first
// place again.
type Place struct {
	schedule retry.Schedule
	retrying bool          // received from RetryQueue
	number   int           // 0 the first attempt, n retry n, MaxRetries+1 exhausted
	posted   int           // POSTs made before RetryQueue
	early    bool          // its Retry-After is not over
	rest     time.Duration // of its Retry-After, where it is early
}

// PlaceOf derives the place of a message received at now. Every receive from RetryQueue uses a
// place of the schedule, but for one before the message's NotBefore: that is the first one only,
// since its visibility is changed to end when its Retry-After is over.
func PlaceOf(s retry.Schedule, m Message, r Receive, now time.Time) Place {
	p := Place{schedule: s}
	if !m.Retrying {
		return p
	}
	p.retrying, p.posted, p.number = true, m.Attempts, r.Count
	if r.First.Before(m.NotBefore) {
		p.number--
	}
	p.number = min(max(p.number, 0), s.MaxRetries+1)
	p.rest = max(m.NotBefore.Sub(now), 0)
	p.early = p.rest > 0 || p.number == 0 // our clock may be ahead of SQS's
	return p
}

// FromRetryQueue reports whether the delivery was received from RetryQueue.
func (p Place) FromRetryQueue() bool { return p.retrying }

// Early reports whether the receiver's Retry-After forbids an attempt now.
func (p Place) Early() bool { return p.early }

// Last reports whether no place is left after this one: a failure here is final.
func (p Place) Last() bool { return p.number >= p.schedule.MaxRetries }

// Exhausted reports whether the schedule was used up before this receive.
func (p Place) Exhausted() bool { return p.number > p.schedule.MaxRetries }

// Used is how many places of the schedule are used after this receive, the first attempt
// included. posted says whether the receive was an attempt: a first one that was not leaves its
// place unused, a retry uses its place all the same.
func (p Place) Used(posted bool) int {
	switch {
	case p.Exhausted():
		return p.posted + p.schedule.MaxRetries
	case p.retrying:
		return p.posted + p.number
	case posted:
		return 1
	default:
		return 0
	}
}

// Next is the wait until the delivery's next receive. random is uniform in [0, 1), floor what
// the receiver asked for by Retry-After, elapsed the time since the message was received from
// RetryQueue. After the last place it is 0: SQS then moves the message at once, not after hours.
func (p Place) Next(random float64, floor, elapsed time.Duration) time.Duration {
	switch {
	case p.early:
		return min(p.rest, retry.Cap-elapsed)
	case p.Last():
		return 0
	default:
		return p.schedule.Wait(p.number+1, random, floor, elapsed)
	}
}

// Before reports whether p rather than o speaks for a delivery of which two messages came: one
// that may be attempted now before one that is early, and then the one with more tries left.
func (p Place) Before(o Place) bool {
	if p.early != o.early {
		return o.early
	}
	return p.number < o.number
}
