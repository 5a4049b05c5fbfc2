package health

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// world is one endpoint, its tenant, what the table holds of both, and the clock.
type world struct {
	view     View
	endpoint Endpoint
	now      time.Time
}

var epoch = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func newWorld() world {
	return world{view: View{TenantID: "tenant", EndpointID: "webhook_1"}, now: epoch}
}

// store applies a write as the table does.
func (w world) store(write Write) world {
	w.view.Endpoint, _ = write.Apply(w.view.Endpoint)
	return w
}

func (w world) after(d time.Duration) world {
	w.now = w.now.Add(d)
	return w
}

func (w world) observe(results ...Result) world {
	for n := range results {
		results[n].Begun = w.now
	}
	return w.store(w.view.Observe(Default(), results, w.now.Add(time.Second)))
}

func failures(n int) []Result {
	var all []Result
	for i := range n {
		all = append(all, Result{DeliveryID: fmt.Sprint("msg_", i), Status: 503, Reason: "http_5xx", Retry: true})
	}
	return all
}

func (w world) tick() world {
	return w.store(w.view.Plan(Default(), w.endpoint, w.now).Turn)
}

type event struct {
	name string
	do   func(w world) world
}

// events are everything that can happen to an endpoint, by the words of the diagram.
var events = []event{
	{"failures", func(w world) world { return w.after(5 * time.Minute).observe(failures(3)...) }},
	{"2xx", func(w world) world {
		if w.holding() {
			return w // nothing is sent but what the next two are about
		}
		return w.after(time.Second).observe(Result{OK: true})
	}},
	{"2xx of a probe", func(w world) world {
		if w = w.after(6 * time.Minute); !w.view.Plan(Default(), w.endpoint, w.now).Probe {
			return w
		}
		w = w.store(w.view.Claim(Default(), w.endpoint, w.now)).after(time.Second)
		return w.observe(Result{OK: true, Probe: w.view.Endpoint.Probe})
	}},
	{"", func(w world) world { // a probe that fails
		if w = w.after(6 * time.Minute); !w.view.Plan(Default(), w.endpoint, w.now).Probe {
			return w
		}
		w = w.store(w.view.Claim(Default(), w.endpoint, w.now)).after(time.Second)
		return w.observe(Result{Status: 500, Probe: w.view.Endpoint.Probe})
	}},
	{"paused", func(w world) world {
		write, _ := w.view.item().Pause(w.now)
		return w.store(write)
	}},
	{"resumed", func(w world) world {
		write, _ := w.view.item().Resume(w.now)
		return w.store(write)
	}},
	{"tenant paused", func(w world) world {
		w.view.Tenant = Item{TenantID: "tenant", Version: 1, Paused: true}
		if w.endpoint.Disabled {
			return w
		}
		return w.store(w.view.Decide(Question{Disabled: w.endpoint.Disabled}, w.now).First)
	}},
	{"tenant resumed", func(w world) world {
		w.view.Tenant = Item{}
		return w
	}},
	{"release runs", world.tick},
	{"disabled", func(w world) world {
		w.endpoint.Disabled, w.endpoint.ChangedAt = true, w.now
		return w.store(w.view.Decide(Question{Disabled: true}, w.now).First) // or as release finds it
	}},
	{"active again", func(w world) world {
		if !w.endpoint.Disabled {
			return w
		}
		w.endpoint.Disabled, w.endpoint.ChangedAt = false, w.now
		return w
	}},
	{"released", func(w world) world {
		write, _ := w.view.Release(w.endpoint, w.now)
		return w.store(write)
	}},
	{"nothing is held", func(w world) world {
		w = w.after(2*time.Minute + time.Second)
		return w.store(w.view.Empty(Default(), w.endpoint, w.now))
	}},
	{"forgotten", func(w world) world {
		if w.view.Endpoint.State != Failing || w.view.Endpoint.Held {
			return w
		}
		return w.after(Default().Forget).tick()
	}},
	{"deleted", func(w world) world {
		gone := w
		gone.endpoint = Endpoint{Gone: true, ChangedAt: w.now}
		gone = gone.after(2*time.Minute + time.Second)
		gone = gone.store(gone.view.Empty(Default(), gone.endpoint, gone.now))
		gone.endpoint = Endpoint{} // restored
		return gone
	}},
	{"removed", func(w world) world { // deleted long ago
		w = w.after(2*time.Minute + time.Second)
		w = w.store(w.view.Empty(Default(), Endpoint{Gone: true, Final: true}, w.now))
		w.endpoint = Endpoint{} // another one
		return w
	}},
}

func (w world) holding() bool { return w.view.paused() || w.view.Endpoint.holds() }

// label is the node of the diagram.
func label(i Item) string {
	switch {
	case i.Paused:
		return "paused"
	case i.State == None:
		return "none"
	}
	return string(i.State)
}

// key is what decides about a world's future, times apart.
func (w world) key() string {
	i := w.view.Endpoint
	return fmt.Sprint(i.State, i.Paused, i.Held, min(i.Failures, 6), i.Probe > 0, i.Ticks > 0, w.view.Tenant.Paused,
		w.endpoint.Disabled,
		i.Version > 0)
}

// explore visits every reachable world and calls visit with each step.
func explore(visit func(event string, from, to world)) (seen int) {
	queue := []world{newWorld()}
	known := map[string]bool{queue[0].key(): true}
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		for _, event := range events {
			to := event.do(from).after(time.Second)
			visit(event.name, from, to)
			if key := to.key(); !known[key] {
				known[key] = true
				queue = append(queue, to)
			}
		}
	}
	return len(known)
}

func TestItem_followsTheDiagramOfThePackage(t *testing.T) {
	edges := map[string]bool{}
	states := explore(func(event string, from, to world) {
		if a, b := label(from.view.Endpoint), label(to.view.Endpoint); a != b {
			edges[a+" --> "+b+": "+event] = true
		}
	})
	var got []string
	for edge := range edges {
		got = append(got, edge)
	}
	slices.Sort(got)
	if diff := cmp.Diff(diagram(t), got); diff != "" {
		t.Errorf("diagram of doc.go (-drawn +explored in %d states)\n%s", states, diff)
	}
}

// diagram returns the edges drawn in the package's comment.
func diagram(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var edges []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, " --> ") {
			edges = append(edges, strings.TrimSpace(strings.TrimPrefix(line, "//")))
		}
	}
	slices.Sort(edges)
	return edges
}

// What must hold in every reachable world.
func TestItem_keepsItsPromisesInEveryReachableState(t *testing.T) {
	states := explore(func(event string, from, to world) {
		for name, broken := range map[string]bool{
			"a holding state does not say that something may be held": to.view.Endpoint.holds() && !to.view.Endpoint.Held,
			"an item is stored that says nothing": to.view.Endpoint.Version > 0 && to.view.Endpoint.State == None &&
				to.view.Endpoint.bare(),
			"a version went back": to.view.Endpoint.Version != 0 && to.view.Endpoint.Version < from.view.Endpoint.Version,
			"held was forgotten otherwise than by release": from.view.Endpoint.Held && !to.view.Endpoint.Held &&
				!slices.Contains([]string{"nothing is held", "deleted", "removed"}, event),
			"something is held that no run of release turns": strands(to),
		} {
			if broken {
				t.Errorf("%s: %+v -%s-> %+v", name, from.view, event, to.view)
			}
		}
	})
	t.Logf("%d states", states)
	if states < 30 {
		t.Errorf("only %d states seen", states)
	}
}

// strands reports whether the endpoint fails to recover although it answers 2xx and neither its owner
// nor an operator holds it.
func strands(w world) bool {
	if !w.view.Endpoint.Held {
		return false
	}
	w.view.Tenant, w.endpoint = Item{}, Endpoint{}
	if w.view.Endpoint.Paused {
		write, _ := w.view.item().Resume(w.now)
		w = w.store(write)
	}
	w = w.after(6 * time.Minute).tick()
	if plan := w.view.Plan(Default(), w.endpoint, w.now); plan.Probe {
		w = w.store(w.view.Claim(Default(), w.endpoint, w.now)).after(time.Second)
		w = w.observe(Result{OK: true, Probe: w.view.Endpoint.Probe})
	}
	return !w.view.Plan(Default(), w.endpoint, w.now).Recover
}
