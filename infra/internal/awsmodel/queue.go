// Package awsmodel models AWS for the simulation and for the tests of the invariants: a standard queue of
// SQS with delays, visibility timeouts, receive counts, redrive, the limit of messages in flight, and
// fair queues; and the table Backlog, whose index learns of changes later.
//
// It promises the documented behaviour where it can do harm: a receive at the limit returns
// nothing and no error, a message that is delayed is not in flight and one that waits out a
// visibility timeout is, a visibility timeout ends 12 hours after the receive at the latest, and
// a message that was received too often is moved instead of received. It leaves out what would
// only add noise: partial receives from some of the servers, duplicates, retention. Order is that
// of becoming visible, which a standard queue only approximates.
//
// Time is what the caller says it is, as the duration since the start; it must not go back.
package awsmodel

import "time"

const (
	// Limit is how many messages of a standard queue may be in flight.
	Limit = 120_000
	// maxBatch is how many messages a receive returns at most.
	maxBatch = 10
	// longest is how long a message may be in flight from its receive.
	longest = 12 * time.Hour
	// noisyLeast and noisyShare make a group noisy: fair queues hand over the messages of others
	// first.
	noisyLeast = 30
	noisyShare = 10 // a tenth of what is in flight
)

// Handle names one receive of a message, as a receipt handle does.
type Handle struct {
	slot int32
	turn uint32
}

// Queue is one standard queue. Its fields are set before it is used.
type Queue[M any] struct {
	Limit       int           // messages in flight; 0: Limit
	Visibility  time.Duration // of a receive
	MaxReceives int           // beyond which a message is moved; 0: never
	Moved       func(M)       // takes what is moved by redrive
	Fair        bool          // fair queues: groups that are noisy come last

	slots    []slot[M]
	free     []int32
	visible  ring[int32]
	noisy    ring[int32] // visible messages of groups that were noisy when their turn came
	timeouts ring[timer] // of receives: all equally long, so in order
	timers   Heap[timer] // of delays and changed visibility
	inFlight int
	groups   map[int32]int // in flight, by group; only of a fair queue
	stored   int
}

type slot[M any] struct {
	message  M
	received time.Duration
	turn     uint32 // raised whenever the state changes: timers and handles of before are void
	receives int32
	group    int32
	flying   bool
}

type timer struct {
	at   time.Duration
	slot int32
	turn uint32
}

// Send stores a message that becomes visible after delay.
func (q *Queue[M]) Send(m M, group int32, now, delay time.Duration) {
	n := q.place()
	s := &q.slots[n]
	s.message, s.group, s.receives, s.flying = m, group, 0, false
	s.turn++
	q.stored++
	if delay <= 0 {
		q.visible.push(n)
		return
	}
	q.timers.Push(now+delay, timer{now + delay, n, s.turn})
}

func (q *Queue[M]) place() int32 {
	if last := len(q.free) - 1; last >= 0 {
		n := q.free[last]
		q.free = q.free[:last]
		return n
	}
	q.slots = append(q.slots, slot[M]{})
	return int32(len(q.slots) - 1) //nolint:gosec // memory ends long before
}

// Next is when the next timer ends; false where there is none.
func (q *Queue[M]) Next() (time.Duration, bool) {
	for q.timeouts.n > 0 && q.void(q.timeouts.front()) {
		q.timeouts.pop()
	}
	at, any := time.Duration(0), false
	if q.timeouts.n > 0 {
		at, any = q.timeouts.front().at, true
	}
	for q.timers.Len() > 0 {
		first, t := q.timers.Next()
		if !q.void(t) {
			if !any || first < at {
				at, any = first, true
			}
			break
		}
		q.timers.Pop()
	}
	return at, any
}

func (q *Queue[M]) void(t timer) bool { return q.slots[t.slot].turn != t.turn }

// Advance makes visible whatever is by now.
func (q *Queue[M]) Advance(now time.Duration) {
	for {
		at, any := q.Next()
		if !any || at > now {
			return
		}
		if q.timeouts.n > 0 && q.timeouts.front().at == at {
			q.appear(q.timeouts.pop().slot)
			continue
		}
		_, t := q.timers.Pop()
		q.appear(t.slot)
	}
}

func (q *Queue[M]) appear(n int32) {
	q.slots[n].turn++
	q.land(n)
	q.visible.push(n)
}

func (q *Queue[M]) land(n int32) {
	s := &q.slots[n]
	if !s.flying {
		return
	}
	s.flying = false
	q.inFlight--
	if q.Fair {
		q.groups[s.group]--
	}
}

// Receive returns the handles of at most maxBatch messages. At the limit of messages in flight
// it returns none, as a long poll does.
func (q *Queue[M]) Receive(now time.Duration, into []Handle) []Handle {
	into = into[:0]
	for len(into) < maxBatch && q.inFlight < q.limit() {
		n, ok := q.take()
		if !ok {
			break
		}
		s := &q.slots[n]
		s.turn++
		if q.MaxReceives > 0 && int(s.receives) >= q.MaxReceives {
			q.Moved(s.message)
			q.release(n)
			continue
		}
		s.receives++
		s.flying, s.received = true, now
		q.inFlight++
		if q.Fair {
			if q.groups == nil {
				q.groups = map[int32]int{}
			}
			q.groups[s.group]++
		}
		q.timeouts.push(timer{now + q.Visibility, n, s.turn})
		into = append(into, Handle{n, s.turn})
	}
	return into
}

// take returns the next visible message: of a fair queue, one of a group that is not noisy where
// there is one.
func (q *Queue[M]) take() (int32, bool) {
	for q.visible.n > 0 {
		n := q.visible.pop()
		if q.Fair && q.isNoisy(q.slots[n].group) {
			q.noisy.push(n)
			continue
		}
		return n, true
	}
	if q.noisy.n > 0 {
		return q.noisy.pop(), true
	}
	return 0, false
}

func (q *Queue[M]) isNoisy(group int32) bool {
	n := q.groups[group]
	return n >= noisyLeast && n*noisyShare > q.inFlight
}

func (q *Queue[M]) limit() int {
	if q.Limit > 0 {
		return q.Limit
	}
	return Limit
}

// Message is what was received, for reading and for notes of the caller's own.
func (q *Queue[M]) Message(h Handle) *M { return &q.slots[h.slot].message }

// Receives is how often the message was received, this receive included.
func (q *Queue[M]) Receives(h Handle) int { return int(q.slots[h.slot].receives) }

// Delete removes the message for good. A receive that is over deletes nothing here: SQS would
// delete the message where nobody else has received it since, which only helps.
func (q *Queue[M]) Delete(h Handle) bool {
	s := &q.slots[h.slot]
	if s.turn != h.turn {
		return false
	}
	s.turn++
	q.land(h.slot)
	q.release(h.slot)
	return true
}

func (q *Queue[M]) release(n int32) {
	q.stored--
	q.free = append(q.free, n)
}

// ChangeVisibility makes the message visible again after wait; false where the receive is over,
// or where the whole time in flight would be too long.
func (q *Queue[M]) ChangeVisibility(h Handle, now, wait time.Duration) bool {
	s := &q.slots[h.slot]
	if s.turn != h.turn || now+wait > s.received+longest {
		return false
	}
	s.turn++
	if wait <= 0 {
		q.land(h.slot)
		q.visible.push(h.slot)
		return true
	}
	q.timers.Push(now+wait, timer{now + wait, h.slot, s.turn})
	return true
}

// Ready reports whether a receive would return something.
func (q *Queue[M]) Ready() bool { return q.visible.n+q.noisy.n > 0 && q.inFlight < q.limit() }

// Visible is how many messages could be received.
func (q *Queue[M]) Visible() int { return q.visible.n + q.noisy.n }

// InFlight is how many messages were received and neither deleted nor visible again.
func (q *Queue[M]) InFlight() int { return q.inFlight }

// Stored is how many messages are in the queue in whatever state.
func (q *Queue[M]) Stored() int { return q.stored }
