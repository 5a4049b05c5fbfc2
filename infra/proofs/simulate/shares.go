package simulate

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

const (
	mostWanted  = 1000 // deliveries a second of all attackers together
	burst       = 60   // events of each attacker to begin with, for up to 500 endpoints of all
	honestLimit = 100  // deliveries a second

	// The honest recovery.
	recovering  = 25 // endpoints
	heldForEach = 480
	recoversAt  = calm + time.Minute
	recoversFor = 3 * time.Minute // and has then sent everything, if it is alone
)

// crowdScenarios sweep tenants, limits and floods, as far as the attackers together want no more than mostWanted.
func crowdScenarios() []Scenario {
	all := []Scenario{crowd{}.scenario()}
	for _, tenants := range []int{1, 10, 50} {
		for _, limit := range []int{1, 10, 100} {
			for _, factor := range []float64{0.5, 1.1, 10} {
				c := crowd{tenants: tenants, limit: limit, factor: factor}
				c.hooks = min(busyHooks, int(mostWanted/(float64(tenants*limit)*factor)))
				if c.hooks > 0 {
					all = append(all, c.scenario())
				}
			}
		}
	}
	return all
}

func (c crowd) scenario() Scenario {
	honest := rated{limit: honestLimit, hooks: 1, published: 6 * honestLimit, lasts: time.Minute}
	return Scenario{
		Name: "paces", Says: "tenants with limits", Variant: c.String(), Kind: Shared, Rate: 10,
		Length: recoversAt + recoversFor, limit: honestLimit,
		party: party{tenants: 1, hooks: 1, events: honest.published, perEvent: 1, act: honest.act},
		also:  []party{{tenants: 1, hooks: recovering, act: (*world).recover}},
		against: party{
			tenants: c.tenants, hooks: c.hooks, events: float64(c.limit) * c.factor, perEvent: max(c.hooks, 1), act: c.act,
		},
		crowd: c,
	}
}

// String names the attackers, such as "10 tenants, 50x1x1.1": endpoints of each × limit × factor.
func (c crowd) String() string {
	if c.tenants == 0 {
		return "alone"
	}
	return fmt.Sprintf("%d tenants, %dx%dx%g", c.tenants, c.hooks, c.limit, c.factor)
}

// wants is what the attackers together publish, in deliveries a second.
func (c crowd) wants() float64 { return float64(c.tenants*c.hooks*c.limit) * c.factor }

// act publishes the burst of an attacker, and then as many events as its part of the sweep says.
func (c crowd) act(w *world, hooks []*hook) {
	w.limits(hooks, c.limit)
	time.Sleep(calm - w.now())
	for range min(burst, burst*500/(c.tenants*c.hooks)) {
		w.fanOut(hooks)
	}
	w.publishEvenly(w.scenario.against, hooks)
}

// recover lets endpoints answer again that were down: their deliveries wait in Backlog.
func (w *world) recover(hooks []*hook) {
	time.Sleep(recoversAt - time.Second - w.now())
	random := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // figures that can be repeated
	w.Mu.Lock()
	defer w.Mu.Unlock()
	for _, h := range hooks {
		for range heldForEach {
			w.waits(h, random, delivery.Move{
				Attempts: 4, Due: time.Now().Add(retry.MaxLife), Held: true,
				Life: delivery.Life{StartedAt: time.Now(), DueAt: time.Now(), Reason: delivery.ReasonHTTP5xx, Status: 503},
			})
		}
		now := time.Now()
		w.Circuits[h.id] = circuit.Item{
			TenantID: h.tenant, EndpointID: h.id, Version: now.UnixNano(), State: circuit.Recovering, Since: now,
			RecoveredAt: now, HeldUntil: now.Add(w.rules.Circuit.Lease),
		}
	}
}

// waits puts a delivery into Backlog that was attempted before. It is called under Mu.
func (w *world) waits(h *hook, random *rand.Rand, move delivery.Move) {
	now := time.Now()
	w.Backlog.Set(backlog.New(w.message(h), move, now, fmt.Sprintf("%016x", random.Uint64())), now)
	w.stats.created[len(w.stats.created)-1].attempted = true
}

func (s *Shares) posts(w *world, h *hook) {
	switch now := w.now(); {
	case w.scenario.Kind != Shared:
	case w.Endpoints[h.id].RateLimit == 0 && now < recoversAt+recoversFor:
		s.Recovered++
	case w.Endpoints[h.id].RateLimit > 0 && now >= recoversAt && now < recoversAt+recoversFor:
		s.paced++
	}
}

func (s *Shares) end() {
	s.Paced = float64(s.paced) / recoversFor.Seconds()
}

// problems are the goals that are missed: what each honest tenant gets of what it has alone.
func (s Shares) problems(c crowd) (problems []string) {
	goal := 0.95
	if c.tenants > 10 {
		goal = 0.8
	}
	if s.Paced < goal*honestLimit {
		problems = append(problems, fmt.Sprintf(
			"the honest pace is %.1f a second, wanted at least %g", s.Paced, goal*honestLimit))
	}
	if want := goal * recovering * heldForEach; float64(s.Recovered) < want {
		problems = append(problems, fmt.Sprintf("the recovery has sent %d, wanted at least %g", s.Recovered, want))
	}
	return problems
}
