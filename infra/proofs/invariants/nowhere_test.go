package invariants

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// scene is a world, and one invocation in it.
type scene struct {
	given func(w *world)
	do    func(w *world, p *process)
}

var scenes = map[string]scene{
	"deliver receives from DeliveryQueue":    {first, func(w *world, p *process) { p.Receive(w.DeliveryQueue) }},
	"deliver receives a slow tenant's first": {slowly, func(w *world, p *process) { p.Receive(w.DeliveryQueue) }},
	"deliver receives from RetryQueue":       {again, func(w *world, p *process) { p.Receive(w.RetryQueue) }},
	"deliver receives from SlowQueue":        {onSlowQueue, func(w *world, p *process) { p.Receive(w.SlowQueue) }},
	"release runs":                           {trouble, func(_ *world, p *process) { p.Release() }},
	"deadletter receives":                    {deaths, func(w *world, p *process) { p.Receive(w.DeadLetterQueue) }},
	"control resumes a tenant":               {tenantPaused, func(w *world, p *process) { w.controlBy(p, "resume", "") }},
	"control releases":                       {trouble, releases},
}

func releases(w *world, p *process) { w.controlBy(p, "release", "webhook_open") }

// edges makes one endpoint of every kind.
func edges(w *world) {
	w.own("webhook_ok", 200)
	w.own("webhook_bad", 500)
	w.own("webhook_hung", 0)
	w.own("webhook_off", 200)
	w.edit("webhook_off", func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled })
	w.own("webhook_gone", 200)
	w.edit("webhook_gone", func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Deleted, time.Now() })
	w.own("webhook_paused", 200)
	w.pausedBefore("webhook_paused")
	w.own("webhook_open", 500)
	w.have(open("webhook_open"))
	w.own("webhook_back", 200)
	w.have(circuit.Item{EndpointID: "webhook_back", State: circuit.Recovering})
}

// pausedBefore makes an endpoint paused for a minute, with a lease.
func (w *world) pausedBefore(id string) {
	w.edit(id, func(e *endpoint.Endpoint) { e.Marks.PausedAt, e.Marks.PausedBy = time.Now().Add(-time.Minute), "ann" })
	w.have(circuit.Item{EndpointID: id})
}

func first(w *world) {
	edges(w)
	for _, id := range slices.Sorted(maps.Keys(w.Endpoints)) {
		w.publish(id)
	}
	w.DeliveryQueue.Duplicate()
}

func slowly(w *world) {
	first(w)
	w.Slow[tenant] = time.Now().Add(7 * time.Hour)
}

func again(w *world) {
	edges(w)
	w.retried("webhook_ok", 1)
	w.retried("webhook_bad", 1) // waits for short
	w.retried("webhook_bad", 5) // for long
	w.retried("webhook_bad", 9) // dies
	w.retried("webhook_hung", 3)
	w.retried("webhook_off", 2)
	w.retried("webhook_paused", 2)
	w.retried("webhook_open", 2)
	w.retried("webhook_back", 2)
	w.retried("webhook_gone", 2)
}

func onSlowQueue(w *world) {
	edges(w)
	w.Slow[tenant] = time.Now().Add(7 * time.Hour)
	for id, used := range map[string]int{"webhook_ok": 0, "webhook_bad": 1, "webhook_hung": 3, "webhook_off": 2} {
		w.resent(w.SlowQueue, id, used, 0)
	}
	w.resent(w.SlowQueue, "webhook_bad", 0, 169*time.Hour)
	w.SlowQueue.Duplicate()
}

// trouble is work of every kind for release.
func trouble(w *world) {
	edges(w)
	w.due("webhook_ok", -time.Second)
	w.due("webhook_ok", 100*time.Second)
	w.due("webhook_off", 0)
	w.due("webhook_gone", 0)
	w.held("webhook_open", 0)
	w.due("webhook_open", 0)
	w.held("webhook_back", 0)
	w.due("webhook_back", time.Hour)
	w.held("webhook_open", 170*time.Hour)
	w.held("webhook_paused", 170*time.Hour)
	w.own("webhook_none", 200)
	w.have(circuit.Item{EndpointID: "webhook_none"})
	w.held("webhook_none", 0)
	w.edit("webhook_gone", func(*endpoint.Endpoint) {})
	time.Sleep(time.Second) // all of that was put before whatever follows
}

func tenantPaused(w *world) {
	for _, id := range []string{"webhook_1", "webhook_2"} {
		w.own(id, 200)
		w.have(circuit.Item{EndpointID: id})
		w.held(id, 0)
	}
	w.Stops[tenant] = endpoint.Marks{PausedAt: time.Now().Add(-time.Minute), PausedBy: "ann"}
}

func deaths(w *world) {
	edges(w)
	for _, id := range []string{"webhook_ok", "webhook_bad", "webhook_gone"} {
		m := w.message(id)
		m.Attempts, m.Life = 10, w.lived(40*time.Hour)
		m.Life.Reason = delivery.ReasonTimeout
		w.DeadLetterQueue.Send(queue.Of(m, 0))
	}
	w.DeadLetterQueue.Send(queue.Of(w.message("webhook_bad"), 0)) // came by redrive
	w.DeadLetterQueue.Duplicate()
}

// play runs a scene with a fault at one of its calls, and then on until everything has ended.
func (s scene) play(t *testing.T, faulty map[string]verdict) (calls []string, w *world) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w = newWorld()
		s.given(w)
		p := w.process("first")
		w.judgeBy(func(c *call) verdict {
			w.Mu.Lock()
			defer w.Mu.Unlock()
			calls = append(calls, c.String())
			return faulty[c.String()]
		})
		s.do(w, p)
		w.drain()
	})
	return calls, w
}

// Whatever happens at any call of a handler, every delivery is somewhere until it was answered 2xx,
// was sealed or is not wanted any more; and in the end it is one of these.
func TestNeverNowhere_whateverHappensAtAnyCall(t *testing.T) {
	t.Parallel()
	runs, all := 0, 0
	for _, name := range slices.Sorted(maps.Keys(scenes)) {
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
	names, runs := slices.Sorted(maps.Keys(scenes)), 0
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

// An endpoint that is restored while a run of release is under way loses nothing that was published since.
func TestNothingIsLostBehindARestoration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.own("webhook_1", 500)
		w.have(open("webhook_1"))
		w.held("webhook_1", 0)
		time.Sleep(time.Hour)
		w.owner("webhook_1", endpoint.Deleted)
		time.Sleep(time.Second)
		run, other := w.process("release"), w.process("deliver")
		var once sync.Once
		w.judgeBy(func(c *call) verdict {
			if c.Process == run.Process && strings.HasPrefix(c.Name, "Read Backlog") {
				once.Do(func() {
					w.owner("webhook_1", endpoint.Active)
					w.publish("webhook_1")
					other.Receive(w.DeliveryQueue)
				})
			}
			return model.Done
		})
		run.Release()
		w.mustHold(t, "restored in a run")
	})
}
