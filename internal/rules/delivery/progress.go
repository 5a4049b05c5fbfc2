package delivery

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/retry"
)

// Queue is one of the queues that deliver receives from.
type Queue string

// The queues.
const (
	// DeliveryQueue has first attempts.
	DeliveryQueue Queue = "delivery"

	// RetryQueue has retries. Short waits are visibility timeouts there.
	RetryQueue Queue = "retry"

	// SlowQueue has all deliveries of slow tenants. Short waits are visibility timeouts there.
	SlowQueue Queue = "slow"
)

// keeps reports whether a delivery may spend a short wait on the queue.
func (q Queue) keeps() bool { return q != DeliveryQueue }

// Way is the destination of a delivery that was neither acknowledged nor discarded.
type Way int

// The ways.
const (
	// Stay leaves the delivery on its queue, invisible until Due.
	Stay Way = iota

	// ToRetryQueue sends the delivery from DeliveryQueue to RetryQueue, delayed until Due.
	ToRetryQueue

	// ToSlowQueue sends the delivery from DeliveryQueue or RetryQueue to SlowQueue, without a delay.
	ToSlowQueue

	// ToBacklog stores the delivery until Due or, if it is Held, until its endpoint takes deliveries again.
	ToBacklog

	// ToDeadLetterQueue sends the delivery to DeadLetterQueue, without a delay.
	ToDeadLetterQueue
)

// Move is the next step of a delivery after an attempt, or instead of one. Attempts and Life are for the message or
// item that carries it on; a message that stays on its queue keeps its own.
type Move struct {
	To Way

	// Attempts is the number of used places.
	Attempts int

	// Due is the time of the next attempt. For a held delivery, it is the end of the life.
	Due time.Time

	// Held says that the delivery waits for its endpoint, and not for its schedule.
	Held bool

	// NotBefore is the end of the receiver's Retry-After, for ToBacklog. It is zero without one.
	NotBefore time.Time

	Life Life
}

// Progress is a received delivery with its place in the schedule, at one moment.
type Progress struct {
	From Queue

	// Place is the result of retry.Schedule.Place.
	Place int

	// Receives counts the receives from this queue, this one included.
	Receives int

	Life Life

	// Now is the end of the attempt, or the current time if there was none.
	Now time.Time

	// Random is uniform in [0, 1).
	Random float64
}

// over reports whether the life is over: the delivery ends where it would have to wait again.
func (p Progress) over(s retry.Schedule) bool { return !p.Now.Before(s.End(p.Life.StartedAt)) }

// Failed is the move after an attempt that the receiver did not acknowledge. The wait is at least the
// outcome's RetryAfter. A probe uses no place, and its delivery waits for the endpoint again.
func (p Progress) Failed(s retry.Schedule, out Outcome) Move {
	life := p.Life
	life.Reason, life.Status = out.Reason, out.Status
	life.Slot = time.Time{}
	if !life.Probe.IsZero() {
		p.Life = life
		return p.hold(s, out.RetryAfter)
	}
	if p.Place >= s.Last() || p.over(s) {
		return Move{To: ToDeadLetterQueue, Attempts: p.Place, Due: p.Now, Life: life}
	}
	due := p.Now.Add(s.Wait(p.Place, p.Random, out.RetryAfter, 0))
	life.DueAt = earliest(due, s.End(life.StartedAt))
	long := s.LongAfter(p.Place) || s.IsLong(out.RetryAfter)
	return p.wait(Move{Attempts: p.Place, Due: life.DueAt, NotBefore: p.floor(s, out.RetryAfter), Life: life}, long)
}

// Fault is the move after an internal error. The delivery uses no place, and the wait grows with the receives. If the
// life is over, the delivery still waits on its queue: only its receiver or its endpoint can end it.
func (p Progress) Fault(s retry.Schedule) Move {
	receives := max(p.Receives, 1)
	wait := s.Wait(receives, p.Random, 0, 0)
	if p.over(s) {
		return p.wait(p.unattempted(p.Now.Add(min(wait, retry.MaxDelay))), false)
	}
	return p.wait(p.unattempted(earliest(p.Now.Add(wait), s.End(p.Life.StartedAt))), s.LongAfter(receives))
}

// Again is the move of a delivery that another receive has to attempt at once: no place is used.
func (p Progress) Again() Move { return p.wait(p.unattempted(p.Now), false) }

// PutOff is the move of a delivery after its receiver asked for no attempt for a while: no place is used.
func (p Progress) PutOff(s retry.Schedule, wait time.Duration) Move {
	return p.wait(p.unattempted(earliest(p.Now.Add(wait), s.End(p.Life.StartedAt))), false)
}

// Aside is the move of a slow tenant's delivery to SlowQueue: no place is used.
func (p Progress) Aside() Move {
	m := p.unattempted(p.Now)
	m.To = ToSlowQueue
	// The slot is for the attempt, wherever that is made.
	m.Life.Slot = p.Life.Slot
	return m
}

// Hold is the move of a delivery while its endpoint takes none. The delivery waits for the endpoint. If its life is
// over, it dies of the reason instead. It uses no place.
func (p Progress) Hold(s retry.Schedule, reason Reason) Move {
	p.Life.Reason = reason
	return p.hold(s, 0)
}

func (p Progress) hold(s retry.Schedule, retryAfter time.Duration) Move {
	m := p.unattempted(p.Now)
	m.Life.Probe = time.Time{}
	if p.over(s) {
		m.To = ToDeadLetterQueue
		return m
	}
	if m.Life.DueAt.IsZero() {
		m.Life.DueAt = p.Now
	}
	m.To = ToBacklog
	m.Held = true
	m.Due = s.End(p.Life.StartedAt)
	m.NotBefore = p.floor(s, retryAfter)
	return m
}

// Bury is the move of a delivery that ends without another attempt, or that failed to reach DeadLetterQueue before:
// then its life has the reason.
func (p Progress) Bury(reason Reason) Move {
	m := p.unattempted(p.Now)
	m.To = ToDeadLetterQueue
	if reason != m.Life.Reason {
		m.Life.Reason, m.Life.Status = reason, 0
	}
	return m
}

// unattempted uses no place. A slot is for one attempt, which is not made now.
func (p Progress) unattempted(due time.Time) Move {
	life := p.Life
	life.Slot = time.Time{}
	return Move{Attempts: p.Place - 1, Due: due, Life: life}
}

// wait spends a long wait in Backlog and a short one on a queue.
func (p Progress) wait(m Move, long bool) Move {
	switch {
	case long:
		m.To = ToBacklog
		m.Life.Probe = time.Time{}
	case p.From.keeps():
		m.To = Stay
	default:
		m.To = ToRetryQueue
	}
	return m
}

// floor is the time before which the receiver asked for no attempt.
func (p Progress) floor(s retry.Schedule, retryAfter time.Duration) time.Time {
	if retryAfter <= 0 {
		return time.Time{}
	}
	return earliest(p.Now.Add(retryAfter), s.End(p.Life.StartedAt))
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
