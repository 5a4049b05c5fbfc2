package health

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/retry"
)

// traveller is one delivery to an endpoint that acknowledges others and never this one.
type traveller struct {
	world
	schedule retry.Schedule
	attempts int // places used
	life     delivery.Life
	parked   Waiting
	asks     time.Duration // Retry-After of its answers
	posts    int
	dead     bool
}

// post fails an attempt and parks the delivery again, as deliver does.
func (d *traveller) post(last bool, place int) {
	d.posts++
	life := d.life
	life.Last = last
	standing := delivery.Standing{Place: place, Receives: 1, Life: life, Now: d.now.Add(time.Second)}
	out := delivery.Outcome{Reason: delivery.ReasonHTTP4xx, Status: 400, RetryAfter: d.asks}
	next := standing.Failed(d.schedule, out, d.now)
	d.attempts, d.life, d.dead = next.Attempts, next.Life, next.To == delivery.ToDeadLetterQueue
	if !d.dead && next.To != delivery.ToBacklog {
		d.now = next.Due
		d.post(false, place+1)
		return
	}
	d.parked = Waiting{Held: next.Held, ParkedAt: d.now.Add(time.Second), StartedAt: life.StartedAt,
		DueAt: next.Due, DiesAt: next.Life.DiesAt, NotBefore: standing.Now.Add(d.asks)}
}

// run is one tick of release.
func (d *traveller) run() {
	switch f := d.view.Fate(Default(), d.endpoint, d.parked, d.now); f.Step {
	case SendDue:
		d.now = latest(d.now, d.parked.DueAt)
		d.post(false, d.schedule.Place(d.attempts, 1))
	case SendRecovery:
		d.post(false, d.schedule.Place(d.attempts, 1))
	case SendLast:
		d.post(true, d.schedule.Place(d.attempts, 1))
	case Redate:
		d.parked.Held, d.parked.DueAt = true, d.parked.DiesAt
	case Die, Drop:
		d.dead = true
	case Keep:
	}
}

// A receiver gets no delivery more often than its schedule says, but for probes, one attempt for each
// time that the endpoint recovered, and the two about the end of its life.
func TestView_Fate_boundsTheAttemptsOfADelivery(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := traveller{world: newWorld(), schedule: retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9}}
		d.life.StartedAt = d.now
		d.asks = time.Duration(rapid.IntRange(0, 90).Draw(t, "Retry-After")) * time.Minute
		d.post(false, 1)
		recoveries := 0
		for !d.dead && d.now.Sub(epoch) < 8*24*time.Hour {
			if rapid.IntRange(0, 300).Draw(t, "state changes") == 0 {
				state := rapid.SampledFrom([]State{None, Failing, Open, Recovering}).Draw(t, "state")
				d.view.Endpoint = d.view.item().enter(state, d.now)
				if state == Recovering {
					recoveries++
				}
			}
			d.now = d.now.Add(time.Minute)
			d.run()
		}
		if most := d.schedule.MaxRetries + 1 + recoveries + 2; d.posts > most || !d.dead {
			t.Fatalf("%d attempts, want at most %d; dead: %t", d.posts, most, d.dead)
		}
	})
}
