package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// busy is an attack by tenants that keep processes busy. All of their answers are 2xx and take the same time. The sweep
// varies the rate of the attack: the time of messages that the attackers want, as a share of the time of all processes.
type busy struct {
	took    time.Duration
	share   float64 // of the processes' time; 0: no even stream
	tenants int     // that share the work
	once    int     // events at once to begin with
	pulse   int     // events at once each minute
	inTurn  bool    // each begins when the one before is slow
	fails   float64 // share of the answers that are 503
	longer  time.Duration
}

// busyTimes are the times of the answers, on both sides of the free time, up to the attempt timeout.
var busyTimes = []time.Duration{
	300 * time.Millisecond, 900 * time.Millisecond, 1500 * time.Millisecond, 2900 * time.Millisecond,
	3100 * time.Millisecond, 6 * time.Second, slowest,
}

// busyScenarios is the sweep: each attack, while others have 100 or 1,000 deliveries a second.
func busyScenarios() (all []Scenario) {
	for _, took := range busyTimes {
		for _, tenants := range []int{1, 10} {
			for _, share := range []float64{0.2, 0.7, 1.1, 2} {
				all = append(all, busy{took: took, share: share, tenants: tenants}.beside()...)
			}
			all = append(all, busy{took: took, share: 0.25, once: 40, tenants: tenants}.beside()...)
			for _, pulse := range []int{4, 40} {
				all = append(all, busy{took: took, pulse: pulse, tenants: tenants}.scenario(100))
			}
		}
		all = append(all, busy{took: took, share: 1.1, tenants: 10, inTurn: true}.scenario(100),
			busy{took: took, pulse: 4, tenants: 1}.scenario(10))
	}
	return all
}

// failingScenarios have tenants that no circuit stops, because one answer in twenty is a 2xx. So their retries keep
// processes busy.
func failingScenarios() (all []Scenario) {
	for _, took := range []time.Duration{900 * time.Millisecond, 2900 * time.Millisecond, slowest} {
		for _, share := range []float64{0.2, 0.35, 0.5, 1.1} {
			all = append(all, busy{took: took, share: share, tenants: 1, fails: 0.95}.scenario(1000))
		}
	}
	return all
}

func (b busy) beside() []Scenario { return []Scenario{b.scenario(100), b.scenario(1000)} }

func (b busy) scenario(rate float64) Scenario {
	return Scenario{
		Name: b.name(), Says: b.says(), Variant: b.String(), column: b.column(rate), Kind: Swept, Rate: rate,
		Length: busyFrom + b.lasts() + busyAfter, attacked: b.lasts(),
		party: party{
			tenants: b.tenants, hooks: busyHooks, perEvent: busyHooks,
			answer: b.answer, act: b.act,
		},
	}
}

// lasts is the length of the attack. Pulses and retries come later than a minute, and ten in turn one after the other.
func (b busy) lasts() time.Duration {
	switch {
	case b.longer > 0:
		return b.longer
	case b.inTurn:
		return 5 * busyMinute
	case b.fails > 0:
		return 3 * busyMinute
	case b.pulse > 4 && b.tenants > 1:
		return 15 * busyMinute
	case b.pulse > 0:
		return 6 * busyMinute
	}
	return busyMinute
}

// String says how the attack is made, such as "ten, 1.1" or "one, 40 a minute".
func (b busy) String() string {
	who := "one"
	if b.tenants > 1 {
		who = "ten"
	}
	switch {
	case b.inTurn:
		return fmt.Sprintf("%s in turn, %g", who, b.share)
	case b.pulse > 0:
		return fmt.Sprintf("%s, %d a minute", who, b.pulse)
	case b.once > 0:
		return fmt.Sprintf("%s, %d and %g", who, b.once, b.share)
	}
	return fmt.Sprintf("%s, %g", who, b.share)
}

// The columns of the sweep's table.
const (
	one    = "one"
	ten    = "ten"
	inTurn = "in turn"
	idle   = "idle"
)

func (b busy) column(rate float64) string {
	switch {
	case b.inTurn:
		return inTurn
	case rate < 100:
		return idle
	case b.tenants > 1:
		return ten
	}
	return one
}

// name is the family: all attacks with answers after one time.
func (b busy) name() string {
	if b.fails > 0 {
		return fmt.Sprintf("failing-%g", b.took.Seconds())
	}
	return fmt.Sprintf("busy-%g", b.took.Seconds())
}

func (b busy) says() string {
	if b.fails > 0 {
		return fmt.Sprintf("%g %% 503, else 2xx, after %g s", 100*b.fails, b.took.Seconds())
	}
	return fmt.Sprintf("2xx after %g s", b.took.Seconds())
}

func (b busy) answer(w *world, _ *hook) answer {
	if w.random.Float64() < b.fails {
		return answer{Status: 503, Took: b.took}
	}
	return ok(b.took)
}

// events is the rate of one attacker's events.
func (b busy) events() float64 {
	messages := b.share * processes * batchSize / b.took.Seconds()
	at := float64(b.tenants)
	if b.inTurn {
		at = 1
	}
	return messages / busyHooks / at
}

// act publishes a tenant's part until it is slow: then its deliveries have a lane of their own.
func (b busy) act(w *world, hooks []*hook) {
	number := slices.IndexFunc(w.members, func(m member) bool { return m.hooks[0] == hooks[0] })
	b.await(w, number)
	if b.pulse > 0 {
		b.pulses(w, hooks, number)
		return
	}
	for range b.once / b.tenants {
		w.fanOut(hooks)
	}
	random := rand.New(rand.NewPCG(seed, uint64(1000+number))) //nolint:gosec // figures that can be repeated
	at := w.now()
	for {
		at += time.Duration(random.ExpFloat64() / b.events() * float64(time.Second))
		if at >= busyFrom+b.lasts() || b.sleeps(w, hooks, at) {
			return
		}
		w.fanOut(hooks)
	}
}

// pulses publishes a tenant's part of the events that come at once each minute.
func (b busy) pulses(w *world, hooks []*hook, number int) {
	for at := w.now(); at < busyFrom+b.lasts(); at += time.Minute {
		if b.sleeps(w, hooks, at) {
			return
		}
		for n := number; n < b.pulse; n += b.tenants {
			w.fanOut(hooks)
		}
	}
}

// await waits for the attack, and in turn for the attacker before.
func (b busy) await(w *world, number int) {
	time.Sleep(busyFrom - w.now())
	if b.inTurn && number > 0 {
		b.sleeps(w, w.members[number-1].hooks, busyFrom+b.lasts())
	}
}

// sleeps sleeps until a time, or until a tenant is slow, which it reports.
func (b busy) sleeps(w *world, hooks []*hook, until time.Duration) bool {
	const look = 100 * time.Millisecond
	for {
		w.Mu.Lock()
		slow := w.slow(hooks[0].tenant)
		w.Mu.Unlock()
		rest := until - w.now()
		if slow || rest <= 0 {
			return slow
		}
		time.Sleep(min(look, rest))
	}
}
