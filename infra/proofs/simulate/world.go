// Package simulate plays days of deliveries in fake time: attacks on isolation, honest tenants with slow answers, and
// outages. Herald's own handlers deliver, release and deadletter run on the model of AWS that the invariants use
// (internal/testkit/model). Each of deliver's queues has a mapping of 200 processes. Only fan-out and the receivers are
// scripts.
//
// "make simulate" runs all scenarios, checks the goals of infra/docs/capacity.md and writes that page and its plots.
// testing/synctest needs a testing.T, so the command is a test. "go test ./infra/proofs/simulate" alone runs short
// forms of a few scenarios.
package simulate

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/pipeline/deliver"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// world is one run of a scenario.
type world struct {
	*model.Model
	scenario Scenario
	rules    deliver.Rules
	random   *rand.Rand // of receivers, under Mu
	hooks    map[string]*hook
	others   []*hook
	members  []member
	maps     []*model.Mapping
	stats    stats
}

const (
	others      = 1000 // endpoints, two to a tenant
	processes   = 200  // of each of deliver's mappings
	deadLetters = 50   // processes
	seed        = 1
)

// Run plays a scenario. It must be called in a bubble of testing/synctest.
func Run(s Scenario) Result {
	w := newWorld(s)
	w.populate()
	w.start()
	for w.now() < s.Length {
		w.minute()
	}
	w.finish()
	w.Stop()
	r := w.result()
	time.Sleep(model.ReleaseTimeout) // for all to end
	return r
}

func newWorld(s Scenario) *world {
	w := &world{
		Model: model.New(), scenario: s, rules: functions.DefaultRules(processes),
		random: rand.New(rand.NewPCG(seed, 1)), hooks: map[string]*hook{}, //nolint:gosec // figures that can be repeated
	}
	w.States = nil
	if s.Fair {
		w.FairQueues()
	}
	w.Post = w.receive
	w.Sent, w.Received = w.sent, w.received
	if s.refuses.to > 0 {
		w.Judge = w.refuse
	}
	w.stats.own = map[string]*histogram{}
	w.stats.Bins = make([]bin, (s.Length+s.patience)/binLength+1)
	return w
}

func (w *world) now() time.Duration { return w.Elapsed() }

func (w *world) own(tenant string, n int, as role, answers receiver) *hook {
	h := &hook{
		id: fmt.Sprint("webhook_", tenant, "_", n), tenant: tenant, role: as, answer: answers,
		shift: time.Duration(w.random.Int64N(int64(20 * time.Minute))),
	}
	w.hooks[h.id] = h
	w.Endpoints[h.id] = endpoint.Endpoint{
		ID: h.id, TenantID: tenant, URL: "https://receiver.example/" + h.id, Status: endpoint.Active, SecretVersion: 1,
		CreatedAt: time.Now().Add(-time.Hour), UpdatedAt: time.Now().Add(-time.Hour),
	}
	return h
}

// start begins mappings and publishers.
func (w *world) start() {
	w.stats.Busy.begin(w)
	for n, q := range []*model.Queue{w.DeliveryQueue, w.RetryQueue, w.SlowQueue} {
		w.maps = append(w.maps, functions.Map(w.Model, q, processes, w.rules, uint64(n)))
	}
	functions.Map(w.Model, w.DeadLetterQueue, deadLetters, w.rules, seed)
	go w.publish(w.scenario.Rate, seed, func(random *rand.Rand) []*hook {
		n := random.IntN(len(w.others))
		return w.others[n : n+1]
	})
	for _, m := range w.members {
		go m.start(w)
	}
	if w.scenario.stopped.to > 0 {
		go w.stopMapping(w.scenario.stopped)
	}
}

// publish publishes so many events a second until the end.
func (w *world) publish(rate float64, of uint64, to func(*rand.Rand) []*hook) {
	random := rand.New(rand.NewPCG(seed, of)) //nolint:gosec // as above
	for next := w.now(); ; {
		next += time.Duration(random.ExpFloat64() / rate * float64(time.Second))
		if next >= w.scenario.Length {
			return
		}
		time.Sleep(next - w.now())
		w.fanOut(to(random))
	}
}

// fanOut puts a delivery of an event to each endpoint on DeliveryQueue or, if its tenant is slow, on SlowQueue.
func (w *world) fanOut(hooks []*hook) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	for _, h := range hooks {
		to := w.DeliveryQueue
		if w.rules.Allowance.Slow(w.Slow[h.tenant], time.Now()) {
			to = w.SlowQueue
		}
		to.Send(queue.Of(w.message(h), 0))
	}
}

// message is a new delivery to an endpoint.
func (w *world) message(h *hook) delivery.Message {
	n := w.stats.published(w, h)
	body := `{"type":"user.updated","data":` + strconv.Itoa(n) + `}`
	event := "e" + strconv.Itoa(n)
	return delivery.Message{Body: []byte(body), Ref: delivery.Ref{
		DeliveryID: delivery.ID(h.tenant, event, h.id, delivery.ContentOf([]byte(body))),
		TenantID:   h.tenant, EndpointID: h.id, EventID: event, CreatedAt: time.Now().UTC(),
	}}
}

// numberOf is the number of the delivery with this body.
func numberOf(body string) int {
	digits := body[strings.LastIndexByte(body, ':')+1 : len(body)-1]
	n, err := strconv.Atoi(digits)
	if err != nil {
		panic("not a body of this simulation: " + body)
	}
	return n
}

// receive answers a POST as its receiver would.
func (w *world) receive(p model.Post) model.Answer {
	h := w.hooks[p.EndpointID]
	var a answer
	if h.role != other && h.answer != nil {
		a = h.answer(w, h)
	} else {
		a = w.healthy()
	}
	w.stats.posted(w, h, numberOf(string(p.Body)), a)
	return a
}

func (w *world) sent(q *model.Queue, m events.SQSMessage) {
	if q == w.DeadLetterQueue {
		w.stats.died(w, numberOf(m.Body))
	}
}

// received measures how late a retry is: by its schedule if it waited elsewhere, otherwise by its queue.
func (w *world) received(q *model.Queue, m events.SQSMessage, since time.Duration) {
	if q != w.RetryQueue || w.hooks[model.Attribute(m, "endpoint_id")].role != other {
		return
	}
	due := model.ProgressOf(m).DueAt
	if due.IsZero() {
		return
	}
	if m.Attributes["ApproximateReceiveCount"] == "1" {
		since = time.Since(due)
	}
	w.stats.retries.add(since)
}

func (w *world) refuse(c *model.Call) model.Verdict {
	table := !strings.HasPrefix(c.Name, "Send") && !strings.HasPrefix(c.Name, "Change") && c.Name != "answer" &&
		c.Name != "POST" && !strings.HasPrefix(c.Name, "KMS")
	if table && w.scenario.refuses.holds(w.now()) {
		return model.Refused
	}
	return model.Done
}

// minute passes a minute; release runs at its beginning.
func (w *world) minute() {
	if !w.scenario.dead.holds(w.now()) {
		random := rand.New(rand.NewPCG(seed, uint64(w.stats.runs))) //nolint:gosec // as above
		go functions.OnModel(w.Model, "release "+strconv.Itoa(w.stats.runs), w.rules, random).Release()
	}
	w.stats.runs++
	w.Mu.Lock()
	w.stats.sample(w)
	w.Mu.Unlock()
	time.Sleep(w.rules.Circuit.Run - w.now()%w.rules.Circuit.Run)
}

// finish goes on until all deliveries from before the end of the outage are made.
func (w *world) finish() {
	for s := w.scenario; s.up > 0 && w.now() < s.up+s.patience; {
		w.Mu.Lock()
		left := w.stats.Left
		w.Mu.Unlock()
		if left == 0 {
			return
		}
		w.minute()
	}
}
