package health

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// seen is what a batch of deliver read, and when.
type seen struct {
	view     View
	endpoint Endpoint
	at       time.Time
}

// search is a run of release that looks through all shards, which takes a while.
type search struct {
	seen
	empty bool // it found nothing
}

// machine is one endpoint with the table's item, what is held in Backlog, and batches of deliver
// that act on what they read some time ago.
type machine struct {
	world
	settings Settings
	held     int
	batches  []seen
	searches []search
}

func (m *machine) read(*rapid.T) {
	m.batches = append(m.batches, seen{m.view, m.endpoint, m.now})
}

// batch takes one of the batches that may still run: its view is at most ViewAge old when it
// begins, and it takes a function's timeout at most.
func (m *machine) batch(t *rapid.T) seen {
	var live []seen
	for _, b := range m.batches {
		if m.now.Sub(b.at) <= m.settings.ViewAge+m.settings.FunctionTimeout {
			live = append(live, b)
		}
	}
	m.batches = live
	if len(live) == 0 {
		t.Skip("no batch")
	}
	return rapid.SampledFrom(live).Draw(t, "batch")
}

// store takes a moment: nobody writes twice at the same time.
func (m *machine) store(w Write) {
	m.world = m.world.store(w)
	m.now = m.now.Add(time.Microsecond)
}

// park holds a delivery as a batch decides by what it read, or asks again when the item has
// changed, or gives up.
func (m *machine) park(t *rapid.T) {
	b := m.batch(t)
	d := b.view.Decide(Question{Disabled: b.endpoint.Disabled}, m.now)
	if b.endpoint.Gone || d.Action != Hold {
		return
	}
	if d.First.Kind != Nothing {
		stored, ok := d.First.Apply(m.view.Endpoint)
		if !ok {
			return // it stays on its queue
		}
		m.view.Endpoint = stored
		m.now = m.now.Add(time.Microsecond)
	}
	m.held++
}

func (m *machine) observe(t *rapid.T) {
	b := m.batch(t)
	results := failures(rapid.IntRange(1, 20).Draw(t, "failures"))
	if rapid.Bool().Draw(t, "2xx") {
		results[0].OK = true
	}
	results[0].Probe = b.view.Endpoint.Probe
	for n := range results {
		results[n].Begun = b.at
	}
	m.store(b.view.Observe(m.settings, results, m.now))
}

func (m *machine) release(t *rapid.T) {
	plan := m.view.Plan(m.settings, m.endpoint, m.now)
	m.store(plan.Turn)
	if plan.Probe && m.held > 0 {
		m.store(m.view.Claim(m.settings, m.endpoint, m.now))
		m.held--
	}
	if plan.Recover && m.held > 0 {
		sent := min(m.held, rapid.IntRange(0, 3).Draw(t, "sent"))
		m.held -= sent
		m.store(m.view.Released(m.view.Endpoint.Pace(m.settings, m.now, m.now), sent, m.now, m.now))
	}
	if m.endpoint.Gone && plan.Search {
		m.held = 0
	}
	if plan.Search {
		m.searches = append(m.searches, search{seen: seen{m.view, m.endpoint, m.now}})
	}
}

// look is when the shards are read. What was found in them stays true of nothing but that moment.
func (m *machine) look(*rapid.T) {
	for n := range m.searches {
		m.searches[n].empty = m.held == 0
	}
}

// close ends the searches of release, of which each takes less than a tick.
func (m *machine) close(*rapid.T) {
	for _, s := range m.searches {
		if s.empty && m.now.Sub(s.at) < m.settings.Tick {
			m.store(s.view.Empty(m.settings, s.endpoint, s.at))
		}
	}
	m.searches = nil
}

func (m *machine) control(t *rapid.T) {
	var write Write
	switch rapid.IntRange(0, 3).Draw(t, "control") {
	case 0:
		write, _ = m.view.item().Pause(m.now)
	case 1:
		write, _ = m.view.item().Resume(m.now)
	case 2:
		write, _ = m.view.Release(m.endpoint, m.now)
	case 3:
		write = m.view.item().Discard(m.now.Add(-time.Hour), m.now)
	}
	m.store(write)
}

func (m *machine) tenant(*rapid.T) {
	m.view.Tenant = Item{TenantID: "tenant", Paused: !m.view.Tenant.Paused}
}

func (m *machine) owner(t *rapid.T) {
	m.endpoint = Endpoint{Disabled: !m.endpoint.Disabled && rapid.Bool().Draw(t, "disabled"), ChangedAt: m.now}
	m.endpoint.Gone = !m.endpoint.Disabled && rapid.Bool().Draw(t, "deleted")
}

func (m *machine) wait(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(1, 90_000).Draw(t, "ms")) * time.Millisecond)
}

// check is the invariant: what is held is known, and finds its way out when all is well.
func (m *machine) check(t *rapid.T) {
	i := m.view.Endpoint
	if m.held > 0 && !i.Held {
		t.Fatalf("%d deliveries are held under %+v", m.held, i)
	}
	if strands(m.world) {
		t.Fatalf("nothing turns %+v", i)
	}
	if i.State == Open && i.Failures < m.settings.ReopenFailures {
		t.Fatalf("open after %d failures: %+v", i.Failures, i)
	}
}

// Batches that act on old views, lost writes, operators, owners and release in any order.
func TestItem_strandsNothingInAnyInterleaving(t *testing.T) { rapid.Check(t, interleave) }

func FuzzItem_strandsNothing(f *testing.F) { f.Fuzz(rapid.MakeFuzz(interleave)) }

func interleave(t *rapid.T) {
	m := &machine{world: newWorld(), settings: Default()}
	m.settings.Span, m.settings.BusySpan, m.settings.ReopenSpan = 0, 0, 0 // open often
	t.Repeat(map[string]func(*rapid.T){
		"read": m.read, "park": m.park, "observe": m.observe, "release": m.release, "look": m.look, "close": m.close,
		"control": m.control, "tenant": m.tenant, "owner": m.owner, "wait": m.wait, "": m.check,
	})
}

// brief are the events that may happen while a batch is under way.
func brief() (all []event) {
	for _, e := range events {
		if slices.Contains([]string{
			"2xx", "paused", "resumed", "tenant paused", "tenant resumed", "release runs", "disabled", "active again",
			"released",
		}, e.name) {
			all = append(all, e)
		}
	}
	return append(all,
		event{"nothing", func(w world) world { return w }},
		event{"a run that found nothing ends", func(w world) world {
			return w.store(w.view.Empty(Default(), w.endpoint, w.now))
		}})
}

// release finds nothing that waits for an endpoint that is deleted. Before it says so, the endpoint is restored,
// a batch reads what there is then, and anything may happen in any order until the batch holds: what it holds is
// known, in every reachable state.
func TestView_Empty_forgetsNothingThatABatchHoldsOnceTheEndpointIsRestored(t *testing.T) {
	seen, held := map[string]bool{}, 0
	explore(func(_ string, _, w world) {
		if seen[w.key()] {
			return
		}
		seen[w.key()] = true
		gone := Endpoint{Gone: true, ChangedAt: w.now}
		w = w.after(time.Hour)
		empty := w.view.Empty(Default(), gone, w.now)
		w.endpoint = Endpoint{ChangedAt: w.now} // restored
		steps := append(brief(), event{"release says so", func(w world) world { return w.store(empty) }})
		for _, first := range steps {
			read := first.do(w)
			for _, second := range steps {
				for _, third := range steps {
					after, holds := read.hold(third.do(second.do(read)))
					if holds {
						held++
					}
					if holds && (!after.view.Endpoint.Held || strands(after)) {
						t.Errorf("%s -%s, %s, %s-> something is held under %s", w.key(), first.name, second.name, third.name,
							after.key())
					}
				}
			}
		}
	})
	if held < 10_000 {
		t.Errorf("%d times something was held", held)
	}
	t.Logf("%d states, %d times something was held", len(seen), held)
}

// hold is what a batch does that read w: it holds, if what it read says so and what it has to store first is taken.
func (w world) hold(now world) (after world, holds bool) {
	d := w.view.Decide(Question{Disabled: w.endpoint.Disabled}, w.now)
	if d.Action != Hold {
		return now, false
	}
	if d.First.Kind != Nothing {
		now.view.Endpoint, holds = d.First.Apply(now.view.Endpoint)
		return now, holds // refused, it stays on its queue
	}
	return now, true
}
