package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/infra/internal/awsmodel"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/handler/deliver"
	"github.com/herald-webhooks/herald/internal/handler/release"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// bubble plays a script to the real handlers deliver and release, under the fake clock of
// testing/synctest: the same queues as the simulation's, the same number of processes, and tables in
// memory whose calls take no time.
type bubble struct {
	scenario *scenario
	began    time.Time

	mu      sync.Mutex
	first   *line
	retries *line
	health  map[string]health.Item
	notes   map[health.Note]bool
	backlog *awsmodel.Backlog
	release *release.Handler
	ids     map[string]int // of deliveries
	stirred chan struct{}  // something may be received
	working sync.WaitGroup

	inFlight, held, dead, acknowledged int
}

// line is a queue with its event source mapping.
type line struct {
	*bubble
	name    health.Queue
	queue   *awsmodel.Queue[*envelope]
	idle    []*worker
	receipt map[string]awsmodel.Handle
	sent    int
}

type envelope struct {
	id     string
	out    queue.Outgoing
	sentAt time.Time
}

// worker is one process of deliver.
type worker struct {
	*bubble
	deliver *deliver.Handler
	seen    map[string]health.Item // stored when its batch was received
	notes   []health.Note          // likewise
	posted  atomic.Bool            // an attempt was made, which ends a little later
}

func newBubble(s *scenario) *bubble {
	b := &bubble{
		scenario: s, began: time.Now(), health: map[string]health.Item{}, notes: map[health.Note]bool{},
		backlog: awsmodel.NewBacklog(), ids: map[string]int{}, stirred: make(chan struct{}, 1),
	}
	b.first, b.retries = b.newLine(health.DeliveryQueue, 50), b.newLine(health.RetryQueue, redriveNet)
	log := slog.New(slog.DiscardHandler)
	b.release = &release.Handler{
		Due: b, Shards: b, Changes: b, Health: b, Endpoints: &worker{bubble: b}, States: b,
		RetryQueue: b.retries, DeadLetterQueue: grave{b}, Thresholds: health.Default(), Log: log,
		Metrics: metricsOf("release"), Now: time.Now, Random: func() float64 { return s.script.jitter },
	}
	return b
}

func metricsOf(function string) *telemetry.Metrics {
	return telemetry.NewMetrics(io.Discard, "test", function, time.Now)
}

func (b *bubble) newLine(name health.Queue, redrive int) *line {
	l := &line{bubble: b, name: name, receipt: map[string]awsmodel.Handle{}, queue: &awsmodel.Queue[*envelope]{
		Visibility: visibilityTimeout, MaxReceives: redrive, Moved: func(*envelope) { b.dead++ },
	}}
	for n := range concurrency {
		l.idle = append(l.idle, b.newWorker(fmt.Sprintf("%s-%02d", name, n)))
	}
	return l
}

func (b *bubble) newWorker(name string) *worker {
	w := &worker{bubble: b}
	w.deliver = &deliver.Handler{
		Endpoints: w, Secrets: w, States: b, Health: b, Backlog: b,
		RetryQueue: sendsTo{b}, DeadLetterQueue: grave{b}, Visibility: b,
		RetryQueueARN: string(health.RetryQueue),
		Attempts:      delivery.Sender{Client: w, UserAgent: "Herald/test", Now: time.Now},
		Schedule:      b.scenario.schedule(), Thresholds: health.Default(), PerEndpoint: 10,
		Log: slog.New(slog.DiscardHandler), Metrics: metricsOf("deliver"), Now: time.Now,
		Random: func() float64 { return b.scenario.script.jitter },
		Slow: &deliver.SlowLane{
			Notes: w, Suspect: noteAfter, Timeout: attemptTimeout,
			Settings: health.SlowSettings{
				Self: name, Limit: health.SlowLimit(concurrency), Wait: time.Minute, Longest: time.Hour,
				Apart: attemptTimeout * 2 / 3,
			},
		},
	}
	return w
}

func (b *bubble) now() time.Duration { return time.Since(b.began) }

func (b *bubble) refused() error {
	if b.scenario.tablesRefuse(b.now()) {
		return errRefusedHere
	}
	return nil
}

var errRefusedHere = errors.New("ThrottlingException")

// run goes on until the end of the scenario, and waits for whoever is still at work.
func (b *bubble) run() {
	tick := health.Default().Tick
	published, ticked := 0, tick
	for b.now() < b.scenario.length {
		next := min(ticked, b.scenario.length)
		if arrivals := b.scenario.script.arrivals; published < len(arrivals) {
			next = min(next, arrivals[published].at)
		}
		select {
		case <-b.stirred:
		case <-time.After(b.awake(next) - b.now()):
		}
		if now := b.now(); now >= ticked && now < b.scenario.length {
			ticked += tick
			if !b.scenario.releaseDead(now) {
				b.working.Go(b.tick)
			}
		}
		for arrivals := b.scenario.script.arrivals; published < len(arrivals) && arrivals[published].at <= b.now(); {
			b.publish(published, arrivals[published].endpoint)
			published++
		}
		b.dispatch()
	}
	b.working.Wait()
}

// awake is when a queue makes something visible, if that is before next.
func (b *bubble) awake(next time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range []*line{b.first, b.retries} {
		if at, any := l.queue.Next(); any {
			next = min(next, at)
		}
	}
	return next
}

func (b *bubble) stir() {
	select {
	case b.stirred <- struct{}{}:
	default:
	}
}

func (b *bubble) tick() {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	if err := b.release.Tick(ctx); err != nil && !errors.Is(err, release.ErrBlind) {
		panic(err)
	}
}

func (b *bubble) publish(n int, endpoint int32) {
	now := time.Now()
	m := delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: fmt.Sprintf("msg_%06d", n), TenantID: "t", EndpointID: nameOf(endpoint), EventID: "e", CreatedAt: now,
		},
		Body: []byte(`{"type":"user.deleted","data":{}}`),
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids[m.DeliveryID] = n
	b.first.add(queue.Of(m, 0))
}

func nameOf(endpoint int32) string { return fmt.Sprintf("webhook_%03d", endpoint) }

func (l *line) add(o queue.Outgoing) {
	l.sent++
	e := &envelope{id: fmt.Sprint(l.name, l.sent), out: o, sentAt: time.Now()}
	l.queue.Send(e, 0, l.now(), awsmodel.Whole(o.Delay))
	l.stir()
}

// dispatch hands what is visible to idle processes, as the simulation does.
func (b *bubble) dispatch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range []*line{b.first, b.retries} {
		l.queue.Advance(b.now())
		for len(l.idle) > 0 && l.queue.Ready() {
			handles := l.queue.Receive(b.now(), nil)
			if len(handles) == 0 {
				break
			}
			last := len(l.idle) - 1
			w := l.idle[last]
			l.idle = l.idle[:last]
			b.inFlight = max(b.inFlight, b.retries.queue.InFlight())
			records := make([]events.SQSMessage, len(handles))
			for n, h := range handles {
				e := *l.queue.Message(h)
				r := awsmodel.Received(e.out, string(l.name), e.sentAt, l.queue.Receives(h))
				r.MessageId, r.ReceiptHandle = e.id, e.id
				l.receipt[e.id] = h
				records[n] = r
			}
			w.seen, w.notes = maps.Clone(b.health), slices.Collect(maps.Keys(b.notes))
			b.working.Go(func() { l.batch(w, records) })
		}
	}
}

// batch is one invocation. What is not answered for is deleted.
func (l *line) batch(w *worker, records []events.SQSMessage) {
	time.Sleep(before)
	ctx, cancel := context.WithTimeout(context.Background(), functionTimeout)
	defer cancel()
	w.posted.Store(false)
	failed := w.deliver.Process(ctx, records)
	if !w.posted.Load() {
		time.Sleep(after)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range records {
		if !slices.Contains(failed, r.MessageId) {
			l.queue.Delete(l.receipt[r.MessageId])
		}
	}
	l.idle = append(l.idle, w)
	l.stir()
}
