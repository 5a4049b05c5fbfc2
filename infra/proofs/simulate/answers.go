package simulate

import (
	"math"
	"math/rand/v2"
	"time"
)

// ok is a 2xx after so long.
func ok(took time.Duration) answer { return answer{Status: 200, Took: took} }

// spread is a log-normal distribution of latency.
type spread struct{ median, p99 time.Duration }

// z99 is the 99th percentile of the standard normal distribution.
const z99 = 2.3263

func (s spread) draw(random *rand.Rand) time.Duration {
	sigma := math.Log(float64(s.p99)/float64(s.median)) / z99
	return time.Duration(float64(s.median) * math.Exp(sigma*random.NormFloat64()))
}

var (
	usual  = spread{200 * time.Millisecond, time.Second}
	slower = spread{500 * time.Millisecond, 2500 * time.Millisecond}
	down   = answer{Status: 503, Took: 50 * time.Millisecond}
	hangs  = answer{}
)

// the slowest 2xx that an attempt waits for.
const slowest = 14500 * time.Millisecond

// failing is the share of others' answers that are 503.
const failing = 0.001

func (w *world) healthy() answer {
	if w.random.Float64() < failing {
		return down
	}
	return ok(usual.draw(w.random))
}

// after lets the endpoints answer as usual while it is calm.
func after(then receiver) receiver {
	return func(w *world, h *hook) answer {
		if w.now() < calm {
			return w.healthy()
		}
		return then(w, h)
	}
}

func always(a answer) receiver {
	return after(func(*world, *hook) answer { return a })
}

// sometimes answers so in a share of the answers.
func sometimes(share float64, took time.Duration) receiver {
	return after(func(w *world, _ *hook) answer {
		if w.random.Float64() < share {
			return ok(took)
		}
		return w.healthy()
	})
}

// until answers so until the outage ends.
func until(a answer, up time.Duration) receiver {
	return after(func(w *world, _ *hook) answer {
		if w.now() < up {
			return a
		}
		return w.healthy()
	})
}

// flaps fails for ten minutes of every twenty. Each endpoint fails at different times.
func flaps(w *world, h *hook) answer {
	if w.now() >= calm && (w.now()+h.shift)%(20*time.Minute) < 10*time.Minute {
		return down
	}
	return w.healthy()
}
