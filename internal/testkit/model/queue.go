package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// Queue is one standard queue. Its exported fields are set before it is used; Model.Mu guards it.
type Queue struct {
	Name        string
	Limit       int    // messages in flight
	MaxReceives int    // beyond which a message is moved to Redrive; 0: never
	Redrive     *Queue // nil: none

	Sent         int // messages, ever
	PeakInFlight int

	model    *Model
	stored   map[int]*message // by id
	visible  lines
	hidden   []entry // by time; likewise where times are equal
	inFlight int
	mapping  *Mapping
	alarm    *time.Timer // of a mapped queue: when something becomes visible next
	armed    time.Duration
}

type message struct {
	events.SQSMessage // without ids and receives

	id       int
	group    string // MessageGroupId
	sentAt   time.Time
	visible  time.Duration // when it becomes visible, or did
	turn     int           // raised whenever the state changes: entries from before are void
	receives int
	flying   bool
}

// entry is a message that becomes visible at a time, unless it changes before.
type entry struct {
	*message

	at   time.Duration
	turn int
}

func (e entry) valid() bool { return e.message.turn == e.turn }

func (q *Queue) now() time.Duration { return q.model.Elapsed() }

// Send stores a message, as SQS would take it.
func (q *Queue) Send(o queue.Outgoing) {
	delay := whole(o.Delay)
	if delay > maxSQSDelay || len(o.Attributes) > maxSQSAttributes {
		panic(fmt.Sprintf("SQS takes no delay of %s, nor %d attributes", delay, len(o.Attributes)))
	}
	m := events.SQSMessage{
		Body: o.Body, EventSourceARN: q.Name, MessageAttributes: sqsevent.Attributes(o.Attributes),
		Attributes: sqsevent.Traced(o.Trace),
	}
	q.model.Sent(q, m)
	q.put(&message{SQSMessage: m, group: o.Group, sentAt: time.Now()}, delay)
}

// put stores a message under the next id.
func (q *Queue) put(m *message, delay time.Duration) {
	q.Sent++
	m.id = q.Sent
	q.stored[m.id] = m
	q.hide(m, q.now()+delay)
}

// hide makes a message visible at a time, which may be now.
func (q *Queue) hide(m *message, at time.Duration) {
	m.turn++
	m.visible = at
	e := entry{m, at, m.turn}
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
	q.land(e.message)
	q.visible.push(e)
	q.mapping.dispatch()
}

func (q *Queue) land(m *message) {
	if m.flying {
		m.flying = false
		q.inFlight--
		q.visible.landed(m)
	}
}

// next is when something becomes visible next; false where nothing will.
func (q *Queue) next() (at time.Duration, found bool) {
	for len(q.hidden) > 0 && !q.hidden[0].valid() {
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

// Duplicate makes another copy of the oldest message, visible at once, as standard queues may. It reports whether
// there is any.
func (q *Queue) Duplicate() bool {
	if len(q.stored) == 0 {
		return false
	}
	oldest := q.stored[slices.Min(slices.Collect(maps.Keys(q.stored)))]
	q.put(&message{SQSMessage: oldest.SQSMessage, group: oldest.group, sentAt: oldest.sentAt}, 0)
	return true
}

// Visible is the number of messages that could be received, including any beyond the redrive policy.
func (q *Queue) Visible() int { return q.visible.visible() }

// Stored is the number of all messages.
func (q *Queue) Stored() int { return len(q.stored) }

// Each calls visit with every message, the time until it is visible, and its receives.
func (q *Queue) Each(visit func(r events.SQSMessage, wait time.Duration, receives int)) {
	for _, m := range q.stored {
		visit(m.SQSMessage, max(m.visible-q.now(), 0), m.receives)
	}
}

// whole is a delay as SQS takes it: whole seconds, never early.
func whole(d time.Duration) time.Duration {
	return (max(d, 0) + time.Second - 1).Truncate(time.Second)
}
