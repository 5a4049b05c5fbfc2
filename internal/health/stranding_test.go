package health

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// seen is what a batch of deliver read, and when.
type seen struct {
	view     View
	disabled bool
	at       time.Time
}

// machine is one endpoint with the table's item, what is held in Backlog, and batches of deliver
// that act on what they read some time ago.
type machine struct {
	world
	settings Settings
	held     int
	batches  []seen
}

func (m *machine) read(*rapid.T) {
	m.batches = append(m.batches, seen{m.view, m.endpoint.Disabled, m.now})
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

// park holds a delivery as a batch decides by what it read, or asks again when the item has
// changed, or gives up.
func (m *machine) park(t *rapid.T) {
	b := m.batch(t)
	d := b.view.Decide(Question{Disabled: b.disabled}, m.now)
	if d.Action != Hold {
		return
	}
	if d.First.Kind != Nothing {
		stored, ok := d.First.Apply(m.view.Endpoint)
		if !ok {
			return // it stays on its queue
		}
		m.view.Endpoint = stored
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
	m.world = m.store(b.view.Observe(m.settings, results, m.now))
}

func (m *machine) release(t *rapid.T) {
	plan := m.view.Plan(m.settings, m.endpoint, m.now)
	m.world = m.store(plan.Turn)
	if plan.Probe && m.held > 0 {
		m.world = m.store(m.view.Claim(m.settings, m.endpoint, m.now))
		m.held--
	}
	if plan.Recover && m.held > 0 {
		sent := min(m.held, rapid.IntRange(0, 3).Draw(t, "sent"))
		m.held -= sent
		m.world = m.store(m.view.Released(m.view.Endpoint.Pace(m.settings, m.now, m.now), sent, m.now, m.now))
	}
	if m.held == 0 {
		m.world = m.store(m.view.Empty(m.settings, m.endpoint, m.now))
	}
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
	m.world = m.store(write)
}

func (m *machine) tenant(*rapid.T) {
	m.view.Tenant = Item{TenantID: "tenant", Paused: !m.view.Tenant.Paused}
}

func (m *machine) owner(*rapid.T) {
	m.endpoint = Endpoint{Disabled: !m.endpoint.Disabled, ChangedAt: m.now}
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
		"read": m.read, "park": m.park, "observe": m.observe, "release": m.release, "release again": m.release,
		"control": m.control, "tenant": m.tenant, "owner": m.owner, "wait": m.wait, "": m.check,
	})
}
