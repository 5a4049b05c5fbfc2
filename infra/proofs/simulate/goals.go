package simulate

import (
	"fmt"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/plot"
)

// The goals of isolation.
const (
	mostLate       = 0.002 // share of others' first attempts, of any day
	mostLateTen    = 0.005 // with ten attackers
	mostStalled    = 0.005 // no receiver answers for 28 s of two hours
	mostSeconds    = 40.0  // of lateness in an attack of a minute: 0.2 % of a day that has four of them
	mostSecondsTen = 108.0
	retriesLate    = 5 * time.Second
	ownLate        = time.Second
)

// mostOvertaken is by how much a delivery may be older than one before it: delays are in whole seconds.
const mostOvertaken = 3 * time.Second

// Title names a scenario and, of an attack, the rate of the others.
func (s Scenario) Title() string {
	title := s.Name
	if s.Kind == Attack || s.Kind == Swept {
		title = fmt.Sprintf("%s@%g", s.Name, s.Rate)
	}
	if s.Variant != "" {
		title += "/" + strings.NewReplacer(", ", "/", " ", "-").Replace(s.Variant)
	}
	if s.Fair {
		title += "/fair"
	}
	return title
}

// mostLate is the share of others' first attempts that may be late.
func (r Result) mostLate() float64 {
	// A goal is for a day with four attacks: an attacker comes again after a stay in SlowQueue, which is six hours.
	attacks := max(1, float64(6*time.Hour)/float64(r.Length))
	switch r.Name {
	case "ten-adaptive":
		return mostLateTen * attacks
	case "stall", "thirty": // a goal for two hours, all of it due to the beginning
		return mostStalled * max(1, float64(2*time.Hour)/float64(r.Length))
	case "tables":
		return 1 // while no table answers, nothing is delivered
	}
	if r.stopped.to > 0 {
		return 1 // nothing is delivered while the queue stands still
	}
	// At once, so that the others are late until the attacker is found or its burst is sent.
	if r.Kind == Shared || r.Kind == Attack && r.Variant != "" {
		return mostLate * attacks
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
	misses(r.Kind != Swept && r.WorstDay > r.mostLate(),
		"%.2f %% of others' first attempts are late, wanted at most %.2f %%", 100*r.WorstDay, 100*r.mostLate())
	misses(r.Wrongly > 0, "%d tenants of the others are slow", r.Wrongly)
	misses(r.RetriesP99 > r.retriesLate(),
		"others' retries are late by %s at p99, wanted at most %s", plot.Short(r.RetriesP99), retriesLate)
	misses(r.wronglyDead(), "%d deliveries are dead", r.Deaths)
	switch r.Kind {
	case Honest:
		misses(r.stopped.to == 0 && r.OwnP99 > ownLate,
			"its own first attempts are late by %s at p99, wanted at most %s", plot.Short(r.OwnP99), ownLate)
		misses(r.Slow && !strings.HasPrefix(r.Name, "six-seconds"), "it is slow")
	case Outage:
		misses(r.Left > 0, "%d deliveries of before the end of the outage wait", r.Left)
	case Paced:
		problems = append(problems, r.Pace.problems(r.Scenario)...)
	case Shared:
		problems = append(problems, r.Shares.problems(r.crowd)...)
	case Swept:
		if !r.excepted() {
			return append(problems, r.Busy.problems(r.tenants)...)
		}
	case Attack, Calm, Dying:
	}
	return problems
}

// wronglyDead reports whether deliveries died that should not. Beside an attack some may.
func (r Result) wronglyDead() bool {
	mayDie := r.Kind == Attack || r.Kind == Swept || r.Kind == Honest || r.Kind == Dying
	return r.Deaths > 0 && !mayDie
}

// excepted reports whether a swept attack is measured without a goal. Ten tenants in turn that answer right before the
// attempt timeout hold all processes ten times. Pulses into idle processes are over before there is anything to charge.
func (s Scenario) excepted() bool {
	return s.column == inTurn && s.Name == busy{took: slowest}.name() || s.column == idle
}

// problems are the goals that an attack by so many tenants misses.
func (b Busy) problems(tenants int) (problems []string) {
	seconds, share := mostSeconds, mostLate
	if tenants > 1 {
		seconds, share = mostSecondsTen, mostLateTen
	}
	if b.Seconds > seconds {
		problems = append(problems, fmt.Sprintf("others' first attempts are late for %.1f s, wanted at most %g s",
			b.Seconds, seconds))
	}
	if b.Fast > 0 && b.Going > share {
		problems = append(problems, fmt.Sprintf(
			"%d attackers are not slow, and %.2f %% are late then, wanted at most %.2f %%", b.Fast, 100*b.Going, 100*share))
	}
	return problems
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

// retriesLate is the permitted lateness of the others' retries at p99. A swept attack has too few retries for a p99,
// unless it attacks by retries.
func (r Result) retriesLate() time.Duration {
	switch {
	case r.Name == "release-dead", r.Name == "tables", r.Kind == Swept && !strings.HasPrefix(r.Name, "failing-"):
		return day
	}
	return retriesLate
}
