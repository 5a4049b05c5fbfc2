package awsmodel

import (
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/queue"
)

// Queue is one standard queue. Its exported fields are set before it is used; Model.Mu guards it.
type Queue struct {
	Name        string
	Limit       int    // messages in flight; 0: 120,000
	MaxReceives int    // beyond which a message is moved to Redrive; 0: never
	Redrive     *Queue // nil: none

	Sent         int // messages, ever
	PeakInFlight int

	model    *Model
	slots    []slot
	free     []int32
	visible  []entry
	timeouts []timer // of receives: all equally long, so in order
	timers   timers  // of delays and changed visibility
	inFlight int
	stored   int
	mapping  *Mapping
	alarm    *time.Timer // of a mapped queue: when something becomes visible next
	armed    time.Duration
}

// slot is one message.
type slot struct {
	message  events.SQSMessage // without ids and receives
	id       int               // 0: the slot is free
	sentAt   time.Time
	visible  time.Duration // when it becomes visible, or did
	received time.Duration
	turn     uint32 // raised whenever the state changes: timers and entries from before are void
	receives int
	flying   bool
}

type entry struct {
	slot int32
	turn uint32
}

func (q *Queue) now() time.Duration { return q.model.Elapsed() }

// Send stores a message, as SQS would take it.
func (q *Queue) Send(o queue.Outgoing) {
	delay := whole(o.Delay)
	if delay > maxSQSDelay || len(o.Attributes) > maxSQSAttributes {
		panic(fmt.Sprintf("SQS takes no delay of %s, nor %d attributes", delay, len(o.Attributes)))
	}
	m := messageOf(o, q.Name)
	if q.model.Sent != nil {
		q.model.Sent(q, m)
	}
	q.put(m, time.Now(), delay)
}

func (q *Queue) put(m events.SQSMessage, sentAt time.Time, delay time.Duration) {
	var n int32
	if last := len(q.free) - 1; last >= 0 {
		n, q.free = q.free[last], q.free[:last]
	} else {
		q.slots = append(q.slots, slot{})
		n = int32(len(q.slots) - 1) //nolint:gosec // memory ends long before
	}
	q.Sent++
	q.stored++
	s := &q.slots[n]
	*s = slot{message: m, id: q.Sent, sentAt: sentAt, turn: s.turn + 1, visible: q.now() + delay}
	if delay <= 0 {
		q.show(n)
		return
	}
	q.timers.push(timer{at: s.visible, slot: n, turn: s.turn})
	q.arm()
}

// show makes a message visible.
func (q *Queue) show(n int32) {
	q.land(n)
	s := &q.slots[n]
	s.turn++
	q.visible = append(q.visible, entry{n, s.turn})
	q.mapping.dispatch()
}

func (q *Queue) land(n int32) {
	if s := &q.slots[n]; s.flying {
		s.flying = false
		q.inFlight--
	}
}

// next is when something becomes visible next; false where nothing will.
func (q *Queue) next() (at time.Duration, found bool) {
	void := func(t timer) bool { return q.slots[t.slot].turn != t.turn }
	for len(q.timeouts) > 0 && void(q.timeouts[0]) {
		q.timeouts = q.timeouts[1:]
	}
	for !q.timers.empty() && void(q.timers.entries[0]) {
		q.timers.pop()
	}
	if len(q.timeouts) > 0 {
		at, found = q.timeouts[0].at, true
	}
	if !q.timers.empty() && (!found || q.timers.entries[0].at < at) {
		at, found = q.timers.entries[0].at, true
	}
	return at, found
}

// advance shows messages that are visible by now.
func (q *Queue) advance() {
	now := q.now()
	for {
		at, found := q.next()
		switch {
		case !found || at > now:
			return
		case len(q.timeouts) > 0 && q.timeouts[0].at == at:
			first := q.timeouts[0]
			q.timeouts = q.timeouts[1:]
			q.show(first.slot)
		default:
			q.show(q.timers.pop().slot)
		}
	}
}

// Next is when a message can be received next; zero: no message is there.
func (q *Queue) Next() time.Time {
	q.advance()
	if q.Visible() > 0 {
		return time.Now()
	}
	if at, found := q.next(); found {
		return q.model.began.Add(at)
	}
	return time.Time{}
}

// Duplicate makes another copy of a message, visible at once, as standard queues may. It reports
// whether there is any.
func (q *Queue) Duplicate() bool {
	for n := range q.slots {
		if s := q.slots[n]; s.id != 0 {
			q.put(s.message, s.sentAt, 0)
			return true
		}
	}
	return false
}

// Visible is the number of messages that could be received, including any beyond the redrive policy.
func (q *Queue) Visible() int {
	visible := 0
	for _, e := range q.visible {
		if q.slots[e.slot].turn == e.turn {
			visible++
		}
	}
	return visible
}

// Stored is the number of all messages.
func (q *Queue) Stored() int { return q.stored }

// Each calls visit with every message, the time until it is visible, and its receives.
func (q *Queue) Each(visit func(r events.SQSMessage, wait time.Duration, receives int)) {
	for n := range q.slots {
		if s := &q.slots[n]; s.id != 0 {
			visit(s.message, max(s.visible-q.now(), 0), s.receives)
		}
	}
}

// whole is a delay as SQS takes it: whole seconds, never early.
func whole(d time.Duration) time.Duration {
	return (max(d, 0) + time.Second - 1).Truncate(time.Second)
}
