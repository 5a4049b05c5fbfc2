package simulate

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

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

// publish publishes so many events a second until the end.
func (w *world) publish(rate float64, of uint64, to func(*rand.Rand) []*hook) {
	random := rand.New(rand.NewPCG(seed, of)) //nolint:gosec // figures that can be repeated
	for next := w.now(); ; {
		next += time.Duration(random.ExpFloat64() / rate * float64(time.Second))
		if next >= w.scenario.Length {
			return
		}
		time.Sleep(next - w.now())
		w.fanOut(to(random))
	}
}

// publishEvenly publishes a tenant's events, at random times.
func (w *world) publishEvenly(p party, hooks []*hook) {
	w.publish(p.events, uint64(len(hooks[0].tenant)), func(random *rand.Rand) []*hook { return p.choose(random, hooks) })
}

// choose are the receivers of an event.
func (p party) choose(random *rand.Rand, hooks []*hook) []*hook {
	from := random.IntN(len(hooks)/p.perEvent) * p.perEvent
	return hooks[from : from+p.perEvent]
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
