package simulate

import (
	"fmt"
	"slices"
	"time"
)

// Scenarios are all: attacks at three rates of the others' deliveries.
func Scenarios() (all []Scenario) {
	for _, s := range attacks() {
		for _, rate := range []float64{1000, 100, 10} {
			s.Rate, s.Length = rate, day
			s.events = 0.1
			if rate == 1000 {
				s.Length, s.events = 2*time.Hour, 1
			}
			all = append(all, s)
		}
		all = append(all, s.atRates()...)
	}
	week := attack("down-week", "is down for a week", always(down))
	week.Rate = 5
	week.Length = 7 * day
	week.events = 0.01
	return slices.Concat(
		all, []Scenario{week}, busyScenarios(), failingScenarios(), honestTenants(), neighbours(), outages(),
		pacedScenarios(), crowdScenarios(), dyingScenarios(), pulsedScenarios(), heldScenarios(),
	)
}

// atRates are further rates of an attack's events, where it has one.
func (s Scenario) atRates() (all []Scenario) {
	if s.pulses {
		return nil
	}
	for _, events := range []float64{1, 4, 16} {
		s.Rate = 100
		s.Length = 30 * time.Minute
		s.events = events
		s.Variant = fmt.Sprintf("%g events a second", events)
		all = append(all, s)
	}
	return all
}
