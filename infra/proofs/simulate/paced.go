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

// Pace has the deliveries that receivers with a limit get.
type Pace struct {
	Seconds     int           // POSTs in the busiest second, to one endpoint
	Least, Most float64       // POSTs a second in the mean of a minute in which deliveries wait, to one endpoint
	Overtaken   time.Duration // the most by which a first attempt was of an older delivery than one before it

	Sent, Published []int // by second, to all of them
	byHook          map[string]*pacedHook
}

// pacedHook is one endpoint.
type pacedHook struct {
	sent      []int         // by second
	newest    time.Duration // creation of the newest delivery sent so far
	published int
}

func (p *Pace) of(w *world, h *hook) *pacedHook {
	if p.byHook == nil {
		p.byHook = map[string]*pacedHook{}
		p.Sent, p.Published = make([]int, w.scenario.Length/time.Second+1), make([]int, w.scenario.Length/time.Second+1)
	}
	if p.byHook[h.id] == nil {
		p.byHook[h.id] = &pacedHook{sent: make([]int, len(p.Sent))}
	}
	return p.byHook[h.id]
}

func (p *Pace) publishes(w *world, h *hook) {
	of := p.of(w, h)
	of.published++
	p.Published[min(int(w.now()/time.Second), len(p.Published)-1)]++
}

// firstRun is the time in which the first run of release finds the deliveries that wait. Until then, the newest are
// sent as well.
const firstRun = 2 * time.Minute

func (p *Pace) posts(w *world, h *hook, d *delivered) {
	of, now := p.of(w, h), w.now()
	second := min(int(now/time.Second), len(of.sent)-1)
	of.sent[second]++
	p.Sent[second]++
	p.Seconds = max(p.Seconds, of.sent[second])
	if now < calm+firstRun || d.attempted {
		return
	}
	p.Overtaken = max(p.Overtaken, of.newest-d.at())
	of.newest = max(of.newest, d.at())
}

// end reckons the means of the minutes in which deliveries wait: from the beginning of the flood to the minute in which
// the last ones are sent. Before release begins, an endpoint with a small limit gets less: a slot is lost where no
// delivery comes for a while.
func (p *Pace) end(w *world) {
	p.Least = float64(w.scenario.limit)
	for _, of := range p.byHook {
		left := of.published
		first := int(calm / time.Minute)
		for minute := first; (minute+1)*60 <= len(of.sent); minute++ {
			sent := 0
			for _, n := range of.sent[minute*60 : (minute+1)*60] {
				sent += n
			}
			left -= sent
			if left < w.scenario.limit*60 {
				break
			}
			p.Most = max(p.Most, float64(sent)/60)
			if minute > first || w.scenario.limit >= 10 {
				p.Least = min(p.Least, float64(sent)/60)
			}
		}
	}
}

// means are the least and the most of a minute, where there was a whole one.
func (p *Pace) means() string {
	if p.Most < p.Least {
		return "–"
	}
	return fmt.Sprintf("%.2f to %.2f", p.Least, p.Most)
}

// problems are the goals that the pace misses.
func (p *Pace) problems(s Scenario) (problems []string) {
	limit := float64(s.limit)
	most := 2 * limit
	if s.toggles {
		most, limit = 2*300, 300
	}
	if float64(p.Seconds) > most {
		problems = append(problems, fmt.Sprintf("%d POSTs in a second, wanted at most %g", p.Seconds, most))
	}
	stopped := s.dead.to > 0 || s.toggles
	if p.Most > limit*1.05 || !stopped && p.Least < limit*0.95 {
		problems = append(problems, fmt.Sprintf(
			"%.2f to %.2f a second in the mean of a minute, wanted %g", p.Least, p.Most, limit))
	}
	if p.Overtaken > mostOvertaken && !stopped {
		problems = append(problems, fmt.Sprintf("a delivery is sent %s behind a younger one", plot.Short(p.Overtaken)))
	}
	return problems
}

// mostOvertaken is by how much a delivery may be older than one before it: delays are in whole seconds.
const mostOvertaken = 3 * time.Second

// floods is the scenario's load in words: events a second, and endpoints.
func (s Scenario) floods() string {
	return fmt.Sprintf("%s/s, endpoints: %d", plot.Thousands(int(s.events)), s.hooks)
}
