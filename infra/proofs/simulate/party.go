package simulate

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// party are tenants that behave alike.
type party struct {
	tenants  int
	hooks    int // endpoints of each
	events   float64
	perEvent int // endpoints that an event of such a tenant goes to
	answer   receiver
	act      func(w *world, tenant []*hook) // instead of publishing events evenly
}

// role is the part of a receiver in a scenario.
type role int

// The roles.
const (
	other    role = iota // must not be late because of the subjects
	subject              // the scenario is about it
	attacker             // loads the system for the subjects, and is not measured
)

// hook is a receiver.
type hook struct {
	id, tenant string
	role       role
	answer     receiver
	shift      time.Duration
}

// populate makes all receivers.
func (w *world) populate() {
	everybody := other
	if w.scenario.all {
		everybody = subject
	}
	for n := range others {
		w.others = append(w.others, w.own(fmt.Sprint("other-", n/2), n, everybody, w.scenario.answer))
	}
	w.join("tenant", subject, w.scenario.party)
	for n, p := range w.scenario.also {
		w.join(fmt.Sprint("tenant-", n), subject, p)
	}
	w.join("attacker", attacker, w.scenario.against)
}

// join makes the receivers of a party, and starts nothing.
func (w *world) join(name string, as role, p party) {
	for t := range p.tenants {
		var hooks []*hook
		for n := range p.hooks {
			hooks = append(hooks, w.own(fmt.Sprint(name, "-", t), n, as, p.answer))
		}
		w.members = append(w.members, member{p, hooks})
	}
}

// member is one tenant of a party.
type member struct {
	party
	hooks []*hook
}

// start begins the publishing of a tenant.
func (m member) start(w *world) {
	if m.act != nil {
		m.act(w, m.hooks)
		return
	}
	w.publishEvenly(m.party, m.hooks)
}

// publishEvenly publishes a tenant's events, at random times.
func (w *world) publishEvenly(p party, hooks []*hook) {
	w.publish(p.events, uint64(len(hooks[0].tenant)), func(random *rand.Rand) []*hook { return p.choose(random, hooks) })
}

// choose are the receivers of an event.
func (p party) choose(random *rand.Rand, hooks []*hook) []*hook {
	from := random.IntN(len(hooks)/p.perEvent) * p.perEvent
	return hooks[from : from+p.perEvent]
}
