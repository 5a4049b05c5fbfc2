package invariants

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/awsmodel"
	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
)

const (
	tenant     = "acme"
	visibility = 180 * time.Second // of every queue, as in the template
	timeout    = 30 * time.Second  // of deliver and deadletter
	tickTime   = 50 * time.Second  // of release
	hangs      = 15 * time.Second  // how long an attempt waits for an answer
)

var schedule = retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9}

// life tells deliveries apart: a replay is one of its own.
type life struct {
	id     string
	replay int
}

// world is AWS, the receivers, and the truth about every delivery.
type world struct {
	mu         sync.Mutex
	settings   health.Settings
	deliveries *sqs
	retries    *sqs
	dead       *sqs
	endpoints  map[string]endpoint.Endpoint
	health     map[string]health.Item      // by endpoint, or "tenant " and its id
	unheard    map[string][]unheard        // likewise, oldest first
	behind     time.Duration               // of reads that are not strongly consistent
	notes      map[health.Note]health.Note // by key
	backlog    *awsmodel.Backlog
	states     map[string]delivery.Record
	sealed     map[life]time.Time // when
	truth      map[life]*truth
	receivers  map[string]receiver
	posts      []post
	unique     int
	began      time.Time
	ticked     time.Time // when release ran last
	late       []time.Time

	rules   sync.Mutex          // of the two below
	judge   func(*call) verdict // nil: every call is done at once
	refuses func(service string) bool
	broken  []string // what must not be, in words
	history []string // what was done, for whoever reads a failure
}

// truth is what really is with a delivery.
type truth struct {
	endpointID string
	started    time.Time
	acked      bool // its receiver answered 2xx
	unwanted   bool // its endpoint was deleted, or an operator discarded it
	posts      []time.Time
}

type post struct {
	endpointID string
	delivery   string
	at         time.Time
	status     int
}

// receiver answers with a status; 0 never answers.
type receiver func(deliveryID string) int

func answers(status int) receiver { return func(string) int { return status } }

func newWorld() *world {
	now := time.Now()
	w := &world{
		settings: health.Default(), endpoints: map[string]endpoint.Endpoint{}, health: map[string]health.Item{},
		unheard: map[string][]unheard{},
		notes:   map[health.Note]health.Note{}, backlog: awsmodel.NewBacklog(),
		states: map[string]delivery.Record{}, sealed: map[life]time.Time{}, truth: map[life]*truth{},
		receivers: map[string]receiver{}, began: now, ticked: now,
	}
	w.dead = &sqs{name: "DeadLetterQueue"}
	w.deliveries = &sqs{name: "DeliveryQueue", redrive: w.dead, most: 50}
	w.retries = &sqs{name: "RetryQueue", redrive: w.dead, most: 100}
	return w
}

// own makes an active endpoint whose receiver answers with the status.
func (w *world) own(id string, status int) {
	w.endpoints[id] = endpoint.Endpoint{
		ID: id, TenantID: tenant, URL: "https://receiver.example/" + id, Status: endpoint.Active,
		CreatedAt: w.began.Add(-time.Hour), UpdatedAt: w.began.Add(-time.Hour), SecretVersion: 1,
	}
	w.receivers[id] = answers(status)
}

func (w *world) note(format string, args ...any) {
	w.history = append(w.history, fmt.Sprintf("%8.1fs ", time.Since(w.began).Seconds())+fmt.Sprintf(format, args...))
}

func (w *world) breaks(format string, args ...any) {
	if len(w.broken) < 5 {
		w.broken = append(w.broken, fmt.Sprintf("%8.1fs ", time.Since(w.began).Seconds())+fmt.Sprintf(format, args...))
	}
}

// publish puts a new delivery on DeliveryQueue, as fanout does.
func (w *world) publish(endpointID string) delivery.Ref {
	m := w.message(endpointID)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deliveries.send(queue.Of(m, 0))
	return m.Ref
}

func (w *world) message(endpointID string) delivery.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.following()
	w.unique++
	now := time.Now().UTC().Truncate(time.Millisecond)
	m := delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: id, TenantID: tenant, EndpointID: endpointID, EventID: "e", CreatedAt: now,
		},
		Body: []byte(`{"type":"user.deleted","data":{}}`),
	}
	w.truth[life{m.DeliveryID, 0}] = &truth{
		endpointID: endpointID, started: now, unwanted: w.endpoints[endpointID].Status == endpoint.Deleted,
	}
	return m
}

// following is the id of the next delivery.
func (w *world) following() string { return fmt.Sprintf("msg_%03d", w.unique+1) }

// retried puts a delivery on RetryQueue that has used so many places.
func (w *world) retried(endpointID string, used int, change func(*delivery.Life)) delivery.Ref {
	m := w.message(endpointID)
	m.Attempts, m.Life = used, w.lived(change)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.retries.send(queue.ToRetryQueue(m, 0))
	return m.Ref
}

func (w *world) lived(change func(*delivery.Life)) delivery.Life {
	now := time.Now().UTC().Truncate(time.Millisecond)
	l := delivery.Life{StartedAt: now, DiesAt: now.Add(31 * time.Hour), OwnDue: now}
	if change != nil {
		change(&l)
	}
	return l
}

// parked puts a delivery into Backlog, due or held.
func (w *world) parked(endpointID string, due time.Duration, held bool, change func(*delivery.Life)) backlog.Item {
	m := w.message(endpointID)
	l := w.lived(change)
	next := delivery.Next{Attempts: 3, Due: time.Now().Add(due), Held: held, Life: l}
	if held {
		next.Due = l.DiesAt
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	i := backlog.New(m, next, time.Now(), w.random())
	w.truth[life{m.DeliveryID, 0}].started = l.StartedAt
	w.backlog.Put(i, time.Now())
	return i
}

func (w *world) random() string {
	w.unique++
	return fmt.Sprintf("%08d", w.unique)
}

// store is a conditional write of health, as the table does it.
func (w *world) store(write health.Write) (health.Item, bool) {
	name := write.Item.EndpointID
	if name == "" {
		name = "tenant " + write.Item.TenantID
	}
	before := w.health[name]
	stored, applied := write.Apply(before)
	if applied {
		w.note("%s is %s (held %v, paused %v)", name, nameOf(stored.State), stored.Held, stored.Paused)
		w.changes(name, before)
		if w.health[name] = stored; stored.Version == 0 {
			delete(w.health, name)
		}
	}
	if stored.Version == 0 {
		stored = health.Item{TenantID: write.Item.TenantID, EndpointID: write.Item.EndpointID}
	}
	return stored, applied
}

func nameOf(s health.State) string {
	if s == health.None {
		return "none"
	}
	return string(s)
}

// check looks for deliveries that are nowhere. It runs after every effect.
func (w *world) check() {
	var here map[life]bool
	for l, t := range w.truth {
		if t.acked || t.unwanted || !w.sealed[l].IsZero() {
			continue
		}
		if here == nil {
			here = w.here()
		}
		if !here[l] {
			w.breaks("%s to %s is nowhere", l.id, t.endpointID)
			t.unwanted = true // said once
		}
	}
}

// here is what lies on queues and in Backlog.
func (w *world) here() map[life]bool {
	here := map[life]bool{}
	for _, q := range []*sqs{w.deliveries, w.retries, w.dead} {
		for _, m := range q.messages {
			here[lifeOf(m.out)] = true
		}
	}
	for _, i := range w.backlog.Items {
		here[life{i.Message.DeliveryID, i.Message.Replay}] = true
	}
	return here
}

func lifeOf(o queue.Outgoing) life {
	replay, _ := strconv.Atoi(*o.Attributes["replay"].StringValue)
	return life{*o.Attributes["delivery_id"].StringValue, replay}
}

// idle reports whether nothing is left to do.
func (w *world) idle() bool {
	return len(w.deliveries.messages)+len(w.retries.messages)+len(w.dead.messages)+len(w.backlog.Items) == 0
}

// held is how many items wait for their endpoint.
func (w *world) held() int {
	n := 0
	for _, i := range w.backlog.Items {
		if i.Held {
			n++
		}
	}
	return n
}

// state is what the world is like, as far as the future depends on it, times apart.
func (w *world) state() string {
	var b strings.Builder
	for _, q := range []*sqs{w.deliveries, w.retries, w.dead} {
		visible := 0
		for _, m := range q.messages {
			if !m.visible.After(time.Now()) {
				visible++
			}
		}
		fmt.Fprint(&b, min(len(q.messages), 4), min(visible, 2), " ")
	}
	for _, id := range sorted(w.endpoints) {
		i, held, due := w.health[id], 0, 0
		for _, item := range w.backlog.Items {
			switch {
			case item.EndpointID != id:
			case item.Held:
				held++
			default:
				due++
			}
		}
		fmt.Fprint(&b, id, w.endpoints[id].Status, nameOf(i.State), i.Paused, i.Held, min(i.Failures, 6), min(i.Probes, 2),
			i.Ticks > 0, !i.DiscardedBefore.IsZero(), min(held, 3), min(due, 3), w.receivers[id]("x"), " ")
	}
	fmt.Fprint(&b, w.health["tenant "+tenant].Paused)
	return b.String()
}

func sorted[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (w *world) judgeBy(judge func(*call) verdict) {
	w.rules.Lock()
	defer w.rules.Unlock()
	w.judge = judge
}

func (w *world) refuseBy(refuses func(service string) bool) {
	w.rules.Lock()
	defer w.rules.Unlock()
	w.refuses = refuses
}

// verdictOn is what becomes of a call.
func (w *world) verdictOn(c *call) verdict {
	w.rules.Lock()
	judge := w.judge
	w.rules.Unlock()
	if judge == nil {
		return done
	}
	return judge(c)
}

// throttled reports whether the service does not take its calls now.
func (w *world) throttled(service string) bool {
	w.rules.Lock()
	refuses := w.refuses
	w.rules.Unlock()
	return refuses != nil && refuses(service)
}
