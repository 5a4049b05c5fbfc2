package invariants

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// walker lets several processes run at once, one call at a time, in an order that choices say.
type walker struct {
	*world
	mine    sync.Mutex
	pending []*waiter
	running atomic.Int32
	started int
	warm    []*process // that may be invoked again
	visit   func(state string)
	chances []deed // of which one is taken at random
}

// waiter is a call that waits for its verdict.
type waiter struct {
	*call
	grant chan verdict
}

// quiet reports whether calls of this name are done at once. Their order is not explored.
func quiet(name string) bool {
	switch name {
	case "Query by-due", "Write Deliveries", "Read Deliveries", "KMS Decrypt", "KMS GenerateDataKey", "Write DeadLetters":
		return true
	}
	return false
}

func (w *walker) gate(c *call) verdict {
	if quiet(c.Name) {
		return model.Done
	}
	here := &waiter{c, make(chan verdict)}
	w.mine.Lock()
	w.pending = append(w.pending, here)
	w.mine.Unlock()
	defer func() {
		w.mine.Lock()
		w.pending = slices.DeleteFunc(w.pending, func(p *waiter) bool { return p == here })
		w.mine.Unlock()
	}()
	select {
	case v := <-here.grant:
		return v
	case <-c.Context.Done():
	case <-time.After(time.Until(c.Process.Deadline())):
	}
	return model.Done // too late: it is not made
}

// waiting are the calls that can go on, in an order of their own.
func (w *walker) waiting() []*waiter {
	synctest.Wait()
	w.mine.Lock()
	defer w.mine.Unlock()
	calls := slices.Clone(w.pending)
	slices.SortFunc(calls, func(a, b *waiter) int { return cmp.Compare(a.String(), b.String()) })
	return calls
}

// invocations at a time.
const crowd = 3

// start invokes a function, in a warm process if there is one.
func (w *walker) start(name string, run func(p *process)) {
	if w.running.Load() >= crowd {
		return
	}
	p := w.ready()
	w.running.Add(1)
	w.Mu.Lock()
	w.note("%s: %s", p.Name, name)
	w.Mu.Unlock()
	go func() {
		run(p)
		defer w.running.Add(-1)
		ended := p.Ended()
		w.mine.Lock()
		defer w.mine.Unlock()
		if !ended {
			w.warm = append(w.warm, p)
		}
	}()
}

func (w *walker) ready() *process {
	w.mine.Lock()
	defer w.mine.Unlock()
	if len(w.warm) > 0 {
		p := w.warm[0]
		w.warm = w.warm[1:]
		return p
	}
	w.started++
	return w.process(fmt.Sprintf("p%d", w.started))
}

func (w *walker) batchOf(q *model.Queue) {
	if w.visible(q) {
		w.start("receives from "+q.Name, func(p *process) { p.Receive(q) })
	}
}

func (w *walker) visible(q *model.Queue) bool {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	at := q.Next()
	return !at.IsZero() && !at.After(time.Now())
}

func (w *walker) operates(action, id string) {
	w.start("operator: "+action+" "+id, func(p *process) { w.controlBy(p, action, id) })
}

// deed is something that may happen at any time.
type deed struct {
	weight int
	do     func(w *walker, id string)
	by     who
}

// who does something. In most walks somebody does much more than usual.
type who int

const (
	nobody who = iota
	owners
	people
	receivers
	queues
	moods int = iota
)

var deeds = []deed{
	{12, func(w *walker, id string) { w.publish(id) }, nobody},
	{14, func(w *walker, _ string) { w.batchOf(w.DeliveryQueue) }, queues},
	{14, func(w *walker, _ string) { w.batchOf(w.RetryQueue) }, queues},
	{4, func(w *walker, _ string) { w.batchOf(w.SlowQueue) }, queues},
	{2, func(w *walker, _ string) { w.batchOf(w.DeadLetterQueue) }, nobody},
	{14, func(w *walker, _ string) { w.start("release runs", (*process).Release) }, nobody},
	{10, func(w *walker, id string) { w.answer(id, 500) }, receivers},
	{6, func(w *walker, id string) { w.answer(id, 200) }, receivers},
	{2, func(w *walker, id string) { w.answer(id, 429) }, receivers},
	{1, func(w *walker, id string) { w.answer(id, 0) }, receivers},
	{2, func(w *walker, id string) { w.owner(id, endpoint.Disabled) }, owners},
	{3, func(w *walker, id string) { w.owner(id, endpoint.Active) }, owners},
	{1, func(w *walker, id string) { w.owner(id, endpoint.Deleted) }, owners},
	{1, func(w *walker, id string) { w.subscribe(id, narrow) }, owners},
	{2, func(w *walker, id string) { w.subscribe(id, "*") }, owners},
	{2, func(w *walker, id string) { w.limit(id, 1) }, owners},
	{1, func(w *walker, id string) { w.limit(id, 20) }, owners},
	{2, func(w *walker, id string) { w.limit(id, 0) }, owners},
	{2, func(w *walker, id string) { w.operates("pause", id) }, people},
	{2, func(w *walker, id string) { w.operates("resume", id) }, people},
	{2, func(w *walker, _ string) { w.operates("pause", "") }, people},
	{2, func(w *walker, _ string) { w.operates("resume", "") }, people},
	{2, func(w *walker, id string) { w.operates("release", id) }, people},
	{1, func(w *walker, _ string) { w.operates("release", "") }, people},
	{1, func(w *walker, id string) { w.operates("discard", id) }, people},
	{2, func(w *walker, _ string) { w.slow(7 * time.Hour) }, receivers},
	{2, func(w *walker, _ string) { w.slow(0) }, receivers},
	{2, func(w *walker, _ string) { w.twin(w.RetryQueue) }, queues},
	{2, func(w *walker, _ string) { w.twin(w.DeliveryQueue) }, queues},
	{1, func(w *walker, _ string) { w.twin(w.SlowQueue) }, queues},
	{6, func(*walker, string) { time.Sleep(time.Second) }, nobody},
	{6, func(*walker, string) { time.Sleep(10 * time.Second) }, nobody},
	{10, func(*walker, string) { time.Sleep(61 * time.Second) }, nobody},
	{6, func(*walker, string) { time.Sleep(181 * time.Second) }, nobody},
	{4, func(*walker, string) { time.Sleep(11 * time.Minute) }, nobody},
	{1, func(*walker, string) { time.Sleep(13 * time.Hour) }, nobody},
}

func (w *walker) twin(q *model.Queue) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if q.Duplicate() {
		w.note("%s: a message is doubled", q.Name)
	}
}

// slow makes the tenant slow for so long, or no longer.
func (w *walker) slow(d time.Duration) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.note("the tenant is slow for %s", d)
	w.Slow[tenant] = time.Now().Add(d)
}

func (w *walker) answer(id string, status int) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.note("%s answers %d", id, status)
	w.receivers[id] = answers(status)
}

// weighed has each deed as often as it weighs in a walk of this mood.
func weighed(mood who) (all []deed) {
	for _, d := range deeds {
		if d.by == mood && mood != nobody {
			d.weight *= 5
		}
		all = append(all, slices.Repeat([]deed{d}, d.weight)...)
	}
	return all
}

// step carries out one choice: a call goes on, a call meets a fault, or something happens.
func (w *walker) step(choice uint32) {
	calls := w.waiting()
	what, which := choice%16, int(choice/16)
	switch {
	case len(calls) > 0 && what < 10:
		calls[which%len(calls)].grant <- model.Done
	case len(calls) > 0 && what < 12:
		v := faults[which%len(faults)]
		calls[which/len(faults)%len(calls)].grant <- v
	default:
		w.Mu.Lock() // a late write of a row may come at any moment
		ids := slices.Sorted(maps.Keys(w.Endpoints))
		w.Mu.Unlock()
		w.chances[which/2%len(w.chances)].do(w, ids[which%2])
	}
	synctest.Wait()
	w.Mu.Lock()
	state := w.state()
	w.Mu.Unlock()
	for _, c := range w.waiting() {
		state += "," + c.Name
	}
	w.visit(state)
}

// walk follows the choices from a new world, and then lets everything end.
func walk(t *testing.T, choices []uint32, visit func(string)) (broken *world) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w := &walker{world: newWorld(), visit: visit, chances: weighed(who(int(choices[0]/2) % moods))}
		broken = w.world
		w.opensSoon()
		w.Backlog.Lag, w.Behind = 3*time.Second, time.Duration(choices[0]%2)*3*time.Second
		w.own("webhook_1", 500)
		w.own("webhook_2", 200)
		w.publish("webhook_1")
		w.publish("webhook_1")
		time.Sleep(time.Second)
		w.judgeBy(w.gate)
		for _, c := range choices {
			w.step(c)
			if len(w.broken) > 0 {
				break
			}
		}
		w.finish(inOrder)
		if len(w.broken) == 0 {
			w.drain()
		}
	})
	return broken
}

// finish lets the invocations that still run come to their end; next chooses the call that goes on, and how.
func (w *walker) finish(next func(calls []*waiter) (*waiter, verdict)) {
	for w.running.Load() > 0 {
		calls := w.waiting()
		if len(calls) == 0 {
			time.Sleep(time.Second)
			continue
		}
		c, v := next(calls)
		c.grant <- v
	}
}

func inOrder(calls []*waiter) (*waiter, verdict) { return calls[0], model.Done }

// shortest leaves out the steps that a failure does not need.
func shortest(t *testing.T, choices []uint32) []uint32 {
	t.Helper()
	fails := func(c []uint32) bool { return len(walk(t, c, func(string) {}).broken) > 0 }
	for size := len(choices) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(choices); {
			less := slices.Concat(choices[:at], choices[at+size:])
			if len(less) > 0 && fails(less) {
				choices = less
			} else {
				at += size
			}
		}
	}
	return choices
}

// Processes that overlap call by call, faults at any of them, owners, operators and receivers that
// change their mind, in thousands of orders: nothing is ever nowhere, and once everybody answers 2xx
// nothing is held after minutes and nothing is left after the schedule's longest wait.
func TestNoStranding_inWhicheverOrder(t *testing.T) {
	t.Parallel()
	const steps = 120
	budget, seed := budgetOf(5*time.Second), seedOf(t)
	states := map[string]bool{}
	var lines [][]uint32 // of choices that led to something new
	random := rand.New(rand.NewPCG(seed, 0))
	walks, taken := 0, 0
	for began := time.Now(); time.Since(began) < budget; walks++ {
		choices := make([]uint32, 10+random.IntN(steps))
		for i := range choices {
			choices[i] = random.Uint32()
		}
		if len(lines) > 0 && random.IntN(2) == 0 { // go on from where something new was
			from := lines[random.IntN(len(lines))]
			copy(choices, from[:random.IntN(len(from)+1)])
		}
		before := len(states)
		w := walk(t, choices, func(s string) { states[s] = true; taken++ })
		if len(states) > before {
			lines = append(lines, choices)
		}
		if len(w.broken) > 0 {
			least := shortest(t, choices)
			w = walk(t, least, func(string) {})
			t.Fatalf("seed %d, walk %d, %d choices:\n  %s\n%s", seed, walks, len(least),
				strings.Join(w.broken, "\n  "), strings.Join(w.history, "\n"))
		}
	}
	t.Logf("%d walks, %d steps, %d states", walks, taken, len(states))
}
