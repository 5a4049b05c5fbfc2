package invariants

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// crowded lets three runs of release at a time, call by call, with every tenth call a fault, look for an hour after an
// open endpoint that is down and one that takes all deliveries but its oldest, while another one goes on receiving.
func crowded(t *testing.T, seed uint64) (w *walker) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		random := rand.New(rand.NewPCG(seed, 0))
		w = &walker{world: newWorld(), visit: func(string) {}}
		w.own("webhook_ok", 200)
		w.own("webhook_down", 500)
		w.have(open("webhook_down"))
		w.own("webhook_picky", 500)
		w.have(open("webhook_picky"))
		oldest := w.following("webhook_picky")
		w.receivers["webhook_picky"] = func(id string) int {
			if id == oldest {
				return 500
			}
			return 200
		}
		for range 20 { // in one shard, in which the first is the oldest
			for backlog.Shard(w.following("webhook_picky")) != backlog.Shard(oldest) {
				w.unique++
			}
			w.held("webhook_picky", 0)
			w.held("webhook_down", 0)
			time.Sleep(time.Second)
		}
		well := w.process("well")
		w.judgeBy(func(c *call) verdict {
			if c.Process == well.Process {
				return model.Done
			}
			return w.gate(c)
		})
		for range 60 {
			w.crowdedMinute(random, well)
		}
	})
	return w
}

func (w *walker) crowdedMinute(random *rand.Rand, well *process) {
	minute := time.Now().Add(time.Minute)
	for range crowd {
		w.start("release runs", (*process).Release)
	}
	w.finish(func(calls []*waiter) (*waiter, verdict) {
		v := model.Done
		if random.IntN(10) == 0 {
			v = faults[random.IntN(len(faults))]
		}
		c := calls[random.IntN(len(calls))]
		if v == model.Twice && strings.HasPrefix(c.Name, "Send ") {
			v = model.Lost // a probe that is sent twice is two messages, and both are probes
		}
		return c, v
	})
	w.publish("webhook_ok")
	for time.Now().Before(minute) {
		well.Receive(w.DeliveryQueue)
		well.Receive(w.RetryQueue)
		time.Sleep(5 * time.Second)
	}
}

// Whatever happens to the runs of release, an open endpoint gets one POST an interval of 1, 2, 4, 5, 5 … minutes, a
// delivery that its receiver never takes keeps no endpoint closed that takes all others, and others get all of theirs.
func TestProbes_areOneAnIntervalAndGetPastAPoisonousOldestItem(t *testing.T) {
	t.Parallel()
	seeds := uint64(15)
	if budgetOf(0) > 0 {
		seeds = 300
	}
	for seed := range seeds {
		w := crowded(t, seed)
		w.mustHold(t, fmt.Sprint("seed ", seed))
		others, posts := 0, []time.Time{}
		for _, p := range w.posts {
			switch p.endpointID {
			case "webhook_ok":
				others++
			case "webhook_down":
				posts = append(posts, p.at)
			}
		}
		for n := 1; n < len(posts); n++ {
			least := w.rules.Circuit.Probes[min(n, 3)]*9/10 - time.Minute // each is sent at the endpoint's moment of its minute
			if apart := posts[n].Sub(posts[n-1]); apart < least {
				t.Errorf("seed %d: POST %d %s after the one before\n%s", seed, n, apart, strings.Join(w.history, "\n"))
			}
		}
		picky := 0
		for _, about := range w.truth {
			if about.acked && about.endpointID == "webhook_picky" {
				picky++
			}
		}
		if others != 60 || len(posts) < 3 || len(posts) > 15 || picky != 19 {
			t.Errorf("seed %d: %d deliveries to the other endpoint, %d probes in an hour, %d of 19 delivered\n%s", seed, others,
				len(posts), picky, strings.Join(w.history, "\n"))
		}
	}
}

// toggles are the acts that owners and operators may repeat without end.
var toggles = map[string]func(w *world){
	"off and on": func(w *world) {
		w.owner(hook, endpoint.Disabled)
		w.pass(30 * time.Second)
		w.owner(hook, endpoint.Active)
	},
	"another URL": func(w *world) { w.owner(hook, endpoint.Active) },
	"paused and resumed": func(w *world) {
		w.control("pause", hook)
		w.pass(30 * time.Second)
		w.control("resume", hook)
	},
	"the tenant is paused and resumed": func(w *world) {
		w.control("pause", "")
		w.pass(70 * time.Second)
		w.control("resume", "")
	},
}

// A delivery that its receiver never takes gets ten POSTs and probes, whatever its owner toggles for 31
// hours, and nothing is sent early more often than once in ten minutes.
//
// Threat of a tenant: switches an endpoint off and on for more POSTs. Held by: bounded attempts; a recovery in ten
// minutes.
func TestPosts_areTenAndProbes(t *testing.T) {
	t.Parallel()
	for name, toggle := range toggles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, every := range []time.Duration{time.Minute, 7 * time.Minute, 3 * time.Hour} {
				if every == time.Minute && leftOut() {
					continue
				}
				w, probes, recoveries := toggled(t, toggle, every)
				w.mustHold(t, fmt.Sprint(name, " every ", every))
				for l, about := range w.truth {
					if own := len(about.posts) - probes[l.ID]; own > w.rules.Schedule.Last() {
						t.Errorf("%s every %s: %d POSTs and %d probes of %s\n%s", name, every, own, probes[l.ID], l.ID,
							strings.Join(w.history, "\n"))
					}
				}
				if most := int(w.Elapsed()/w.rules.Circuit.RecoverOnce) + 1; recoveries > most {
					t.Errorf("%s every %s: %d recoveries in %s", name, every, recoveries, w.Elapsed())
				}
			}
		})
	}
}

// toggled lets three deliveries live under the toggling. Probes are counted by delivery.
func toggled(t *testing.T, toggle func(*world), every time.Duration) (
	w *world, probes map[string]int, recoveries int,
) {
	t.Helper()
	probes = map[string]int{}
	synctest.Test(t, func(*testing.T) {
		w = newWorld()
		w.own(hook, 500)
		for range 3 {
			w.publish(hook)
		}
		w.Sent = func(_ *model.Queue, m events.SQSMessage) {
			if !model.ProgressOf(m).Probe.IsZero() {
				probes[model.LifeOf(m).ID]++
			}
		}
		w.Turns = func(_, next circuit.Item) {
			if next.State == circuit.Recovering {
				recoveries++
			}
		}
		for w.Elapsed() < 33*time.Hour {
			toggle(w)
			w.pass(every)
		}
		w.Mu.Lock()
		w.note("the toggling ends")
		w.Mu.Unlock()
		w.run(8*24*time.Hour, w.idle)
		if !w.idle() {
			w.breaks("not over: %s", w.left())
		}
	})
	return w, probes, recoveries
}

// Its owner switches an endpoint off and on, again and again, while something waits for it. What waits is sent in
// recoveries, and these are ten minutes apart.
func TestToggledOffAndOnAnEndpointRecoversOnceInTenMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.own(hook, 200)
		var recovered []time.Time
		w.Turns = func(_, next circuit.Item) {
			if next.State == circuit.Recovering {
				recovered = append(recovered, time.Now())
			}
		}
		for w.Elapsed() < time.Hour {
			w.control("pause", hook) // for a disabled endpoint nothing is published
			w.publish(hook)
			w.pass(20 * time.Second)
			w.owner(hook, endpoint.Disabled)
			w.control("resume", hook)
			w.owner(hook, endpoint.Active)
			w.pass(100 * time.Second)
		}
		if !w.run(w.rules.Circuit.RecoverOnce, w.idle) {
			w.breaks("not over: %s", w.left())
		}
		w.mustHold(t, "toggled")
		for n := 1; n < len(recovered); n++ {
			if apart := recovered[n].Sub(recovered[n-1]); apart < w.rules.Circuit.RecoverOnce {
				t.Errorf("recovery %d began %s after the one before", n, apart)
			}
		}
		if len(recovered) < 5 {
			t.Errorf("%d recoveries in an hour", len(recovered))
		}
	})
}
