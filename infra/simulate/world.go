package main

import (
	"math/rand/v2"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/awsmodel"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/retry"
)

// epoch is the simulation's zero: packages of the product are handed real times.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// schedule is the product's default.
var schedule = retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9}

// What the template sets, and what a call to AWS takes.
const (
	concurrency       = 50 // of either mapping
	attemptTimeout    = 15 * time.Second
	functionTimeout   = 30 * time.Second
	visibilityTimeout = 180 * time.Second
	redriveV010       = 10  // receives from RetryQueue under the rules of 0.1.0: MaxRetries + 1
	redriveNet        = 100 // receives from RetryQueue with Backlog: the net under deliver

	before    = 20 * time.Millisecond  // from a receive to the first POST: invocation, reads
	after     = 10 * time.Millisecond  // from the last answer to the next receive: writes
	refusal   = 500 * time.Millisecond // a call that DynamoDB throttles, the SDK's own retries included
	noteAfter = attemptTimeout / 10    // when an attempt that goes on is noted as slow
)

// milli is a time in milliseconds since epoch: millions of waiting deliveries are kept in memory.
type milli uint32

func millis(d time.Duration) milli { // rounded up: never early
	return milli((d + time.Millisecond - 1) / time.Millisecond) //nolint:gosec // 49 days
}

func (m milli) duration() time.Duration { return time.Duration(m) * time.Millisecond }

// time is zero where the milliseconds are: nothing ends at the very start.
func (m milli) time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return epoch.Add(m.duration())
}

func milliOf(t time.Time) milli {
	if t.IsZero() {
		return 0
	}
	return millis(t.Sub(epoch))
}

// message is one delivery on its way. Its id is its number. due and diverted are notes of the
// simulation's own: nothing decides by them.
type message struct {
	probe    int64 // number of the probe it is marked with
	id       uint32
	endpoint int32
	created  milli
	dies     milli
	own      milli
	due      milli // when its next attempt is due; 0: nothing to measure
	attempts uint8
	last     bool
	posted   bool // an attempt was begun
	diverted bool // its first attempt was put off for the sake of others
}

// endpoint is a receiver. One without answer of its own is healthy.
type endpoint struct {
	tenant   int32
	affected bool // the scenario is about it, or about its tenant
	answer   func(w *world) answer
	item     health.Item
	held     int // items of Backlog that wait for it
}

type answer struct {
	ok     bool
	status int
	took   time.Duration
}

// world is one run of one scenario under one set of rules.
type world struct {
	scenario *scenario
	backlogs bool // Backlog, breaker and notes that end; false: the rules of 0.1.0
	settings health.Settings

	now       time.Duration
	random    *rand.Rand
	events    awsmodel.Heap[event]
	arrival   time.Duration
	endpoints []endpoint
	busy      []int32 // endpoints of the largest tenant

	first   *mapping // DeliveryQueue
	retries *mapping // RetryQueue
	notes   notes
	store   store
	trouble []int32 // endpoints with an item, and some that had one
	stats   stats
}

// event is something that happens at a time of its own.
type event struct {
	kind    eventKind
	on      *mapping
	process int
	number  int // of the process's batch
}

type eventKind int

const (
	batchEnds eventKind = iota
	batchSlow
	batchDiverts
	tickDue
)

func newWorld(s *scenario, backlogs bool) *world {
	w := &world{
		scenario: s, backlogs: backlogs, settings: health.Default(),
		random: rand.New(rand.NewPCG(s.seed, 1)), //nolint:gosec // figures that can be repeated
	}
	w.first = w.newMapping(health.DeliveryQueue, 50)
	redrive := redriveV010
	if backlogs {
		redrive = redriveNet
	}
	w.retries = w.newMapping(health.RetryQueue, redrive)
	w.notes.world, w.store.world = w, w
	w.populate()
	w.stats.start(w)
	w.arrival = w.upcoming(0)
	if backlogs {
		w.events.Push(w.settings.Tick, event{kind: tickDue})
	}
	return w
}

// populate makes the tenants: the first is the largest, with as many endpoints as the scenario says.
func (w *world) populate() {
	s := w.scenario
	for range max(s.busy, 1) {
		w.busy = append(w.busy, int32(len(w.endpoints))) //nolint:gosec // thousands
		w.endpoints = append(w.endpoints, endpoint{tenant: 1})
	}
	for n := range s.others {
		w.endpoints = append(w.endpoints, endpoint{tenant: int32(2 + n/2)})
	}
	if s.prepare != nil {
		s.prepare(w)
	}
}

func (w *world) gap() time.Duration {
	return time.Duration(w.random.ExpFloat64() / w.scenario.rate * float64(time.Second))
}

func (w *world) since(d time.Duration) time.Time { return epoch.Add(d) }

func (w *world) time() time.Time { return epoch.Add(w.now) }

// run goes from event to event until the end, and beyond it until nothing waits any more that was
// created before the outage ended.
func (w *world) run() {
	for w.next() {
		w.dispatch(w.first)
		w.dispatch(w.retries)
	}
	w.stats.finish(w)
}

func (w *world) next() bool {
	at, what := w.arrival, 0
	if w.events.Len() > 0 {
		if t, _ := w.events.Next(); t < at {
			at, what = t, 1
		}
	}
	for n, m := range [2]*mapping{w.first, w.retries} {
		if t, any := m.queue.Next(); any && t < at {
			at, what = t, 2+n
		}
	}
	if w.over(at) {
		return false
	}
	w.now = at
	switch what {
	case 0:
		w.arrive()
	case 1:
		_, e := w.events.Pop()
		w.happen(e)
	case 2:
		w.first.queue.Advance(at)
	case 3:
		w.retries.queue.Advance(at)
	}
	return true
}

func (w *world) over(at time.Duration) bool {
	s := w.scenario
	if at < s.length {
		return false
	}
	return s.up == 0 || w.stats.old == 0 || at >= s.length+s.patience
}

func (w *world) arrive() {
	w.arrival = w.upcoming(w.stats.created + 1)
	to := w.receiver()
	m := message{id: uint32(w.stats.created), endpoint: to, created: millis(w.now)} //nolint:gosec // 86 million
	w.stats.arrived(w, m)
	w.first.queue.Send(m, w.group(to), w.now, 0)
}

// group is MessageGroupId.
func (w *world) group(endpoint int32) int32 {
	if w.backlogs {
		return w.endpoints[endpoint].tenant
	}
	return endpoint
}

func (w *world) happen(e event) {
	switch e.kind {
	case tickDue:
		w.events.Push(w.now+w.settings.Tick, event{kind: tickDue})
		if !w.scenario.releaseDead(w.now) {
			w.tick()
		}
	case batchSlow:
		w.noteBatch(e)
	case batchDiverts:
		w.divertBatch(e)
	case batchEnds:
		w.endBatch(e)
	}
}

// forget lets go of what only the run itself needs.
func (w *world) forget() {
	w.store, w.first, w.retries, w.stats.done = store{}, nil, nil, nil
}

// died takes what goes to DeadLetterQueue.
func (w *world) died(m message) { w.stats.died(w, m) }
