package main

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/retry"
)

// figures are what a script comes to.
type figures struct {
	Acknowledged, Dead int
	Posts              int                     // to the endpoints in trouble
	Opened             map[int32]time.Duration // the first time
	Probes             int
	Recovered          map[int32]time.Duration // the last 2xx of what was published before the end of the outage
	InFlight           int                     // of RetryQueue, the peak
	Backlog            int                     // the peak
	Attempts           map[int]int             // deliveries that had at least so many POSTs
}

// play is a script and what it is about. What is published comes from a seed; receivers answer by
// delivery and time.
type play struct {
	schedule retry.Schedule
	rates    []float64 // of events a second, by endpoint
	trouble  int       // so many endpoints, from 0, answer as failing says
	failing  func(n, nth int, at time.Duration) answer
	up       time.Duration
	refuses  window
	hangs    bool          // what it is about hangs
	length   time.Duration // zero: ten minutes
}

// well is how a healthy receiver answers delivery n: in 40 to 240 ms.
func well(n int) answer {
	return answer{ok: true, status: 200, took: time.Duration(40+n*37%200) * time.Millisecond}
}

const bubbles = 10 * time.Minute

// scene is what plays the script, and collects what is the same for both.
func (p play) scene(seed uint64) (*scenario, *figures) {
	f := &figures{Opened: map[int32]time.Duration{}, Recovered: map[int32]time.Duration{}, Attempts: map[int]int{}}
	s := base("", "agreement", bubbles)
	if p.length > 0 {
		s.length = p.length
	}
	s.seed, s.busy, s.others, s.refuses = seed, len(p.rates), 1, p.refuses
	random := rand.New(rand.NewPCG(seed, 2))
	var arrivals []arrival
	for n, rate := range p.rates {
		for at := time.Duration(0); ; {
			at += time.Duration(random.ExpFloat64() / rate * float64(time.Second)).Truncate(time.Millisecond)
			if at >= s.length {
				break
			}
			arrivals = append(arrivals, arrival{at + time.Millisecond, int32(n)})
		}
	}
	slices.SortFunc(arrivals, func(a, b arrival) int { return int(a.at - b.at) })
	posts := map[int]int{}
	s.script = &script{
		schedule: p.schedule, jitter: 0.5, arrivals: arrivals,
		answer: func(to posting) answer {
			posts[to.id]++
			f.Attempts[posts[to.id]]++ // at least so many
			a := well(to.id)
			if int(to.endpoint) < p.trouble {
				f.Posts++
				a = p.failing(to.id, posts[to.id], to.at)
				if a.ok && p.up > 0 && arrivals[to.id].at < p.up {
					f.Recovered[to.endpoint] = to.at
				}
			}
			return a
		},
		turned: func(t turn) {
			if _, known := f.Opened[t.endpoint]; !known && t.to.State == health.Open {
				f.Opened[t.endpoint] = t.at
			}
			if t.to.Probe > t.from.Probe {
				f.Probes++
			}
		},
	}
	return s, f
}

// simulated plays the script to the simulation, handled to the real handlers.
func (p play) simulated(seed uint64) figures {
	s, f := p.scene(seed)
	w := newWorld(s, true)
	w.run()
	f.Acknowledged, f.Dead = w.stats.ended-w.stats.dead, w.stats.dead
	f.InFlight, f.Backlog = w.stats.inFlight, w.stats.backlog
	return *f
}

func (p play) handled(t *testing.T, seed uint64) (f figures) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		s, counted := p.scene(seed)
		b := newBubble(s)
		b.run()
		f = *counted
		f.Acknowledged, f.Dead, f.InFlight, f.Backlog = b.acknowledged, b.dead, b.inFlight, b.held
	})
	return f
}

func repeated(rate float64, n int) []float64 { return slices.Repeat([]float64{rate}, n) }

// downUntil is a receiver that answers 503 until the end of the outage.
func downUntil(up time.Duration) func(n, nth int, at time.Duration) answer {
	return func(n, _ int, at time.Duration) answer {
		if at < up {
			return down
		}
		return well(n)
	}
}

var plays = map[string]play{
	"nobody is down": {
		schedule: schedule, rates: repeated(0.8, 10), trouble: 10,
		failing: func(n, nth int, _ time.Duration) answer { // one in 40 fails once, one in 200 three times
			if n%40 == 0 && nth == 1 || n%200 == 0 && nth <= 3 {
				return down
			}
			return well(n)
		},
	},
	"one endpoint is down, and comes back": {
		schedule: schedule, rates: append([]float64{3}, repeated(0.3, 8)...), trouble: 1,
		failing: downUntil(5 * time.Minute), up: 5 * time.Minute,
	},
	"ten endpoints of a tenant are down, and come back": {
		schedule: schedule, rates: append(repeated(1, 10), repeated(0.5, 4)...), trouble: 10,
		failing: downUntil(4 * time.Minute), up: 4 * time.Minute,
	},
	"one endpoint hangs, and comes back": {
		schedule: schedule, rates: append([]float64{2}, repeated(0.3, 8)...), trouble: 1, up: 4 * time.Minute, hangs: true,
		failing: func(n, _ int, at time.Duration) answer {
			if at < 4*time.Minute {
				return hangs
			}
			return well(n)
		},
	},
	"one answer in twenty is slow": {
		schedule: schedule, rates: append([]float64{6}, repeated(0.3, 8)...), trouble: 1,
		failing: func(n, _ int, _ time.Duration) answer {
			a := well(n)
			if n%20 == 0 {
				a.took = 2200 * time.Millisecond
			}
			return a
		},
	},
	"deliveries die before the circuit opens": {
		schedule: retry.Schedule{Base: 5 * time.Second, Factor: 2, MaxRetries: 4},
		rates:    append([]float64{0.03}, repeated(0.3, 4)...), trouble: 1,
		failing: downUntil(8 * time.Minute), up: 8 * time.Minute,
	},
	"all tables refuse for two minutes while an endpoint is down": {
		schedule: schedule, rates: append([]float64{1}, repeated(0.3, 8)...), trouble: 1,
		failing: downUntil(6 * time.Minute), up: 6 * time.Minute, refuses: window{2 * time.Minute, 4 * time.Minute},
	},
}

// roughly returns got with want in place of what is near enough. What differs is not a rule: of processes
// that are idle at the same moment, which one takes a batch, and so which of them may write health in this
// second; the item that a probe is made with; and what ends in the last second. Where an endpoint hangs,
// it is chance as well who holds its few processes: it may open some seconds and be probed a tick earlier.
func (p play) roughly(want, got figures) figures {
	loose, tick := 1, time.Duration(0)
	if p.hangs {
		loose, tick = 6, time.Minute
		got.Probes = snap(want.Probes, got.Probes, 1)
	}
	got.Acknowledged = snap(want.Acknowledged, got.Acknowledged, 3*loose)
	got.Posts = snap(want.Posts, got.Posts, 3+loose*want.Posts/100)
	got.InFlight = snap(want.InFlight, got.InFlight, 5+loose*want.InFlight/20)
	got.Backlog = snap(want.Backlog, got.Backlog, 3+loose*want.Backlog*loose/100)
	for n, deliveries := range want.Attempts {
		if near := snap(deliveries, got.Attempts[n], want.Probes+5*loose+deliveries/100); near > 0 {
			got.Attempts[n] = near
		}
	}
	for n, deliveries := range got.Attempts {
		if want.Attempts[n] == 0 && deliveries <= want.Probes {
			delete(got.Attempts, n)
		}
	}
	for e, at := range want.Opened {
		if near := snap(at, got.Opened[e], time.Duration(5*loose)*time.Second); near > 0 {
			got.Opened[e] = near
		}
	}
	for e, at := range want.Recovered {
		if near := snap(at, got.Recovered[e], tick+2*time.Second); near > 0 {
			got.Recovered[e] = near
		}
	}
	return got
}

func snap[N int | time.Duration](want, got, within N) N {
	if want-within <= got && got <= want+within {
		return want
	}
	return got
}

// Simulation and handlers agree on what happens in ten minutes: a rule that is changed in one of them
// alone shows here.
func TestSimulate_agreesWithTheHandlers(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(plays)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds() {
				want, got := plays[name].simulated(seed), plays[name].handled(t, seed)
				t.Logf("seed %d:\n simulation %+v\n handlers   %+v", seed, want, got)
				if diff := cmp.Diff(want, plays[name].roughly(want, got)); diff != "" {
					t.Errorf("seed %d: the handlers differ from the simulation (-simulation +handlers)\n%s", seed, diff)
				}
			}
		})
	}
}

// seeds is the number of tries, AGREE_SEEDS or one.
func seeds() uint64 {
	n, err := strconv.ParseUint(os.Getenv("AGREE_SEEDS"), 10, 64)
	if err != nil {
		return 1
	}
	return n
}
