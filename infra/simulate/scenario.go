package main

import (
	"strconv"
	"time"
)

// scenario is what happens to the world.
type scenario struct {
	name string
	says string

	seed       uint64
	rate       float64 // events a second
	share      float64 // of them to the endpoints of the largest tenant
	busy       int     // endpoints of the largest tenant
	others     int     // endpoints of the others, two to a tenant
	background float64 // share of healthy endpoints' answers that are 503
	fair       bool

	length   time.Duration
	up       time.Duration // when the outage ends; 0: there is none to catch up with
	patience time.Duration // beyond length, to catch up
	prepare  func(w *world)
	script   *script // nil: chance decides

	dead      window // release does not run
	refuses   window // every table of ours refuses reads and writes
	throttles window // Lambda takes no invocation of deliver
	burns     int    // receives from RetryQueue that are throttled before a message is handed over
}

type window struct{ from, to time.Duration }

func (w window) holds(now time.Duration) bool { return now >= w.from && now < w.to }

func (s *scenario) releaseDead(now time.Duration) bool  { return s.dead.holds(now) }
func (s *scenario) tablesRefuse(now time.Duration) bool { return s.refuses.holds(now) }

func (s *scenario) throttledUntil(now time.Duration) time.Duration {
	if s.throttles.holds(now) {
		return s.throttles.to
	}
	return 0
}

// calm is how long everything goes well before something happens.
const calm = 10 * time.Minute

// base is a day like any other: 1,000 events a second, a tenth of them to the largest tenant.
func base(name, says string, length time.Duration) *scenario {
	return &scenario{
		name: name, says: says, seed: 1, rate: 1000, share: 0.1, busy: 1, others: 1000, background: 0.001, length: length,
	}
}

// outage makes the largest tenant's endpoints answer as failing says until the outage ends.
func (s *scenario) outage(length time.Duration, failing answer) *scenario {
	s.up = calm + length
	s.length, s.patience = s.up, 14*time.Hour
	s.prepare = func(w *world) {
		for _, e := range w.busy {
			w.endpoints[e].affected = true
			w.endpoints[e].answer = func(w *world) answer {
				if w.now >= calm && w.now < s.up {
					return failing
				}
				return w.healthy()
			}
		}
	}
	return s
}

var (
	down  = answer{status: 503, took: 50 * time.Millisecond}
	hangs = answer{took: attemptTimeout}
)

func scenarios(hours int) []*scenario {
	day := time.Duration(hours) * time.Hour
	name := strconv.Itoa(hours) + " h"
	fifty := base("fifty", "50 endpoints of one tenant, 50 of 1,000 events/s together, are down for "+name, 0).
		outage(day, down)
	fifty.busy, fifty.share = 50, 0.05
	ten := base("ten-hang", "ten endpoints, 10 events/s each, hang at once for half an hour", 0).
		outage(30*time.Minute, hangs)
	ten.busy = 10
	all := []*scenario{
		base("nobody", "nobody is down, "+name, day),
		base("down", "the largest tenant, one endpoint with 100 of 1,000 events/s, is down for "+name, 0).
			outage(day, down),
		base("hang", "the same, but it hangs: every attempt takes its 15 s", 0).outage(day, hangs),
		base("flapping", "5 % of the endpoints are down for 10 minutes of every 20, "+name, day).flapping(),
		fifty,
		base("slow", "1 % of the answers of the busiest endpoint, 100 events/s, take 1.6 to 3 s, "+name, day).slowly(),
		base("release", "as flapping, and release does not run for an hour, 4 h", 4*time.Hour).flapping(),
		base("tables", "all our tables refuse reads and writes for 10 minutes, 3 h", 3*time.Hour),
		base("lambda", "Lambda takes no invocation of deliver for 10 minutes, 3 h", 3*time.Hour),
		base("receives", "every retry is received and throttled ten times before it is handed over, 3 h", 3*time.Hour),
		ten,
		base("thirty-slow", "30 endpoints, 3 events/s each, hang in 9 % of their answers, 30 min", 30*time.Minute).
			partly(30, 0.09),
		base("crawl", "an endpoint with 50 events/s answers 2xx, but takes 5 s for it, 30 min", 30*time.Minute).
			crawling(5 * time.Second),
		smaller(base("catch-up-1000", "an endpoint with 1,000 deliveries waiting comes back", 0), 0.28).
			outage(time.Hour, down),
		smaller(base("catch-up-day", "an endpoint with 10 events/s comes back after "+name, 0), 10).outage(day, down),
	}
	find(all, "release").dead = window{time.Hour, 2 * time.Hour}
	find(all, "tables").refuses = window{time.Hour, time.Hour + 10*time.Minute}
	find(all, "lambda").throttles = window{time.Hour, time.Hour + 10*time.Minute}
	find(all, "receives").burns = 10
	return all
}

func find(all []*scenario, name string) *scenario {
	for _, s := range all {
		if s.name == name {
			return s
		}
	}
	return nil
}

// smaller has only 100 events a second beside the endpoint in question.
func smaller(s *scenario, rate float64) *scenario {
	s.rate = 100 + rate
	s.share = rate / s.rate
	return s
}

// flapping endpoints are down for ten minutes of every twenty, each at times of its own.
func (s *scenario) flapping() *scenario {
	s.prepare = func(w *world) {
		for n := 0; n < len(w.endpoints); n += 20 {
			e := &w.endpoints[n]
			if n == 0 {
				continue // the busiest is another matter
			}
			shift := time.Duration(w.random.Int64N(int64(20 * time.Minute)))
			e.affected = true
			e.answer = func(w *world) answer {
				if (w.now+shift)%(20*time.Minute) < 10*time.Minute {
					return down
				}
				return w.healthy()
			}
		}
	}
	return s
}

func (s *scenario) slowly() *scenario {
	s.prepare = func(w *world) {
		e := &w.endpoints[w.busy[0]]
		e.affected = true
		e.answer = func(w *world) answer {
			a := w.healthy()
			if w.random.Float64() < 0.01 {
				a.took = 1600*time.Millisecond + time.Duration(w.random.Int64N(int64(1400*time.Millisecond)))
			}
			return a
		}
	}
	return s
}

// partly makes the largest tenant's endpoints hang in a share of their answers.
func (s *scenario) partly(endpoints int, share float64) *scenario {
	s.busy, s.share = endpoints, 0.09
	s.prepare = func(w *world) {
		for _, e := range w.busy {
			w.endpoints[e].affected = true
			w.endpoints[e].answer = func(w *world) answer {
				if w.random.Float64() < share {
					return hangs
				}
				return w.healthy()
			}
		}
	}
	return s
}

// crawling makes the largest tenant's endpoint slow in all its answers.
func (s *scenario) crawling(took time.Duration) *scenario {
	s.share = 0.05
	s.prepare = func(w *world) {
		e := &w.endpoints[w.busy[0]]
		e.affected = true
		e.answer = func(*world) answer { return answer{ok: true, status: 200, took: took} }
	}
	return s
}
