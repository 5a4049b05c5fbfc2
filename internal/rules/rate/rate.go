// Package rate holds an endpoint to its limit: so many deliveries a second, over all processes.
//
// The whole state of an endpoint is one moment, until which all slots are taken. It is moved by the generic cell rate
// algorithm (ITU-T I.371): each delivery takes a slot, which moves the moment by a second divided by the limit, and
// time passing pays for it. deliver takes slots for attempts that begin at once. release takes the slots of the minute
// ahead for deliveries that wait. Both move the same moment, so deliver finds the slots of release taken.
//
// It promises that slots which were taken by several processes at the same moment add up, and that the slots of any
// second are twice the limit at most: those of that second, and a burst of one second before it. The moment says
// nothing of the limit, so a limit may be changed at any time: slots that are taken stay taken. It is pure.
//
// What may go wrong: a run of release that ends early leaves slots unused, for a minute at most. A lowered limit
// applies to slots that are not taken yet, so the old one may last for the 75 seconds that release takes ahead. Clocks
// that differ by a second move slots by a second. A message that comes more than ten seconds after its slot, because
// RetryQueue was behind or its tenant is slow, takes one of a second moment, which all late messages share: until the
// queue has caught up, an endpoint may get up to twice its limit. The item of slots expires an hour after the last
// delivery; its loss costs up to 75 seconds of twice the limit. While release does not run, younger deliveries get the
// slots.
package rate

import "time"

const (
	// Burst is how far ahead deliver takes slots: an endpoint that was idle gets the deliveries of a second at once.
	Burst = time.Second
	// Punctual is how late a slot that was taken ahead may still be used. A delay of up to this much is explained by the
	// order of queues and by the start of a process.
	Punctual = 10 * time.Second
)

// Ask is a question for slots.
type Ask struct {
	// Limit is the number of deliveries a second, at least 1.
	Limit int
	// Want is the number of slots wanted. Fewer are taken where there are fewer.
	Want int
	// Ahead is how far ahead of the present slots are taken.
	Ahead time.Duration
	// Late asks for slots of another moment, which late deliveries share: those with a slot that has passed, because
	// RetryQueue was behind. So they keep the limit, too, and wait for no slot that was taken for others.
	Late bool
	// Seen is the moment as the asker saw it last. It decides nothing; it spares a write.
	Seen time.Time
}

// Taken is the answer.
type Taken struct {
	// Slots is the number of slots taken.
	Slots int
	// First is the first of them.
	First time.Time
	// Until is the moment as it is stored now.
	Until time.Time
}

// Time is the time that so many slots take. It is rounded up, so that no rounding exceeds the limit.
func Time(limit, slots int) time.Duration {
	micros := (int64(slots)*time.Second.Microseconds() + int64(limit) - 1) / int64(limit)
	return time.Duration(micros) * time.Microsecond
}

// Slot is the n-th slot taken, from 0.
func (t Taken) Slot(limit, n int) time.Time { return t.First.Add(Time(limit, n)) }

// Free is the number of slots that may be taken now, of those wanted, where all are taken until then. Clocks are finer
// than the microseconds that are stored: what a part of one would leave could not be stored.
func (a Ask) Free(until, now time.Time) int {
	now = now.Truncate(time.Microsecond)
	room := now.Add(a.Ahead).Sub(later(until, now))
	// CONDITIONALS_BOUNDARY: where there is no room, there is no slot either way.
	if room <= 0 {
		return 0
	}
	return min(a.Want, int(room*time.Duration(a.Limit)/time.Second))
}

// Take is the moment after so many slots are taken.
func (a Ask) Take(until, now time.Time, slots int) time.Time {
	return later(until, now).Add(Time(a.Limit, slots))
}

// NoneBefore is the moment from which a slot may be free, where all are taken until then.
func (a Ask) NoneBefore(until time.Time) time.Time { return until.Add(Time(a.Limit, 1) - a.Ahead) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
