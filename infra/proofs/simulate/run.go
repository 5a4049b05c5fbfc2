package simulate

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/pipeline/release"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// Run plays a scenario. It must be called in a bubble of testing/synctest.
func Run(s Scenario) Result {
	w := newWorld(s)
	w.populate()
	w.start()
	for w.now() < s.Length {
		w.minute()
	}
	w.finish()
	w.Stop()
	r := w.result()
	time.Sleep(model.ReleaseTimeout) // for all to end
	return r
}

func newWorld(s Scenario) *world {
	w := &world{
		Model: model.New(), scenario: s, rules: functions.DefaultRules(processes),
		random: rand.New(rand.NewPCG(seed, 1)), hooks: map[string]*hook{}, //nolint:gosec // figures that can be repeated
	}
	w.States = nil
	if s.Fair {
		w.FairQueues()
	}
	w.Post = w.receive
	w.Sent, w.Received = w.sent, w.received
	if s.refuses.to > 0 {
		w.Judge = w.refuse
	}
	if s.Kind == Dying {
		w.Judge = takeTime
	}
	w.stats.own = map[string]*histogram{}
	w.stats.Bins = make([]bin, (s.Length+s.patience)/binLength+1)
	return w
}

func (w *world) own(tenant string, n int, as role, answers receiver) *hook {
	h := &hook{
		id: fmt.Sprint("webhook_", tenant, "_", n), tenant: tenant, role: as, answer: answers,
		shift: time.Duration(w.random.Int64N(int64(20 * time.Minute))),
	}
	w.hooks[h.id] = h
	w.Endpoints[h.id] = endpoint.Endpoint{
		ID: h.id, TenantID: tenant, URL: "https://receiver.example/" + h.id, Status: endpoint.Active, SecretVersion: 1,
		CreatedAt: time.Now().Add(-time.Hour), UpdatedAt: time.Now().Add(-time.Hour),
	}
	return h
}

// populate makes all receivers.
func (w *world) populate() {
	everybody := other
	if w.scenario.all {
		everybody = subject
	}
	for n := range others {
		w.others = append(w.others, w.own(fmt.Sprint("other-", n/2), n, everybody, w.scenario.answer))
	}
	w.join("tenant", subject, w.scenario.party)
	for n, p := range w.scenario.also {
		w.join(fmt.Sprint("tenant-", n), subject, p)
	}
	w.join("attacker", attacker, w.scenario.against)
}

// join makes the receivers of a party, and starts nothing.
func (w *world) join(name string, as role, p party) {
	for t := range p.tenants {
		var hooks []*hook
		for n := range p.hooks {
			hooks = append(hooks, w.own(fmt.Sprint(name, "-", t), n, as, p.answer))
		}
		w.members = append(w.members, member{p, hooks})
	}
}

// start begins mappings and publishers.
func (w *world) start() {
	w.stats.Busy.begin(w)
	for n, q := range []*model.Queue{w.DeliveryQueue, w.RetryQueue, w.SlowQueue} {
		w.maps = append(w.maps, functions.Map(w.Model, q, processes, w.rules, uint64(n)))
	}
	functions.Map(w.Model, w.DeadLetterQueue, deadLetters, w.rules, seed)
	go w.publish(w.scenario.Rate, seed, func(random *rand.Rand) []*hook {
		n := random.IntN(len(w.others))
		return w.others[n : n+1]
	})
	for _, m := range w.members {
		go m.start(w)
	}
	if w.scenario.stopped.to > 0 {
		go w.stopMapping(w.scenario.stopped)
	}
}

// start begins the publishing of a tenant.
func (m member) start(w *world) {
	if m.act != nil {
		m.act(w, m.hooks)
		return
	}
	w.publishEvenly(m.party, m.hooks)
}

func (w *world) refuse(c *model.Call) model.Verdict {
	table := !strings.HasPrefix(c.Name, "Send") && !strings.HasPrefix(c.Name, "Change") && c.Name != "answer" &&
		c.Name != "POST" && !strings.HasPrefix(c.Name, "KMS")
	if table && w.scenario.refuses.holds(w.now()) {
		return model.Refused
	}
	return model.Done
}

// minute passes a minute; release runs at its beginning.
func (w *world) minute() {
	if !w.scenario.dead.holds(w.now()) {
		random := rand.New(rand.NewPCG(seed, uint64(w.stats.runs))) //nolint:gosec // as above
		p := functions.OnModel(w.Model, "release "+strconv.Itoa(w.stats.runs), w.rules, random)
		if w.scenario.Kind == Dying {
			p.Wrap(func(b release.Backlog) release.Backlog { return weighed{b, w, make(chan struct{}, 1)} })
		}
		go p.Release()
	}
	w.stats.runs++
	w.Mu.Lock()
	w.stats.sample(w)
	w.Mu.Unlock()
	time.Sleep(w.rules.Circuit.Run - w.now()%w.rules.Circuit.Run)
}

// finish goes on until all deliveries from before the end of the outage are made.
func (w *world) finish() {
	for s := w.scenario; s.up > 0 && w.now() < s.up+s.patience; {
		w.Mu.Lock()
		left := w.stats.Left
		w.Mu.Unlock()
		if left == 0 {
			return
		}
		w.minute()
	}
}
