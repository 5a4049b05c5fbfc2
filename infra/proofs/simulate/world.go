// Package simulate plays days of deliveries in fake time: attacks on isolation, honest tenants with slow answers, and
// outages. Herald's own handlers deliver, release and deadletter run on the model of AWS that the invariants use
// (internal/testkit/model). Each of deliver's queues has a mapping of 200 processes. Only fan-out and the receivers are
// scripts.
//
// "make simulate" runs all scenarios, checks the goals of infra/docs/capacity.md and writes that page and its plots.
// testing/synctest needs a testing.T, so the command is a test. "go test ./infra/proofs/simulate" alone runs short
// forms of a few scenarios.
package simulate

import (
	"math/rand/v2"
	"time"

	"github.com/herald-webhooks/herald/internal/pipeline/deliver"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// Scenario is a course of events in the world.
type Scenario struct {
	Name    string
	Says    string
	Variant string // of a scenario that is swept
	column  string // of the sweep's table
	Kind    Kind

	Rate   float64       // deliveries a second of all others together
	Length time.Duration // of publishing

	party           // that the scenario is about
	also    []party // likewise
	against party   // attackers, where the scenario is about others
	all     bool    // the others answer likewise
	pulses  bool    // events come at times, not at a rate

	Fair bool // queues are fair

	up       time.Duration // end of the outage; 0: there is none to catch up with
	patience time.Duration // beyond it
	dead     window        // release does not run
	attacked time.Duration // how long a swept attack lasts
	refuses  window        // every table of the stack refuses
	stopped  window        // DeliveryQueue's mapping receives nothing
	limit    int           // of the subjects' endpoints, in deliveries a second
	toggles  bool          // their owner sets another limit each second
	crowd    crowd         // attackers with limits
	dying    dying         // deliveries of the subjects
}

// whole reports whether a part of the scenario would show nothing.
func (s Scenario) whole() bool {
	return s.Kind == Swept || s.Kind == Paced || s.Kind == Shared || s.Kind == Dying || s.stopped.to > 0
}

// Kind determines the goals of a scenario.
type Kind string

// The kinds.
const (
	Attack Kind = "attack"
	Honest Kind = "honest"
	Outage Kind = "outage"
	Calm   Kind = "calm"
	Swept  Kind = "swept"
	Paced  Kind = "paced"
	Shared Kind = "shared"
	Dying  Kind = "dying"
)

// crowd are tenants that have a limit on each of their endpoints and always have deliveries waiting for it. Beside
// them, one honest tenant has a flood of a minute behind it, and another recovers.
type crowd struct {
	tenants int
	hooks   int     // endpoints of each
	limit   int     // deliveries a second, of an endpoint
	factor  float64 // of the limit: the events that are published
}

// dying is a flood of deliveries that were held to the end of their lives, of one tenant's endpoints. Others have
// retries that are due meanwhile. The calls of release take time here.
type dying struct {
	aMinute int
	bytes   int // of a body
}

type window struct{ from, to time.Duration }

func (w window) holds(now time.Duration) bool { return now >= w.from && now < w.to }

// party are tenants that behave alike.
type party struct {
	tenants  int
	hooks    int // endpoints of each
	events   float64
	perEvent int // endpoints that an event of such a tenant goes to
	answer   receiver
	act      func(w *world, tenant []*hook) // instead of publishing events evenly
}

// hook is a receiver.
type hook struct {
	id, tenant string
	role       role
	answer     receiver
	shift      time.Duration
}

// member is one tenant of a party.
type member struct {
	party
	hooks []*hook
}

// Result is a scenario that was played.
type Result struct {
	Scenario
	Figures
}

type answer = model.Answer

// receiver answers a POST to a hook.
type receiver func(w *world, h *hook) answer

// world is one run of a scenario.
type world struct {
	*model.Model
	scenario Scenario
	rules    deliver.Rules
	random   *rand.Rand // of receivers, under Mu
	hooks    map[string]*hook
	others   []*hook
	members  []member
	maps     []*model.Mapping
	stats    stats
}

const (
	others      = 1000 // endpoints, two to a tenant
	processes   = 200  // of each of deliver's mappings
	deadLetters = 50   // processes
	seed        = 1
)

// calm is the time at the beginning in which everything goes well.
const calm = time.Minute

const day = 24 * time.Hour

func (w *world) now() time.Duration { return w.Elapsed() }

// slow reports whether a tenant is slow.
func (w *world) slow(tenant string) bool { return w.rules.Allowance.Slow(w.Slow[tenant], time.Now()) }

// fast are the attackers that are not slow.
func (w *world) fast() (n int) {
	for _, m := range w.members {
		if !w.slow(m.hooks[0].tenant) {
			n++
		}
	}
	return n
}

// wrongly are the tenants of the others that are slow.
func (w *world) wrongly() (n int) {
	for _, h := range w.others {
		if h.role == other && w.slow(h.tenant) {
			n++
		}
	}
	return n / 2 // each has two endpoints
}
