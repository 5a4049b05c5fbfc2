package invariants

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/pipeline/deliver"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

const tenant = "acme"

type (
	life    = model.Life
	process = functions.Process
	call    = model.Call
	verdict = model.Verdict
)

var faults = model.Faults()

// world is AWS, the receivers, and the truth about every delivery. Model.Mu guards all but the judge.
type world struct {
	*model.Model
	rules     deliver.Rules
	truth     map[life]*truth
	receivers map[string]receiver
	posts     []post
	unique    int
	began     time.Time
	ran       time.Time // when release ran last
	routes    map[string]bool
	broken    []string // promises that were broken, in words
	history   []string // for the reader of a failure

	judging sync.Mutex
	judge   func(*call) verdict // nil: every call is done at once

	// watch sees every process before its first call; nil: nothing does.
	watch func(*process)
}

// truth is the fate of a delivery.
type truth struct {
	endpointID string
	started    time.Time
	acked      bool // its receiver answered 2xx
	unwanted   bool // its endpoint was deleted or did not select it, or an operator discarded it
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
		Model: model.New(), rules: functions.DefaultRules(200), truth: map[life]*truth{},
		receivers: map[string]receiver{}, began: now, ran: now, routes: map[string]bool{},
	}
	w.Post = w.receive
	w.Judge = w.verdictOn
	w.Note = w.note
	w.Check = w.check
	w.Puts = w.leased
	return w
}

// opensSoon makes few failures open a circuit.
func (w *world) opensSoon() {
	s := &w.rules.Circuit
	s.Failures, s.Deliveries, s.ReopenFailures = 2, 1, 2
	s.Span, s.BusySpan, s.ReopenSpan = 0, 0, 0
}

func (w *world) process(name string) *process {
	w.Mu.Lock()
	w.unique++
	random := rand.New(rand.NewPCG(uint64(w.unique), 1))
	w.Mu.Unlock()
	p := functions.OnModel(w.Model, name, w.rules, random)
	if w.watch != nil {
		w.watch(p)
	}
	return p
}

// receive is a POST as its receiver sees it.
func (w *world) receive(p model.Post) model.Answer {
	status := w.receivers[p.EndpointID](p.DeliveryID)
	w.posts = append(w.posts, post{p.EndpointID, p.DeliveryID, time.Now(), status})
	t := w.truth[life{ID: p.DeliveryID}]
	t.posts = append(t.posts, time.Now())
	t.acked = t.acked || status/100 == 2
	w.note("POST of %s to %s: %d", p.DeliveryID, p.EndpointID, status)
	a := model.Answer{Status: status}
	if status == http.StatusTooManyRequests {
		a.RetryAfter = "600"
	}
	return a
}

// leased is the promise that nothing is held before its endpoint's circuit makes release look for it.
func (w *world) leased(i backlog.Item) {
	if until := w.Circuits[i.EndpointID].HeldUntil; i.Held && !until.After(time.Now()) {
		w.breaks("%s is held for %s without a lease", i.Message.DeliveryID, i.EndpointID)
	}
}

// own makes an active endpoint with a receiver that answers with the status.
func (w *world) own(id string, status int) {
	w.Endpoints[id] = endpoint.Endpoint{
		ID: id, TenantID: tenant, URL: "https://receiver.example/" + id, Status: endpoint.Active,
		Events: []string{"*"}, CreatedAt: w.began.Add(-time.Hour), UpdatedAt: w.began.Add(-time.Hour), SecretVersion: 1,
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
	w.Mu.Lock()
	defer w.Mu.Unlock()
	m := w.message(endpointID)
	w.note("%s to %s is published", m.DeliveryID, endpointID)
	w.DeliveryQueue.Send(queue.Of(m, 0))
	return m.Ref
}

const (
	eventType = "user.deleted"
	body      = `{"type":"` + eventType + `","data":{}}`
)

// following is the id of the next delivery to the endpoint.
func (w *world) following(endpointID string) string {
	return delivery.ID(tenant, "e"+strconv.Itoa(w.unique+1), endpointID, delivery.ContentOf([]byte(body)))
}

func (w *world) message(endpointID string) delivery.Message {
	id := w.following(endpointID)
	w.unique++
	now := time.Now().UTC().Truncate(time.Millisecond)
	m := delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: id, TenantID: tenant, EndpointID: endpointID, EventID: "e" + strconv.Itoa(w.unique), CreatedAt: now,
		},
		Body: []byte(body),
	}
	w.truth[life{ID: id}] = &truth{
		endpointID: endpointID, started: now, unwanted: unwantedBy(w.Endpoints[endpointID]),
	}
	return m
}

// retried puts a delivery on RetryQueue that has used so many places.
func (w *world) retried(endpointID string, used int) { w.resent(w.RetryQueue, endpointID, used, 0) }

// resent puts a delivery on a queue. It has used so many places, and its life began so long ago.
func (w *world) resent(q *model.Queue, endpointID string, used int, ago time.Duration) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	m := w.message(endpointID)
	m.Attempts, m.Life = used, w.lived(ago)
	w.truth[life{ID: m.DeliveryID}].started = m.Life.StartedAt
	q.Send(queue.ToRetry(m, 0))
}

// lived is a life that began so long ago.
func (w *world) lived(ago time.Duration) delivery.Life {
	now := time.Now().UTC().Truncate(time.Millisecond)
	return delivery.Life{StartedAt: now.Add(-ago), DueAt: now}
}

// due puts a delivery into Backlog until its schedule's time, with three places used.
func (w *world) due(endpointID string, in time.Duration) {
	w.wait(endpointID, 0, delivery.Move{Due: time.Now().Add(in)})
}

// held puts a delivery into Backlog. It waits for its endpoint, and its life began so long ago.
func (w *world) held(endpointID string, ago time.Duration) {
	w.wait(endpointID, ago, delivery.Move{Due: w.rules.Schedule.End(time.Now().Add(-ago)), Held: true})
}

func (w *world) wait(endpointID string, ago time.Duration, m delivery.Move) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	message := w.message(endpointID)
	m.Attempts, m.Life = 3, w.lived(ago)
	w.unique++
	i := backlog.New(message, m, time.Now(), fmt.Sprintf("%08d", w.unique))
	w.truth[life{ID: message.DeliveryID}].started = m.Life.StartedAt
	w.Backlog.Set(i, time.Now())
}

// have stores a circuit with a lease. Its state began a minute ago.
func (w *world) have(i circuit.Item) {
	ago := time.Now().Add(-time.Minute)
	i.TenantID, i.Version, i.Since, i.HeldUntil = tenant, ago.UnixNano(), ago, time.Now().Add(4*time.Minute)
	w.Circuits[i.EndpointID] = i
}

func open(id string) circuit.Item {
	return circuit.Item{
		EndpointID: id, State: circuit.Open, Failures: 7,
		Last: circuit.Answer{At: time.Now().Add(-time.Minute), Status: 503, Reason: "http_5xx"},
	}
}

// check looks for deliveries that are nowhere.
func (w *world) check() {
	var here map[life]bool
	for l, t := range w.truth {
		if t.acked || t.unwanted || !w.Deaths[l].IsZero() {
			continue
		}
		if here == nil {
			here = w.here()
		}
		if !here[l] {
			w.breaks("%s to %s is nowhere", l.ID, t.endpointID)
			t.unwanted = true // said once
		}
	}
}

// here is all that lies on queues and in Backlog.
func (w *world) here() map[life]bool {
	here := map[life]bool{}
	for _, q := range w.Queues() {
		q.Each(func(r events.SQSMessage, _ time.Duration, _ int) { here[model.LifeOf(r)] = true })
	}
	for _, i := range w.Backlog.Items {
		here[life{ID: i.Message.DeliveryID, Replay: i.Message.Replay}] = true
	}
	return here
}

// idle reports whether nothing waits or is on its way.
func (w *world) idle() bool {
	for _, q := range w.Queues() {
		if q.Stored() > 0 {
			return false
		}
	}
	return len(w.Backlog.Items) == 0
}

// state is the world as far as the future depends on it, times apart.
func (w *world) state() string {
	var b strings.Builder
	for _, q := range w.Queues() {
		fmt.Fprint(&b, min(q.Stored(), 4), min(q.Visible(), 2), " ")
	}
	for _, id := range slices.Sorted(maps.Keys(w.Endpoints)) {
		i, e, due := w.Circuits[id], w.Endpoints[id], 0
		for _, item := range w.Backlog.Items {
			if item.EndpointID == id && !item.Held {
				due++
			}
		}
		fmt.Fprint(&b, id, e.Status, e.Marks.Paused(), !e.Marks.DiscardedBefore.IsZero(), e.Marks.ReleasedAt.After(i.Since),
			i.State, time.Until(i.HeldUntil) > time.Minute, i.HeldUntil.IsZero(), min(i.Failures, 6), min(i.Probes, 5),
			min(w.Backlog.Held(id), 3), min(due, 3), e.Rate(), w.receivers[id](""), " ")
	}
	fmt.Fprint(&b, w.Stops[tenant].Paused(), w.rules.Allowance.Slow(w.Slow[tenant], time.Now()))
	return b.String()
}

func (w *world) judgeBy(judge func(*call) verdict) {
	w.judging.Lock()
	defer w.judging.Unlock()
	w.judge = judge
}

// onward is the promise that no message goes round in circles: Lambda ends a chain of 16 invocations of a function.
func (w *world) onward(c *call) {
	to, sends := strings.CutPrefix(c.Name, "Send ")
	if !sends || c.Process.From == nil {
		return
	}
	w.Mu.Lock()
	defer w.Mu.Unlock()
	from := c.Process.From.Name
	w.routes[from+" to "+to] = true
	if !slices.Contains(functions.Onward[from], to) {
		w.breaks("a message goes from %s to %s", from, to)
	}
}

// verdictOn is the fate of a call.
func (w *world) verdictOn(c *call) verdict {
	w.onward(c)
	w.judging.Lock()
	judge := w.judge
	w.judging.Unlock()
	if judge == nil {
		return model.Done
	}
	return judge(c)
}

// throttled reports whether Lambda takes no invocations of the process now.
func (w *world) throttled(p *process) bool {
	return w.verdictOn(&call{Process: p.Process, Name: "Lambda"}) == model.Refused
}
