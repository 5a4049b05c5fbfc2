package invariants

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// explorer goes through everything that can happen in a small world, depth first: every order of the
// calls of invocations that overlap, every fault at any of them, and the acts of receivers, operators and
// time between them. The state of an invocation cannot be copied, so each path is walked anew from
// the beginning; a state that was seen before is not gone beyond again.
type explorer struct {
	*walker
	left  limits
	deeds []string
	known map[*model.Process]uint64 // the calls of each invocation and their answers
	owed  []string                  // effects that come late
}

// limits bound a search.
type limits struct{ Invocations, Faults, Deeds, Sleeps int }

// step is something that can happen now.
type step struct {
	name string
	do   func()
}

// steps are in an order that is the same whenever the state is.
func (e *explorer) steps() (all []step) {
	for _, c := range e.waiting() {
		all = append(all, e.grants(c, model.Done))
		for _, v := range faults {
			if e.left.Faults > 0 {
				all = append(all, e.grants(c, v))
			}
		}
	}
	if e.left.Invocations > 0 && e.running.Load() < 2 {
		for _, q := range e.Queues() {
			if e.visible(q) {
				all = append(all, step{"receives from " + q.Name, func() { e.invoke(func(p *process) { p.Receive(q) }) }})
			}
		}
		all = append(all, step{"release runs", func() { e.invoke((*process).Release) }})
	}
	if e.left.Deeds > 0 {
		for _, what := range e.deeds {
			all = append(all, step{what, func() { e.left.Deeds--; e.deed(what) }})
		}
	}
	if e.left.Sleeps > 0 && len(all) == 0 || e.left.Sleeps > 0 && e.running.Load() == 0 {
		all = append(all, step{"time passes", func() { e.left.Sleeps--; time.Sleep(61 * time.Second) }})
	}
	return all
}

// grants lets a call go on, and notes its answer for the invocation.
func (e *explorer) grants(c *waiter, v verdict) step {
	return step{fmt.Sprint(c, ": ", v), func() {
		if v != model.Done {
			e.left.Faults--
		}
		if v == model.Late || v == model.Twice {
			e.owed = append(e.owed, c.Name+c.Key)
		}
		e.learn(c.Process, c.Name, c.Key, v.String(), e.answerTo(c.Name))
		c.grant <- v
	}}
}

// answerTo is the answer of a call.
func (e *explorer) answerTo(name string) string {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	switch {
	case name == "POST":
		return fmt.Sprint(e.receivers[hook](""))
	case strings.HasPrefix(name, "Read"), strings.HasPrefix(name, "Scan"), strings.HasPrefix(name, "Put back"),
		name == "Write EndpointHealth", name == "Write Endpoints", name == takeSlots:
		return e.tables()
	}
	return ""
}

func (e *explorer) learn(p *model.Process, what ...string) {
	e.mine.Lock()
	defer e.mine.Unlock()
	if known, running := e.known[p]; running {
		e.known[p] = hashOf(append(what, fmt.Sprint(known))...)
	}
}

func hashOf(all ...string) uint64 {
	h := fnv.New64a()
	for _, s := range all {
		_, _ = h.Write([]byte(s + "\n")) // never fails
	}
	return h.Sum64()
}

// invoke runs an invocation in its own process. Calls before the first one that has to wait are answered at once.
func (e *explorer) invoke(run func(p *process)) {
	e.left.Invocations--
	e.started++
	p := functions.OnModel(e.Model, fmt.Sprintf("p%d", e.started), e.rules, rand.New(rand.NewPCG(1, 1)))
	e.Mu.Lock()
	e.known[p.Process] = hashOf(e.tables(), e.messages())
	e.Mu.Unlock()
	e.running.Add(1)
	go func() {
		run(p)
		e.mine.Lock()
		defer e.mine.Unlock()
		delete(e.known, p.Process)
		e.running.Add(-1)
	}()
}

// owned are the deeds of the endpoint's owner.
var owned = map[string]endpoint.Status{
	"enabled": endpoint.Active, "disabled": endpoint.Disabled, "deleted": endpoint.Deleted,
}

// limited are its limits.
var limited = map[string]int{"limited": 1, "limited less": 300, "unlimited": 0}

func (e *explorer) deed(what string) {
	status, err := strconv.Atoi(what)
	limit, limits := limited[what]
	switch {
	case limits:
		e.limit(hook, limit)
	case err == nil:
		e.answer(hook, status)
	case owned[what] != "":
		e.owner(hook, owned[what])
	case what == "*", what == narrow:
		e.subscribe(hook, what)
	default: // at once: an operator's calls are no part of the search
		e.judgeBy(nil)
		e.control(what, hook)
		e.judgeBy(e.gate)
	}
}

// tables are the stored rows.
func (e *explorer) tables() string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(e.Circuits)) {
		fmt.Fprintf(&b, "%+v\n", e.Circuits[id])
	}
	items := slices.Collect(maps.Values(e.Backlog.Items))
	slices.SortFunc(items, func(a, b backlog.Item) int { return cmp.Compare(a.Position, b.Position) })
	// Maps print in the order of their keys.
	fmt.Fprintf(&b, "%+v %+v %+v %+v %+v", items, e.Endpoints, e.Stops, e.Slow, e.Rates)
	return b.String()
}

// messages are those on the queues, without their ids.
func (e *explorer) messages() string {
	var all []string
	for _, q := range e.Queues() {
		q.Each(func(r events.SQSMessage, wait time.Duration, receives int) {
			of := fmt.Sprint(q.Name, receives, wait)
			for _, name := range slices.Sorted(maps.Keys(r.MessageAttributes)) {
				of += name + model.Attribute(r, name)
			}
			all = append(all, of)
		})
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// state is all that the future depends on.
func (e *explorer) state() uint64 {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	var invocations []string
	e.mine.Lock()
	for _, known := range e.known {
		invocations = append(invocations, fmt.Sprint(known))
	}
	e.mine.Unlock()
	slices.Sort(invocations)
	slices.Sort(e.owed)
	of := fmt.Sprint(time.Since(e.began), e.left, invocations, e.owed, e.receivers[hook](""), e.tables(), e.messages())
	for l, about := range e.truth {
		if about.acked || about.unwanted || !e.Deaths[l].IsZero() {
			of += fmt.Sprint(l, about.acked, about.unwanted) // the order does not matter with so few
		}
	}
	return hashOf(of)
}

// path walks along choices from the beginning, and on to where nothing new is. It returns the choices
// that are left for later.
func (s *search) path(t *testing.T, choices []int) (later [][]int) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		e := &explorer{walker: &walker{world: newWorld()}, left: s.limits, known: map[*model.Process]uint64{}, deeds: s.deeds}
		e.opensSoon()
		s.given(e.world)
		time.Sleep(time.Second)
		e.judgeBy(e.gate)
		var names []string
		fresh := true
		for n := 0; e.whole(); n++ {
			if n >= len(choices) {
				state := e.state()
				if fresh = !s.states[state]; !fresh {
					break
				}
				s.states[state] = true
			}
			steps := e.steps()
			if len(steps) == 0 {
				break
			}
			if n < len(choices) && choices[n] >= len(steps) { // the same steps led elsewhere: calls made at once have no order
				s.strayed++
				break
			}
			if n >= len(choices) {
				for other := 1; other < len(steps); other++ {
					later = append(later, append(slices.Clone(choices), other))
				}
				choices = append(slices.Clone(choices), 0)
			}
			names = append(names, steps[choices[n]].name)
			steps[choices[n]].do()
			s.taken++
		}
		e.finish(inOrder)
		if fresh && e.whole() {
			s.ends++
			e.drain()
		}
		if len(e.broken) > 0 {
			s.broken = fmt.Sprintf("%s\nafter\n  %s\n%s", strings.Join(e.broken, "\n"), strings.Join(names, "\n  "),
				strings.Join(e.history, "\n"))
		}
	})
	return later
}

// whole reports whether nothing is broken.
func (e *explorer) whole() bool {
	synctest.Wait()
	e.Mu.Lock()
	defer e.Mu.Unlock()
	return len(e.broken) == 0
}

// search goes through one small world.
type search struct {
	limits  limits
	given   func(w *world)
	deeds   []string
	states  map[uint64]bool
	taken   int
	ends    int
	strayed int
	broken  string
}

// run explores until it has seen everything within the limits, or the time is over.
func (s *search) run(t *testing.T, until time.Time) (paths int, whole bool) {
	t.Helper()
	s.states = map[uint64]bool{}
	for open := [][]int{nil}; len(open) > 0; paths++ {
		if s.broken != "" || time.Now().After(until) {
			return paths, false
		}
		last := len(open) - 1
		next := open[last]
		open = append(open[:last], s.path(t, next)...)
	}
	return paths, true
}

// growing are the limits that are tried one after the other.
var growing = []limits{
	{1, 1, 0, 1}, {1, 1, 1, 1}, {2, 0, 1, 1}, {2, 1, 0, 1}, {2, 1, 1, 1}, {2, 2, 1, 1}, {3, 1, 1, 2}, {3, 2, 2, 2},
}

// In small worlds nothing is ever nowhere, and nothing is stranded, whatever happens in whichever order:
// everything within the limits is tried, which grow for as long as there is time.
func TestExplore_nothingIsNowhereInSmallWorlds(t *testing.T) {
	t.Parallel()
	budget := budgetOf(4*time.Second) / time.Duration(len(smallWorlds))
	for _, name := range slices.Sorted(maps.Keys(smallWorlds)) {
		w := smallWorlds[name]
		until := time.Now().Add(budget)
		for _, l := range growing {
			s := &search{limits: l, given: w.given, deeds: w.deeds}
			paths, whole := s.run(t, until)
			if s.broken != "" {
				t.Fatalf("%s, %+v: %s", name, l, s.broken)
			}
			t.Logf("%s, %+v: %d states, %d steps, %d paths, %d of them to their end, %d astray, all: %v", name,
				l, len(s.states), s.taken, paths, s.ends, s.strayed, whole)
			if !whole {
				break
			}
		}
	}
}
