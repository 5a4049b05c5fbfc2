package simulate

import "time"

// attack is one tenant with 50 endpoints, one event a second to all of them.
func attack(name, says string, answers receiver) Scenario {
	return Scenario{
		Name: name, Says: says, Kind: Attack, Rate: 1000, Length: 2 * time.Hour,
		party: party{tenants: 1, hooks: 50, events: 1, perEvent: 50, answer: answers},
	}
}

func attacks() []Scenario {
	pulses := func(name, says string, every time.Duration) Scenario {
		s := attack(name, says, always(ok(slowest)))
		s.pulses, s.act = true, func(w *world, hooks []*hook) { w.pulse(hooks, every) }
		return s
	}
	adaptive := attack("adaptive", "likewise, again the moment it is no longer slow", always(ok(slowest)))
	adaptive.pulses, adaptive.act = true, (*world).adapt
	tenAtOnce := adaptive
	tenAtOnce.Name = "ten-adaptive"
	tenAtOnce.Says = "ten such tenants"
	tenAtOnce.tenants = 10
	flap := attack("flap", "fails for 10 minutes of every 20", flaps)
	toggle := func(name, says string, cycle time.Duration, off window) Scenario {
		s := attack(name, says, always(hangs))
		s.act = func(w *world, hooks []*hook) {
			go w.toggle(hooks, cycle, off)
			w.publishEvenly(w.scenario.party, hooks)
		}
		return s
	}
	return []Scenario{
		attack("hang", "never answers", always(hangs)),
		attack("always", "2xx after 14.5 s", always(ok(slowest))),
		attack("two-percent", "2 % of the 2xx after 14.5 s", sometimes(0.02, slowest)),
		pulses("pulse-minute", "two events a minute, 2xx after 14.5 s", time.Minute),
		pulses("pulse-hour", "likewise, an hour", time.Hour),
		pulses("pulse-day", "likewise, a day", 24*time.Hour),
		adaptive, tenAtOnce, flap,
		toggle("toggle", "never answers, switched off and on every minute",
			2*time.Minute, window{time.Minute, 2 * time.Minute}),
		toggle("toggle-in-phase", "likewise, off 5 s after each run of `release` and on right before the next",
			time.Minute, window{5 * time.Second, 59 * time.Second}),
		attack("down", "is down", always(down)),
	}
}

// honest is one tenant among the others. Its own deliveries must not be late.
func honest(name, says string, perSecond float64, answers receiver) Scenario {
	return Scenario{
		Name: name, Says: says, Kind: Honest, Rate: 500, Length: 2 * time.Hour,
		party: party{tenants: 1, hooks: 50, events: perSecond, perEvent: 1, answer: answers},
	}
}

func honestTenants() []Scenario {
	like := func(s spread) receiver {
		return func(w *world, _ *hook) answer { return ok(s.draw(w.random)) }
	}
	thirty := Scenario{
		Name: "thirty", Says: "30 honest tenants, 1 delivery/s each, hang for an hour", Kind: Calm, Rate: 1000,
		Length: 2 * time.Hour,
		party:  party{tenants: 30, hooks: 1, events: 1, perEvent: 1, answer: until(hangs, calm+time.Hour)},
	}
	stall := Scenario{
		Name: "stall", Says: "nobody answers for 28 s", Kind: Calm, Rate: 1000, Length: 2 * time.Hour,
		all: true, party: party{answer: func(w *world, _ *hook) answer {
			if end := calm + 28*time.Second; w.now() >= calm && w.now() < end {
				return ok(end - w.now() + usual.draw(w.random))
			}
			return w.healthy()
		}},
	}
	replay := Scenario{
		Name: "replay", Says: "a job replays 100,000 dead letters", Kind: Calm, Rate: 100,
		Length: 75 * time.Minute, party: party{tenants: 1, hooks: 50, act: (*world).replay},
	}
	hanging := replay
	hanging.Name = "replay-hang"
	hanging.Says = "the same, and nobody answers"
	hanging.answer = always(hangs)
	return []Scenario{
		honest("usual", "100/s, median 200 ms, p99 1 s", 100, like(usual)),
		honest("slower", "100/s, median 500 ms, p99 2.5 s", 100, like(slower)),
		honest("three-seconds", "500/s, 1 % after 3 s", 500, sometimes(0.01, 3*time.Second)),
		honest("six-seconds", "500/s, 1 % after 6 s; becomes slow", 500, sometimes(0.01, 6*time.Second)),
		honest("crawl", "100/s after 1.5 s each", 100, always(ok(1500*time.Millisecond))),
		thirty, stall, replay, hanging,
	}
}

// outage is one endpoint that fails for so long. It then has eight hours to catch up.
func outage(name, says string, perSecond float64, length time.Duration) Scenario {
	return Scenario{
		Name: name, Says: says, Kind: Outage, Rate: 1, Length: calm + length,
		party: party{tenants: 1, hooks: 1, events: perSecond, perEvent: 1, answer: until(down, calm+length)},
		up:    calm + length, patience: 8 * time.Hour,
	}
}

func outages() []Scenario {
	flapping := Scenario{
		Name: "flapping", Says: "5 % of all endpoints fail for 10 minutes of every 20", Kind: Calm, Rate: 10,
		Length: 4 * time.Hour, party: party{tenants: 50, hooks: 1, events: 0.1, perEvent: 1},
	}
	flapping.answer = flaps
	stopped := flapping
	stopped.Name, stopped.Says = "release-dead", "the same, without `release` for an hour"
	stopped.dead = window{time.Hour, 2 * time.Hour}
	refusing := Scenario{
		Name: "tables", Says: "all tables refuse for ten minutes", Kind: Outage, Rate: 20,
		Length: 2 * time.Hour, refuses: window{time.Hour, 70 * time.Minute},
		up: 2 * time.Hour, patience: 14 * time.Hour,
	}
	return []Scenario{
		outage("day", "1 delivery/s, down for a day", 1, day),
		outage("six-days", "0.2 deliveries/s, down for six days", 0.2, 6*day),
		flapping, stopped, refusing,
	}
}
