package simulate

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// held is an attack by deliveries that are put into Backlog: of events of 250 KB, to endpoints that take one delivery a
// second. So the table is throttled, and a put keeps its process until it is given up.
type held struct {
	events  float64 // a second, of all attackers
	tenants int
}

// heldPuts is how many items of 250 KB a new table takes in a second: it takes 4,000 units of a KB.
const heldPuts = 16

func heldScenarios() (all []Scenario) {
	for _, h := range []held{{2, 1}, {8, 1}, {44, 1}, {88, 1}, {44, 10}, {88, 10}} {
		who := one
		if h.tenants > 1 {
			who = ten
		}
		all = append(all, Scenario{
			Name: "held", Says: "of 250 KB, to limited endpoints, while Backlog is throttled", Variant: h.variant(who),
			column: who, Kind: Swept, Rate: 100, Length: busyFrom + busyMinute + busyAfter, attacked: busyMinute,
			party: party{
				tenants: h.tenants, hooks: busyHooks, perEvent: busyHooks, act: h.act,
				answer: func(w *world, _ *hook) answer { return w.healthy() },
			},
		})
	}
	return all
}

func (h held) variant(who string) string { return fmt.Sprintf("%s, %g a second", who, h.events) }

// act publishes a tenant's part until it is slow.
func (h held) act(w *world, hooks []*hook) {
	time.Sleep(busyFrom - w.now())
	w.limits(hooks, 1)
	w.throttleBacklog(heldPuts)
	random := rand.New(rand.NewPCG(seed, uint64(len(w.stats.created)))) //nolint:gosec // figures that can be repeated
	rate := h.events / float64(h.tenants)
	for at := w.now(); ; {
		at += time.Duration(random.ExpFloat64() / rate * float64(time.Second))
		if at >= busyFrom+busyMinute || (busy{}).sleeps(w, hooks, at) {
			return
		}
		w.fanOut(hooks)
	}
}

// throttleBacklog has Backlog take so many puts a second. The others are tried again until their time is up.
func (w *world) throttleBacklog(puts int) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if w.Judge != nil {
		return
	}
	taken := map[int64]int{}
	w.Judge = func(c *model.Call) model.Verdict {
		if c.Name != "Put Backlog" {
			return model.Done
		}
		w.Mu.Lock()
		defer w.Mu.Unlock()
		second := int64(w.now() / time.Second)
		if taken[second]++; taken[second] > puts {
			return model.Stalled
		}
		return model.Done
	}
}
