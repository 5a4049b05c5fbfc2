package cost

import "time"

// The constants describe auto-scaling as AWS documents it. It follows a use of two minutes above the target. The alarm
// may come a few minutes late, and the change takes some. Unused capacity of 300 s may be used at once, but that is not
// promised.
const (
	minutesAbove  = 2
	minutesChange = 3
	secondsUnused = 300.0
)

// burst is the answer of provisioned capacity to a load that grows at once.
type burst struct {
	times   float64       // the load before
	borne   time.Duration // until calls are throttled
	until   time.Duration // they no longer are, from the beginning
	refused float64       // units that were throttled, in minutes of the new load
}

// grow multiplies a load of one unit a second at once, after a long time without a change. Throttled calls are not
// repeated.
func grow(times float64) burst {
	b := burst{times: times, borne: -1}
	capacity := 1 / target
	unused := secondsUnused * (capacity - 1)
	above, change := 0, -1
	served, next := 0.0, 0.0
	for second := 1; second <= 4*hour; second++ {
		take := min(times, capacity+unused)
		unused = max(0, min(secondsUnused*capacity, unused+capacity-take))
		served += take
		if take < times {
			now := time.Duration(second) * time.Second
			if b.borne < 0 {
				b.borne = now - time.Second
			}
			b.until = now
			b.refused += (times - take) / (60 * times)
		}
		if second%60 > 0 {
			continue
		}
		mean := served / 60
		served = 0
		switch {
		case change > 0:
			if change--; change == 0 {
				capacity, above = next, 0
			}
		case mean > target*capacity:
			if above++; above == minutesAbove {
				change, next = minutesChange, mean/target
			}
		default:
			above = 0
		}
	}
	return b
}
