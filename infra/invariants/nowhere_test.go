package invariants

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
)

// scene is a world, and one invocation in it.
type scene struct {
	given func(w *world)
	do    func(w *world, p *process)
}

var scenes = map[string]scene{
	"deliver receives from DeliveryQueue": {given: first, do: func(w *world, p *process) { p.receive(w.deliveries) }},
	"deliver receives from RetryQueue":    {given: again, do: func(w *world, p *process) { p.receive(w.retries) }},
	"release runs":                        {given: trouble, do: func(_ *world, p *process) { p.tick() }},
	"deadletter receives":                 {given: deaths, do: func(w *world, p *process) { p.receive(w.dead) }},
}

// receive processes one batch.
func (p *process) receive(from *sqs) {
	p.mu.Lock()
	records := from.receive()
	p.mu.Unlock()
	if len(records) > 0 {
		p.batch(from, records)
	}
}

// edge makes one endpoint of every kind.
func edges(w *world) {
	w.own("webhook_ok", 200)
	w.own("webhook_bad", 500)
	w.own("webhook_hung", 0)
	w.own("webhook_off", 200)
	w.edit("webhook_off", func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled })
	w.own("webhook_gone", 200)
	w.edit("webhook_gone", func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Deleted, time.Now() })
	w.own("webhook_paused", 200)
	w.have(health.Item{EndpointID: "webhook_paused", Paused: true, Held: true})
	w.own("webhook_open", 500)
	w.have(w.open("webhook_open"))
	w.own("webhook_back", 200)
	w.have(health.Item{EndpointID: "webhook_back", State: health.Recovering, Held: true})
}

func (w *world) edit(id string, change func(*endpoint.Endpoint)) {
	e := w.endpoints[id]
	change(&e)
	e.UpdatedAt = time.Now()
	w.endpoints[id] = e
	if e.Status == endpoint.Deleted {
		for _, t := range w.truth {
			t.unwanted = t.unwanted || t.endpointID == id
		}
	}
}

// have stores an item of health that began a minute ago.
func (w *world) have(i health.Item) {
	ago := time.Now().Add(-time.Minute)
	i.TenantID, i.Version, i.Since, i.Changed = tenant, ago.UnixNano(), ago, ago
	name := i.EndpointID
	if name == "" {
		name = "tenant " + tenant
	}
	w.health[name] = i
}

func (w *world) open(id string) health.Item {
	return health.Item{
		EndpointID: id, State: health.Open, Held: true, Failures: 7, LastStatus: 503, LastReason: "http_5xx",
		NextProbe: time.Now(),
	}
}

func first(w *world) {
	edges(w)
	for _, id := range sorted(w.endpoints) {
		w.publish(id)
	}
	w.edit("webhook_gone", func(*endpoint.Endpoint) {})
	w.deliveries.duplicate()
}

func again(w *world) {
	edges(w)
	w.retried("webhook_ok", 1, nil)
	w.retried("webhook_bad", 1, nil) // waits for short
	w.retried("webhook_bad", 5, nil) // for long
	w.retried("webhook_bad", 9, nil) // dies
	w.retried("webhook_bad", 4, func(l *delivery.Life) { l.Last = true })
	w.retried("webhook_hung", 3, nil)
	w.retried("webhook_off", 2, nil)
	w.retried("webhook_paused", 2, nil)
	w.retried("webhook_open", 2, nil)
	w.retried("webhook_back", 2, nil)
}

// trouble is work of every kind for release.
func trouble(w *world) {
	edges(w)
	w.parked("webhook_ok", -time.Second, false, nil)
	w.parked("webhook_ok", 100*time.Second, false, nil)
	w.parked("webhook_off", 0, false, nil)
	w.parked("webhook_gone", 0, false, nil)
	w.edit("webhook_gone", func(*endpoint.Endpoint) {})
	w.parked("webhook_open", 0, true, nil)
	w.parked("webhook_open", 0, false, nil)
	w.parked("webhook_back", 0, true, nil)
	w.parked("webhook_back", time.Hour, false, nil)
	ended := func(l *delivery.Life) {
		l.StartedAt, l.DiesAt = l.StartedAt.Add(-40*time.Hour), l.StartedAt.Add(-2*time.Hour)
	}
	w.parked("webhook_open", 0, true, ended)
	w.parked("webhook_paused", 0, true, ended)
	w.own("webhook_over", 500)
	i := w.open("webhook_over")
	i.ProbeFailed, i.NextProbe = time.Now(), time.Now().Add(time.Minute)
	w.have(i)
	w.parked("webhook_over", 0, true, ended)
	time.Sleep(time.Second) // so that what is parked was parked before whatever follows
}

func deaths(w *world) {
	edges(w)
	for _, id := range []string{"webhook_ok", "webhook_bad", "webhook_gone"} {
		m := w.message(id)
		m.Attempts, m.Life = 9, w.lived(func(l *delivery.Life) { l.Reason = delivery.ReasonTimeout })
		w.dead.send(toDead(m))
	}
	m := w.message("webhook_bad")
	w.dead.send(toDead(m)) // came by redrive
	w.dead.duplicate()
}

// play runs a scene with a fault at one of its calls, and then on until everything has ended.
func (s scene) play(t *testing.T, faulty map[string]verdict) (calls []string, w *world) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w = newWorld()
		s.given(w)
		p := w.process("first", rand.New(rand.NewPCG(3, 4)))
		w.judgeBy(func(c *call) verdict {
			w.mu.Lock()
			defer w.mu.Unlock()
			calls = append(calls, c.String())
			return faulty[c.String()]
		})
		s.do(w, p)
		w.settle()
	})
	return calls, w
}

// Whatever happens at any call of a handler, every delivery is somewhere until it was answered 2xx,
// was sealed or is not wanted any more; and in the end it is one of these.
func TestNeverNowhere_whateverHappensAtAnyCall(t *testing.T) {
	t.Parallel()
	runs, all := 0, 0
	for _, name := range sorted(scenes) {
		s := scenes[name]
		calls, w := s.play(t, nil)
		w.mustHold(t, name)
		slices.Sort(calls)
		all += len(calls)
		for _, c := range calls {
			for _, v := range faults {
				if leftOut() {
					continue
				}
				_, w := s.play(t, map[string]verdict{c: v})
				runs++
				w.mustHold(t, fmt.Sprintf("%s, %s: %s", name, c, v))
			}
		}
	}
	t.Logf("%d calls, %d runs", all, runs)
}

// The same with two faults at a time, for as long as there is time.
func TestNeverNowhere_whateverHappensAtTwoCalls(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(seedOf(t), 0))
	calls := map[string][]string{}
	for name, s := range scenes {
		calls[name], _ = s.play(t, nil)
		slices.Sort(calls[name])
	}
	names, runs := sorted(scenes), 0
	for began, budget := time.Now(), budgetOf(2*time.Second); time.Since(began) < budget; runs++ {
		name := names[random.IntN(len(names))]
		faulty := map[string]verdict{}
		for range 2 {
			faulty[calls[name][random.IntN(len(calls[name]))]] = faults[random.IntN(len(faults))]
		}
		_, w := scenes[name].play(t, faulty)
		w.mustHold(t, fmt.Sprintf("%s, %v", name, faulty))
	}
	t.Logf("%d runs", runs)
}

func (w *world) mustHold(t *testing.T, what string) {
	t.Helper()
	if len(w.broken) > 0 {
		t.Errorf("%s:\n  %s\n%s", what, strings.Join(w.broken, "\n  "), strings.Join(w.history, "\n"))
	}
}
