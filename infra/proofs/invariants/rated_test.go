package invariants

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/rate"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

const takeSlots = "Take slots"

// limit sets the limit of an endpoint, as its owner; 0 removes it.
func (w *world) limit(id string, limit int) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.note("owner: %s takes %d a second", id, limit)
	w.edit(id, func(e *endpoint.Endpoint) { e.RateLimit = limit })
}

// rated puts a delivery into Backlog that waits for its rate, under a lease.
func (w *world) rated(endpointID string) {
	w.have(circuit.Item{EndpointID: endpointID})
	w.held(endpointID, 0)
	for _, i := range w.Backlog.Items {
		i.Message.Life.Reason = delivery.ReasonRateLimited
		w.Backlog.Set(i, time.Now())
	}
}

// within is the most POSTs to the endpoint in any time of a length.
func (w *world) within(length time.Duration) (most int) {
	var at []time.Time
	for _, p := range w.posts {
		at = append(at, p.at)
	}
	for n := range at {
		end, _ := slices.BinarySearchFunc(at, at[n].Add(length), time.Time.Compare)
		most = max(most, end-n)
	}
	return most
}

// flooded publishes 120 deliveries within a minute to an endpoint that takes one a second, and lets them end.
func flooded(t *testing.T, judge func(*call) verdict, change func(w *world, second int)) (w *world) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w = newWorld()
		w.own(hook, 200)
		w.limit(hook, 1)
		w.judgeBy(judge)
		for second := range 60 {
			w.publish(hook)
			w.publish(hook)
			change(w, second)
			w.pass(time.Second)
		}
		w.run(30*time.Minute, func() bool { return false })
		w.judgeBy(nil)
		if !w.run(16*time.Hour, w.idle) {
			w.breaks("not over: %s", w.left())
		}
		w.check()
		for l, about := range w.truth {
			if !about.acked {
				w.breaks("%s was not delivered", l.ID)
			}
		}
	})
	return w
}

func unchanged(*world, int) {}

// Whatever refuses for ten minutes while deliveries wait for their rate, none is lost, none dies, and the limit holds.
//
// Threat of a tenant: has a receiver flooded while AWS refuses calls. Held by: a slot is for one attempt; without
// slots nothing is sent.
func TestALimitHoldsWhateverIsRefused(t *testing.T) {
	t.Parallel()
	services := maps.Clone(services)
	services["slots"] = []string{takeSlots}
	services["none"] = []string{"there is no such call"}
	for _, service := range slices.Sorted(maps.Keys(services)) {
		for _, from := range []time.Duration{0, 30 * time.Second, 100 * time.Second} {
			began := time.Time{}
			w := flooded(t, func(c *call) verdict {
				if began.IsZero() {
					began = time.Now()
				}
				at := time.Since(began)
				named := func(name string) bool { return strings.HasPrefix(c.Name, name) }
				if at >= from && at < from+10*time.Minute && slices.ContainsFunc(services[service], named) {
					return model.Refused
				}
				return model.Done
			}, unchanged)
			what := fmt.Sprintf("%s refuses from %s on", service, from)
			w.mustHold(t, what)
			if second, minute := w.within(time.Second), w.within(time.Minute); second > 2 || minute > 62 || len(w.Deaths) > 0 {
				t.Errorf("%s: %d in a second, %d in a minute, %d dead\n%s", what, second, minute, len(w.Deaths),
					strings.Join(w.history, "\n"))
			}
		}
	}
}

// A call in ten has another fate: it is lost, late, or the end of its process. Then slots may be used late, by ten
// seconds or as late ones, but each POST has one.
func TestALimitHoldsWhateverHappensToCalls(t *testing.T) {
	t.Parallel()
	seeds := uint64(6)
	if budgetOf(0) > 0 {
		seeds = 200
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 0))
		var drawing sync.Mutex // calls of one process come side by side
		w := flooded(t, func(c *call) verdict {
			drawing.Lock()
			defer drawing.Unlock()
			if c.Name != "POST" && random.IntN(10) == 0 {
				return faults[random.IntN(len(faults))]
			}
			return model.Done
		}, unchanged)
		w.mustHold(t, fmt.Sprint("seed ", seed))
		most := 2 * (2 + int(rate.Punctual/time.Second))
		if second, minute := w.within(time.Second), w.within(time.Minute); second > most || minute > 2*60+most {
			t.Errorf("seed %d: %d in a second, %d in a minute\n%s", seed, second, minute, strings.Join(w.history, "\n"))
		}
	}
}

// A limit that its owner sets, lowers, raises and removes each second, while deliveries wait, loses none.
func TestALimitThatChangesEachSecondLosesNothing(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string][]int{
		"lowered": {300, 1}, "removed": {1, 0}, "raised": {1, 300}, "all": {0, 1, 300, 5},
	} {
		w := flooded(t, nil, func(w *world, second int) { w.limit(hook, limits[second%len(limits)]) })
		w.mustHold(t, name)
		if second := w.within(time.Second); second > 600 || len(w.Deaths) > 0 {
			t.Errorf("%s: %d in a second, %d dead", name, second, len(w.Deaths))
		}
	}
}
