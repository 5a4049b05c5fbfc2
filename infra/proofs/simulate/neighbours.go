package simulate

import (
	"fmt"
	"slices"
	"time"
)

// neighbours are honest tenants while others harm Herald, or Herald itself has stood still.
func neighbours() (all []Scenario) {
	for _, s := range honestTenants() {
		if s.Kind != Honest {
			continue
		}
		s.Name += "-beside"
		s.Says += "; an attacker is in the lane"
		s.against = flood(busy{took: slowest, share: 1.1, tenants: 1})
		all = append(all, s)
	}
	for _, took := range []time.Duration{900 * time.Millisecond, 2900 * time.Millisecond, slowest} {
		s := mixture(fmt.Sprintf("mix-%g", took.Seconds()),
			fmt.Sprintf("four kinds of them; ten attackers answer after %g s", took.Seconds()))
		b := busy{took: took, share: 1.1, tenants: 10}
		s.against = b.scenario(0).party
		all = append(all, s)
	}
	for _, stood := range []time.Duration{50 * time.Second, 5 * time.Minute} {
		s := mixture("catch-up-"+stood.String(), "four kinds of them; DeliveryQueue stood still for "+stood.String())
		s.stopped = window{calm, calm + stood}
		s.Length = calm + stood + 5*time.Minute
		all = append(all, s)
	}
	return all
}

// mixture is four kinds of honest tenants together, each with half of its usual events.
func mixture(name, says string) Scenario {
	all := honestTenants()
	of := func(name string) party {
		p := all[slices.IndexFunc(all, func(s Scenario) bool { return s.Name == name })].party
		p.events /= 2
		return p
	}
	s := honest(name, says, 0, nil)
	s.Length = 5 * time.Minute
	s.party = of("usual")
	s.also = []party{of("slower"), of("three-seconds"), of("crawl")}
	return s
}

// flood publishes for as long as the scenario lasts, slow or not.
func flood(b busy) party {
	p := b.scenario(0).party
	p.act = func(w *world, hooks []*hook) {
		time.Sleep(busyFrom - w.now())
		p.events = b.events()
		w.publishEvenly(p, hooks)
	}
	return p
}
