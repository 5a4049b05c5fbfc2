package delivery

import (
	"time"

	"github.com/herald-webhooks/herald/internal/retry"
)

// Way is where a delivery goes that was not acknowledged.
type Way int

// The ways.
const (
	ToRetryQueue      Way = iota // after Wait: by visibility there, by DelaySeconds from elsewhere
	ToBacklog                    // until Due
	ToDeadLetterQueue            // at once, with Life's reason and status
)

// Next is what becomes of a delivery after an attempt, or instead of one. Attempts and Life are
// those of the message or item that carries it on; a message that stays on RetryQueue keeps its own.
type Next struct {
	To       Way
	Attempts int           // places used
	Wait     time.Duration // from now to Due
	Due      time.Time
	Held     bool // not by its schedule: due when its life ends
	Life     Life
}

// Standing is where a delivery in hand stands.
type Standing struct {
	Place    int // in the schedule: retry.Schedule.Place
	Receives int // from this queue, this one included
	Life     Life
	Now      time.Time // end of the attempt, or now if there was none
	Random   float64   // uniform in [0, 1)
}

// Failed is what follows on an attempt that the receiver did not acknowledge. begun is when it began:
// an attempt begun before the delivery's own due time, which probes, recovery and operators do not
// wait for, uses no place. The wait is at least the outcome's RetryAfter. A probe does not stay on
// RetryQueue, where its mark would make every further attempt a probe.
func (s Standing) Failed(schedule retry.Schedule, out Outcome, begun time.Time) Next {
	life := s.Life
	life.Reason, life.Status = out.Reason, out.Status
	early := life.OwnDue.Sub(begun) > clocks
	if life.Last || !early && s.Place >= schedule.Last() {
		return Next{To: ToDeadLetterQueue, Attempts: s.used(early), Due: s.Now, Life: life}
	}
	life = life.notBefore(s.Now, out.RetryAfter)
	if early {
		wait := max(life.OwnDue.Sub(s.Now), out.RetryAfter, 0)
		return s.after(schedule, s.used(early), wait, life.Probe != 0 || schedule.IsLong(wait), life)
	}
	wait := schedule.Wait(s.Place, s.Random, out.RetryAfter, 0)
	life.OwnDue = s.Now.Add(wait)
	long := life.Probe != 0 || schedule.LongAfter(s.Place) || schedule.IsLong(out.RetryAfter)
	return s.after(schedule, s.used(early), wait, long, life)
}

// notBefore moves an end that is still to come behind the time that a Retry-After named, up to MaxLife:
// the last attempt is made at the end, and the receiver asked for none before. One that is past stays, so
// that nobody lives on by asking again and again.
func (l Life) notBefore(now time.Time, retryAfter time.Duration) Life {
	at := now.Add(retryAfter)
	if longest := l.StartedAt.Add(retry.MaxLife); at.After(longest) {
		at = longest
	}
	if now.Before(l.DiesAt) && at.After(l.DiesAt) {
		l.DiesAt = at
	}
	return l
}

// clocks is how far the clocks of two processes may be apart: what comes early by no more than that
// is on time.
const clocks = time.Second

func (s Standing) used(early bool) int {
	if early {
		return s.Place - 1
	}
	return s.Place
}

// Fault is what follows on a fault of ours: no place is used, and the wait grows with the
// receives. Life.Reason and Status stay those of the last attempt that was made.
func (s Standing) Fault(schedule retry.Schedule) Next {
	receives := max(s.Receives, 1)
	wait := schedule.Wait(receives, s.Random, 0, 0)
	return s.after(schedule, s.Place-1, wait, schedule.LongAfter(receives), s.ownDueNow())
}

// Early is what follows where a delivery was received before its own due time.
func (s Standing) Early(schedule retry.Schedule) Next {
	wait := max(s.Life.OwnDue.Sub(s.Now), 0)
	return s.after(schedule, s.Place-1, wait, schedule.IsLong(wait), s.ownDueNow())
}

// AtOnce is what follows where the attempt has to be made by another receive: no place is used.
func (s Standing) AtOnce() Next {
	return Next{To: ToRetryQueue, Attempts: s.Place - 1, Due: s.Now, Life: s.ownDueNow()}
}

// Die is what follows where a life is over without another attempt.
func (s Standing) Die(reason Reason) Next {
	life := s.Life
	life.Reason, life.Status = reason, 0
	return Next{To: ToDeadLetterQueue, Attempts: s.Place - 1, Due: s.Now, Life: life}
}

// Later is what follows where, for the sake of others, an attempt may not start before due: the
// delivery waits in Backlog and uses no place.
func (s Standing) Later(schedule retry.Schedule, due time.Time) Next {
	return s.after(schedule, s.Place-1, due.Sub(s.Now), true, s.ownDueNow())
}

// Hold is what follows where the endpoint is held: the delivery waits until it recovers, or to
// the end of its life.
func (s Standing) Hold(schedule retry.Schedule, reason Reason) Next {
	life := s.ownDueNow()
	life.Reason = reason
	return s.after(schedule, s.Place-1, 0, true, life).Hold()
}

// Hold makes a delivery that was to wait in Backlog wait for its endpoint instead.
func (n Next) Hold() Next {
	if n.To != ToBacklog {
		return n
	}
	n.Wait += n.Life.DiesAt.Sub(n.Due)
	n.Due, n.Held = n.Life.DiesAt, true
	return n
}

// ownDueNow is the life, with now as its own due time where it has none.
func (s Standing) ownDueNow() Life {
	life := s.Life
	if life.OwnDue.IsZero() {
		life.OwnDue = s.Now
	}
	return life
}

// after parks what waits for long. The first time, it fixes the end of the life; nothing is due later
// than that. Marks are for one attempt only.
func (s Standing) after(schedule retry.Schedule, attempts int, wait time.Duration, long bool, life Life) Next {
	due := s.Now.Add(wait)
	if !long {
		return Next{To: ToRetryQueue, Attempts: attempts, Wait: wait, Due: due, Life: life}
	}
	if life.DiesAt.IsZero() {
		life.DiesAt = schedule.DiesAt(s.Place, life.StartedAt, due, s.Now)
	}
	if due.After(life.DiesAt) {
		due = life.DiesAt
	}
	life.Probe, life.Last = 0, false
	return Next{To: ToBacklog, Attempts: attempts, Wait: due.Sub(s.Now), Due: due, Life: life}
}
