package awsmodel

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
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
	visible  []entry // in the order of receives
	hidden   []entry // by time; likewise where times are equal
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
	turn     uint32        // raised whenever the state changes: entries from before are void
	receives int
	flying   bool
}

// entry is a message that is visible from then on, unless it has changed meanwhile.
type entry struct {
	at   time.Duration
	slot int32
	turn uint32
}

func (q *Queue) valid(e entry) bool { return q.slots[e.slot].turn == e.turn }

func (q *Queue) now() time.Duration { return q.model.Elapsed() }

// Send stores a message, as SQS would take it.
func (q *Queue) Send(o queue.Outgoing) {
	delay := whole(o.Delay)
	if delay > maxSQSDelay || len(o.Attributes) > maxSQSAttributes {
		panic(fmt.Sprintf("SQS takes no delay of %s, nor %d attributes", delay, len(o.Attributes)))
	}
	m := events.SQSMessage{
		Body: o.Body, EventSourceARN: q.Name, MessageAttributes: sqsevent.Attributes(o.Attributes),
	}
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
	q.slots[n] = slot{message: m, id: q.Sent, sentAt: sentAt, turn: q.slots[n].turn}
	q.hide(n, q.now()+delay)
}

// hide makes a message visible at a time, which may be now.
func (q *Queue) hide(n int32, at time.Duration) {
	s := &q.slots[n]
	s.turn++
	s.visible = at
	e := entry{at, n, s.turn}
	if at <= q.now() {
		q.show(e)
		return
	}
	behind, _ := slices.BinarySearchFunc(q.hidden, at, func(other entry, at time.Duration) int {
		return cmp.Or(cmp.Compare(other.at, at), -1)
	})
	q.hidden = slices.Insert(q.hidden, behind, e)
	q.arm()
}

func (q *Queue) show(e entry) {
	q.land(e.slot)
	q.visible = append(q.visible, e)
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
	for len(q.hidden) > 0 && !q.valid(q.hidden[0]) {
		q.hidden = q.hidden[1:]
	}
	if len(q.hidden) == 0 {
		return 0, false
	}
	return q.hidden[0].at, true
}

// advance shows messages that are visible by now.
func (q *Queue) advance() {
	for {
		at, found := q.next()
		if !found || at > q.now() {
			return
		}
		first := q.hidden[0]
		q.hidden = q.hidden[1:]
		q.show(first)
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
		if q.valid(e) {
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
