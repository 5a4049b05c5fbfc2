package model

import (
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// Mapping is an event source mapping: it receives whenever one of its processes is free.
type Mapping struct {
	Invocations int
	Busy        time.Duration // of all processes together

	queue       *Queue
	free        []Worker
	dispatching bool
	disabled    bool
}

// Worker is a process that a mapping invokes with messages of its queue.
type Worker interface {
	Batch(from *Queue, records []events.SQSMessage)
}

// The time from a receive to the handler, and from its answer to the end of the invocation.
const (
	beforeHandler = 10 * time.Millisecond
	afterHandler  = 10 * time.Millisecond
)

// Map gives a queue a mapping with these processes.
func (m *Model) Map(q *Queue, processes []Worker) *Mapping {
	mapping := &Mapping{queue: q, free: processes}
	m.Mu.Lock()
	defer m.Mu.Unlock()
	q.mapping = mapping
	mapping.dispatch()
	return mapping
}

// dispatch invokes processes for as long as there is something to receive.
func (m *Mapping) dispatch() {
	if m == nil || m.dispatching || m.disabled || m.queue.model.stopped {
		return
	}
	m.dispatching = true
	defer func() { m.dispatching = false }()
	for len(m.free) > 0 {
		records := m.queue.Receive()
		if len(records) == 0 {
			return
		}
		last := len(m.free) - 1
		p := m.free[last]
		m.free = m.free[:last]
		go m.run(p, records)
	}
}

// Disable lets the mapping receive nothing until Enable. Both are called under Mu.
func (m *Mapping) Disable() { m.disabled = true }

// Enable ends Disable.
func (m *Mapping) Enable() {
	m.disabled = false
	m.dispatch()
}

func (m *Mapping) run(p Worker, records []events.SQSMessage) {
	began := time.Now()
	time.Sleep(beforeHandler)
	p.Batch(m.queue, records)
	time.Sleep(afterHandler)
	m.queue.model.Mu.Lock()
	defer m.queue.model.Mu.Unlock()
	m.Invocations++
	m.Busy += time.Since(began)
	m.free = append(m.free, p)
	m.dispatch()
}

// arm wakes the mapping when the next message becomes visible.
func (q *Queue) arm() {
	if q.mapping == nil || q.model.stopped {
		return
	}
	at, found := q.next()
	if !found || q.alarm != nil && q.armed > q.now() && q.armed <= at {
		return
	}
	q.armed = at
	d := max(at-q.now(), 0)
	if q.alarm == nil {
		q.alarm = time.AfterFunc(d, func() {
			q.model.Mu.Lock()
			defer q.model.Mu.Unlock()
			q.armed = 0
			q.advance()
			q.mapping.dispatch()
			q.arm()
		})
		return
	}
	q.alarm.Reset(d)
}
