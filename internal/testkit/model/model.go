// Package model is the part of AWS that Herald uses, in memory: standard queues of SQS, the tables as Herald's stores
// show them, and Lambda's event source mappings. Tests of handlers stand on it, and so do the simulation and the tests
// of the invariants, in fake time (testing/synctest).
//
// It promises the documented behaviour of AWS that can do harm: delays and visibility timeouts in whole seconds,
// receive counts, redrive, the limit of messages in flight, at-least-once delivery, eventually consistent reads and
// indexes, conditional writes, and the end of a process at its function's timeout. Every call can be refused, done in
// part, lost, late, made twice, stalled or cut short by a crash. It leaves out details that would add nothing but
// noise: receives from some of the servers only, and SQS's retention. It imports no handler.
//
// Its mappings invoke the functions in this process, in fake time: it is the judge of how long deliveries wait.
// infra/local/internal/mapping invokes programs. It is the judge of what Lambda does with batches, windows and answers.
package model

import (
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/token"
)

// The settings of the template.
const (
	Visibility       = 180 * time.Second // of every queue
	DeliverTimeout   = 30 * time.Second  // of deliver and of deadletter
	ReleaseTimeout   = 50 * time.Second
	firstReceives    = 50  // from DeliveryQueue, before SQS moves a message to DeadLetterQueue
	retryReceives    = 100 // from RetryQueue and SlowQueue
	maxSQSDelay      = 900 * time.Second
	maxSQSVisibility = 12 * time.Hour
	maxSQSAttributes = 10
	mostInFlight     = 120_000
	maxReceive       = 10
	Lateness         = 45 * time.Second // of effects after the caller has given up
)

// Life tells deliveries apart. A delivery with another replay is another delivery, and is nowhere.
type Life struct {
	ID     string
	Replay int
}

// Model is one account with Herald's queues and tables. Mu guards every field below it, the queues' and Backlog's
// included.
type Model struct {
	DeliveryQueue, RetryQueue, SlowQueue, DeadLetterQueue *Queue

	Mu        sync.Mutex
	Endpoints map[string]endpoint.Endpoint          // by id
	Stops     map[string]endpoint.Marks             // by tenant
	Left      map[dynamo.EndpointKey]endpoint.Marks // that have outlasted their endpoints
	Circuits  map[string]circuit.Item               // by endpoint
	Slow      map[string]time.Time                  // slow_until by tenant
	Rates     map[RateKey]time.Time                 // until which all slots are taken
	Tokens    map[string]token.Kept                 // by endpoint

	TokenServer TokenServer
	Backlog     *Backlog
	States      map[string]delivery.Record // nil: no record is kept
	Deaths      map[Life]time.Time         // sealed
	Letters     map[string]deadletter.Record
	Jobs        map[string]JobRow
	Keys        map[string]apikey.Key
	Audited     []audit.Line
	Behind      time.Duration // of reads that are not strongly consistent
	Used        Usage

	// These are set before anything happens, and do nothing unless they are. All but Judge and Lateness are called under
	// Mu.
	Post     Receiver                                                 // has to be set
	Judge    func(*Call) Verdict                                      // of every call; nil: each is done at once
	Lateness func(*Call) time.Duration                                // of Late and Twice; unset: Lateness
	Made     func(name, key string)                                   // with every call that took effect
	Note     func(format string, args ...any)                         // takes the history
	Check    func()                                                   // after acts that may lose a delivery
	Sent     func(*Queue, events.SQSMessage)                          // with every message that is sent
	Turns    func(was, next circuit.Item)                             // with every change of a circuit's state
	Puts     func(backlog.Item)                                       // with every item that is put into Backlog
	Received func(q *Queue, m events.SQSMessage, since time.Duration) // since it was visible

	meddle    func(call string, after bool) // before and after each effect: tests break stores with it
	began     time.Time
	processes int
	stopped   bool
	unheard   map[string][]unheard // by endpoint, oldest first
	broken    map[string]bool      // items that cannot be read, by kind and id
	listed    map[string]bool      // endpoints that had a state or a lease, by id
	urls      map[string]int       // changes of URLs that were checked, by tenant
	moved     map[string]bool      // tenants that became slow, by id
	tests     map[countedMinute]int
}

// unheard is an item as late reads see it until then.
type unheard struct {
	item  circuit.Item
	until time.Time
}

// FairQueues lets all queues favour the message groups with the fewest messages in flight. It is called before anything
// is sent.
func (m *Model) FairQueues() {
	for _, q := range m.Queues() {
		q.visible.fair = true
	}
}

// New returns an empty account. It must be called within the bubble.
func New() *Model {
	m := &Model{
		Endpoints: map[string]endpoint.Endpoint{}, Stops: map[string]endpoint.Marks{},
		Left:     map[dynamo.EndpointKey]endpoint.Marks{},
		Circuits: map[string]circuit.Item{}, Slow: map[string]time.Time{}, Rates: map[RateKey]time.Time{},
		Tokens:  map[string]token.Kept{},
		Backlog: NewBacklog(),
		States:  map[string]delivery.Record{}, Deaths: map[Life]time.Time{},
		Letters: map[string]deadletter.Record{}, Jobs: map[string]JobRow{}, Keys: map[string]apikey.Key{},
		Used: Usage{}, began: time.Now(), unheard: map[string][]unheard{}, broken: map[string]bool{},
		listed: map[string]bool{}, moved: map[string]bool{}, urls: map[string]int{},
		tests:  map[countedMinute]int{},
		meddle: func(string, bool) {}, Made: func(string, string) {},
		Note: func(string, ...any) {}, Check: func() {}, Sent: func(*Queue, events.SQSMessage) {},
		Turns: func(_, _ circuit.Item) {}, Puts: func(backlog.Item) {},
		Received: func(*Queue, events.SQSMessage, time.Duration) {},
		Lateness: func(*Call) time.Duration { return Lateness },
	}
	queue := func(name string, receives int) *Queue {
		q := &Queue{Name: name, Limit: mostInFlight, MaxReceives: receives, model: m, stored: map[int]*message{}}
		if receives > 0 {
			q.Redrive = m.DeadLetterQueue
		}
		return q
	}
	m.DeadLetterQueue = queue("DeadLetterQueue", 0)
	m.DeliveryQueue = queue("DeliveryQueue", firstReceives)
	m.RetryQueue = queue("RetryQueue", retryReceives)
	m.SlowQueue = queue("SlowQueue", retryReceives)
	return m
}

// Queues are all four, in a fixed order.
func (m *Model) Queues() []*Queue {
	return []*Queue{m.DeliveryQueue, m.RetryQueue, m.SlowQueue, m.DeadLetterQueue}
}

// Stop lets no mapping receive any more.
func (m *Model) Stop() {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.stopped = true
}

// Elapsed is the time since the account was made.
func (m *Model) Elapsed() time.Duration { return time.Since(m.began) }

// Processes counts the calls of it, so that each process can have a number.
func (m *Model) Processes() int {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.processes++
	return m.processes
}

// setCircuit stores an item; the zero Version removes it.
func (m *Model) setCircuit(id string, next circuit.Item) {
	if m.Behind > 0 {
		m.unheard[id] = append(m.unheard[id], unheard{m.Circuits[id], time.Now().Add(m.Behind)})
	}
	if next.Version == 0 {
		delete(m.Circuits, id)
		delete(m.listed, id)
		return
	}
	m.Circuits[id] = rounded(next)
}

// rounded is an item as the table keeps it: its times in milliseconds.
func rounded(i circuit.Item) circuit.Item {
	inMillis(
		&i.Since, &i.HeldUntil, &i.FailingSince, &i.OutageSince, &i.Last.At, &i.Last.RetryAt, &i.ProbedAt, &i.RecoveredAt,
		&i.Pace.Oldest, &i.Recent.Start, &i.Outage.At, &i.Outage.EndedAt, &i.Pause.At, &i.Pause.EndedAt, &i.Death.At,
	)
	return i
}

// behind is the item as reads see it that are not strongly consistent.
func (m *Model) behind(id string) circuit.Item {
	if m.Behind == 0 {
		return m.Circuits[id]
	}
	m.unheard[id] = slices.DeleteFunc(m.unheard[id], func(u unheard) bool { return !time.Now().Before(u.until) })
	if len(m.unheard[id]) > 0 {
		return m.unheard[id][0].item
	}
	return m.Circuits[id]
}

// Usage counts requests to AWS, by the name of the call.
type Usage map[string]*Asked

// Asked are requests and the items in them.
type Asked struct{ Requests, Items int }

func (u Usage) add(name string, items int) {
	a := u[name]
	if a == nil {
		a = &Asked{}
		u[name] = a
	}
	a.Requests++
	a.Items += items
}
