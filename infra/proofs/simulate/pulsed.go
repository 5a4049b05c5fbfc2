package simulate

import "time"

// pulsedLength is how long pulses are played to see whether they end. Its last third begins with the fifteenth minute.
const pulsedLength = 22*time.Minute + 30*time.Second

// pulsedScenarios are pulses right below the free time. No tariff was found that ends them and spares honest tenants.
func pulsedScenarios() []Scenario {
	of := func(pulse, tenants int, rate float64) Scenario {
		return busy{took: 2500 * time.Millisecond, pulse: pulse, tenants: tenants, longer: pulsedLength}.scenario(rate)
	}
	return []Scenario{of(40, 10, 100), of(20, 10, 100), of(4, 1, 10)}
}
