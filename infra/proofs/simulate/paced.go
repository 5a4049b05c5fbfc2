package simulate

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/plot"
)

// rated is a tenant with a limit on each of its endpoints, and a flood of events for a while.
type rated struct {
	limit     int // deliveries a second, of an endpoint
	hooks     int
	published float64       // events a second, each for one endpoint
	lasts     time.Duration // of the flood
	whole     bool          // played until nothing waits any more
	toggles   bool          // the owner sets another limit each second
}

// longestPace is how long a scenario is played that is not played to its end.
const longestPace = 20 * time.Minute

// toItsEnd is the flood that is drawn.
const toItsEnd = "to its end"

// pacedScenarios sweep limits and floods. Others have 100 deliveries a second.
func pacedScenarios() (all []Scenario) {
	for _, limit := range []int{1, 10, 100} {
		for _, times := range []float64{2, 10, 100} {
			if published := float64(limit) * times; published <= 1000 {
				all = append(all, rated{limit: limit, hooks: 1, published: published, lasts: time.Minute}.scenario(""))
			}
		}
	}
	fifty := rated{limit: 1, hooks: 50, published: 500, lasts: time.Minute}.scenario("fifty endpoints")
	toggled := rated{limit: 10, hooks: 1, published: 1000, lasts: time.Minute, toggles: true}.
		scenario("another limit each second")
	stopped := rated{limit: 10, hooks: 1, published: 100, lasts: time.Minute}.scenario("no release for five minutes")
	stopped.dead = window{calm + 90*time.Second, calm + 390*time.Second}
	all = append(all, fifty, toggled, stopped)
	drained := rated{limit: 10, hooks: 1, published: 1000, lasts: time.Minute, whole: true}.scenario(toItsEnd)
	drained.Rate = 10
	return append(all, drained)
}

func (p rated) scenario(variant string) Scenario {
	if variant == "" {
		variant = fmt.Sprintf("%g a second", p.published)
	}
	drains := time.Duration(p.published*p.lasts.Seconds()/float64(p.limit*p.hooks)) * time.Second
	length := min(drains, longestPace)
	if p.whole {
		length = drains
	}
	return Scenario{
		Name: fmt.Sprintf("rate-%d", p.limit), Variant: variant, Kind: Paced, Rate: 100,
		Says:   fmt.Sprintf("%d a second, flooded for a minute", p.limit),
		Length: calm + length + 4*time.Minute, limit: p.limit, toggles: p.toggles,
		party: party{tenants: 1, hooks: p.hooks, events: p.published, perEvent: 1, act: p.act},
	}
}

// act publishes the flood.
func (p rated) act(w *world, hooks []*hook) {
	w.limits(hooks, p.limit)
	if p.toggles {
		go w.toggleLimits(hooks, p.limit)
	}
	random := rand.New(rand.NewPCG(seed, uint64(p.limit))) //nolint:gosec // figures that can be repeated; small
	for at := calm; ; {
		at += time.Duration(random.ExpFloat64() / p.published * float64(time.Second))
		if at >= calm+p.lasts {
			return
		}
		time.Sleep(at - w.now())
		n := random.IntN(len(hooks))
		w.fanOut(hooks[n : n+1])
	}
}

// limits sets the limit of endpoints, as their owner.
func (w *world) limits(hooks []*hook, limit int) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	for _, h := range hooks {
		e := w.Endpoints[h.id]
		e.RateLimit, e.UpdatedAt = limit, time.Now()
		w.Endpoints[h.id] = e
	}
}

// toggleLimits has the owner set the largest limit and this one in turn, each second.
func (w *world) toggleLimits(hooks []*hook, limit int) {
	for second := 0; w.now() < w.scenario.Length; second++ {
		w.limits(hooks, []int{limit, 300}[second%2])
		time.Sleep(time.Second)
	}
}

// floods is the scenario's load in words: events a second, and endpoints.
func (s Scenario) floods() string {
	return fmt.Sprintf("%s/s, endpoints: %d", plot.Thousands(int(s.events)), s.hooks)
}
