//go:build emulator

package outbox_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// points are all moments at which a relay can be ended: around each of its calls.
func points() (all []string) {
	names := []string{"connect", "send"}
	for _, call := range calls {
		names = append(names, call.name)
	}
	for _, name := range names {
		all = append(all, name+": before", name+": after")
	}
	return all
}

// plan is a list of moments at which the relay that comes there next is killed, or loses its connection.
type plan struct {
	mu    sync.Mutex
	steps []step
	count int // of the first step's moments that are let pass
	done  chan string
}

type step struct {
	point string
	cut   bool
}

// newPlan has each point equally often, until so many kills; each fourth step is a cut, of another point in each turn.
func newPlan(kills int) *plan {
	p := &plan{done: make(chan string, 2*kills+100)}
	for n, killed := 0, 0; killed < kills; n++ {
		s := step{points()[n%len(points())], (n+n/len(points()))%4 == 3}
		if !s.cut {
			killed++
		}
		p.steps = append(p.steps, s)
	}
	return p
}

// waitsFor says whether the next step is at a call.
func (p *plan) waitsFor(call string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.steps) > 0 && strings.HasPrefix(p.steps[0].point, call)
}

// at is asked by the relays' proxies. Where the plan waits for a new connection, it cuts one.
func (p *plan) at(r *runner, point string) bool {
	if point == "claim: before" && (p.waitsFor("connect") || p.waitsFor("listen")) {
		return false
	}
	p.mu.Lock()
	if len(p.steps) == 0 || p.steps[0].point != point {
		p.mu.Unlock()
		return true
	}
	if p.count > 0 {
		p.count--
		p.mu.Unlock()
		return true
	}
	s := p.steps[0]
	p.steps = p.steps[1:]
	p.count = len(p.steps) % 3
	p.mu.Unlock()
	if !s.cut {
		r.kill()
	}
	p.done <- s.point
	return false
}

// written is what a service wrote, by event id.
type written struct {
	committed  map[string]bool
	rolledBack map[string]bool
	bad        map[string]string // the reason of each that SQS cannot take
	n          int
}

const insert = `INSERT INTO outbox (tenant_id, subject, body) VALUES ('%s', 'user_%d', %s);`

// chunk writes twenty events in transactions of a service, of which some roll back and some are bad.
func (w *written) chunk(s *service) {
	for range 20 {
		w.n++
		id, tenant := fmt.Sprint("evt_", w.n), fmt.Sprint("tenant_", w.n%7)
		body := fmt.Sprintf(`'{"id":"%s","tenant_id":"%s","type":"user.created","data":{"userId":"user_%d"}}'`,
			id, tenant, w.n)
		end := "COMMIT"
		switch w.n % 40 {
		case 1, 11, 21, 31:
			end = "ROLLBACK"
			w.rolledBack[id] = true
		case 5:
			body += ` || repeat(' ', 262144)`
			w.bad[id] = "MessageTooLong"
		case 15:
			body = fmt.Sprintf(`E'{"id":"%s","data":"\x01"}'`, id)
			w.bad[id] = "InvalidMessageContents"
		case 25:
			body = fmt.Sprintf(`'{"tenant_id":"%s","type":"user.created","data":{"evt":"%s"}}'`, tenant, id)
			w.bad[id] = "MissingId"
		case 35:
			tenant += " with a space"
			w.bad[id] = "InvalidParameterValue"
		default:
			w.committed[id] = true
		}
		s.say("BEGIN; " + fmt.Sprintf(insert, tenant, w.n, body) + " " + end + ";")
	}
}

// languages are those of two relays: one of each, or two of that which make outbox names.
func languages() []string {
	if one := os.Getenv("OUTBOX_LANGUAGE"); one != "" {
		return []string{one, one}
	}
	return []string{"go", "python"}
}

// fromEnv is a number that make outbox gives, or another one.
func fromEnv(t *testing.T, name string, other int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return other
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// However two relays end, and at whatever call, each event that was committed is sent under one wh-id, none that was
// rolled back is, and those that SQS cannot take are set aside. OUTBOX_KILLS says how often they are killed.
//
// Threat of a publisher: stops the [relay of an outbox](../examples/outbox/README.md), or fills its database. Held by:
// what SQS refuses is set aside; a bound on what stays.
func TestRelays_loseNothingWhereverTheyAreKilled(t *testing.T) {
	t.Parallel()
	kills := fromEnv(t, "OUTBOX_KILLS", len(points()))
	languages := languages()
	c, q, p := newOutbox(t), newQueue(), newPlan(kills)
	q.fails = func(e entry) string { // now and then, so that the publisher sends again
		if e.MessageGroupID == "tenant_3" && q.requests%17 == 0 {
			return "InternalError"
		}
		return ""
	}
	q.refuses = func(entries []entry) string { // where the plan waits for what a relay does then
		if p.waitsFor("delayed") || p.waitsFor("released") && len(entries) > 1 {
			return "AccessDenied"
		}
		return ""
	}
	begun, steps := time.Now(), len(p.steps)
	var relays []*runner
	for _, language := range languages {
		command := relayIn(t, language, "-lease", "2", "-poll", "0.1", "-measure", "0.3", "-batch", "20")
		relays = append(relays, startRelay(t, c, q, command, p.at))
	}
	w := written{committed: map[string]bool{}, rolledBack: map[string]bool{}, bad: map[string]string{}}
	s := c.service(t)
	for range steps {
		w.chunk(s)
		w.await(t, s, p)
	}
	s.end()
	c.drain(t, 0)
	if starts := relays[0].starts + relays[1].starts - 2; starts != kills {
		t.Errorf("%d kills, want %d", starts, kills)
	}
	sends := w.check(t, c, q)
	t.Logf("%v: %d kills and %d cuts over %d moments, %d events (%d committed, %d rolled back, %d bad), %d sends, %s",
		languages, kills, steps-kills, len(points()), w.n, len(w.committed), len(w.rolledBack), len(w.bad), sends,
		time.Since(begun).Round(time.Second))
}

// await waits for the next step of the plan, and writes more where no call leads there.
func (w *written) await(t *testing.T, s *service, p *plan) {
	t.Helper()
	for range 100 {
		select {
		case <-p.done:
			return
		case <-time.After(500 * time.Millisecond):
			w.chunk(s)
		}
	}
	t.Fatalf("no relay comes to %s", p.steps[0].point)
}

// drain waits until no more than so many rows wait.
func (c cluster) drain(t *testing.T, rows int) {
	t.Helper()
	left := ""
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if left = c.ask(t, "SELECT count(*) FROM outbox"); left == fmt.Sprint(rows) {
			return
		}
	}
	t.Fatalf("%s rows still wait:\n%s", left,
		c.ask(t, "SELECT seq, failures, leased_until, left(body, 99) FROM outbox LIMIT 9"))
}

// check compares what was written with what was sent and what was set aside. It returns the number of sends.
func (w *written) check(t *testing.T, c cluster, q *queue) (sends int) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	var lost, second []string
	for id := range w.committed {
		ids := slices.Compact(slices.Clone(q.taken[id]))
		switch len(ids) {
		case 0:
			lost = append(lost, id)
		case 1:
		default:
			second = append(second, id)
		}
	}
	var rolledBack []string
	for id, taken := range q.taken {
		sends += len(taken)
		if !w.committed[id] {
			rolledBack = append(rolledBack, id)
		}
	}
	if len(lost)+len(second)+len(rolledBack) > 0 {
		t.Errorf("lost %v; a second wh-id for %v; sent, but not committed: %v", lost, second, rolledBack)
	}
	aside := map[string]string{}
	for line := range strings.Lines(c.ask(t, `SELECT substring(body from 'evt_\d+'), reason FROM outbox_refused`)) {
		id, reason, _ := strings.Cut(strings.TrimSpace(line), "|")
		if _, twice := aside[id]; twice {
			t.Errorf("%s is set aside twice", id)
		}
		aside[id] = reason
	}
	if diff := cmp.Diff(maps.Collect(maps.All(w.bad)), aside); diff != "" {
		t.Errorf("set aside (-want +got):\n%.2000s", diff)
	}
	return sends
}
