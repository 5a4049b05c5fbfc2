package simulate

import (
	"fmt"
	"time"
)

// The goals of isolation.
const (
	mostLate    = 0.002 // share of others' first attempts, of any day
	mostLateTen = 0.005 // with ten attackers
	mostStalled = 0.005 // when nobody answers for 28 s, of two hours
	retriesLate = 5 * time.Second
	ownLate     = time.Second
)

// Title names a scenario and, of an attack, the rate of the others.
func (s Scenario) Title() string {
	if s.Kind == Attack {
		return fmt.Sprintf("%s@%g", s.Name, s.Rate)
	}
	return s.Name
}

// mostLate is the share of others' first attempts that may be late.
func (r Result) mostLate() float64 {
	switch r.Name {
	case "ten-adaptive":
		return mostLateTen
	case "stall", "thirty": // a goal for two hours, all of it due to the beginning
		return mostStalled * max(1, float64(2*time.Hour)/float64(r.Length))
	case "tables":
		return 1 // while no table answers, nothing is delivered
	}
	return mostLate
}

// Problems are the goals that a result misses.
func (r Result) Problems() (problems []string) {
	misses := func(missed bool, format string, args ...any) {
		if missed {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	misses(r.Lost > 0, "%d deliveries are lost", r.Lost)
	misses(r.WorstDay > r.mostLate(), "%.2f %% of others' first attempts are late, wanted at most %.2f %%",
		100*r.WorstDay, 100*r.mostLate())
	misses(r.RetriesP99 > retriesLate && r.Name != "release-dead" && r.Name != "tables",
		"others' retries are late by %s at p99, wanted at most %s", r.RetriesP99, retriesLate)
	switch r.Kind {
	case Honest:
		misses(r.OwnP99 > ownLate, "its own first attempts are late by %s at p99, wanted at most %s", r.OwnP99, ownLate)
		misses(r.Slow && r.Name != "six-seconds", "it is slow")
	case Outage:
		misses(r.Left > 0, "%d deliveries of before the end of the outage wait", r.Left)
		misses(r.Deaths > 0, "%d deliveries are dead", r.Deaths)
	case Calm:
		misses(r.Deaths > 0, "%d deliveries are dead", r.Deaths)
	case Attack:
	}
	return problems
}
