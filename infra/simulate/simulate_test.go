package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/awsmodel"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/retry"
)

// shortened runs a scenario for a while only, under one set of rules. What holds of every run is
// checked here: nothing is lost, and nothing ends twice.
func shortened(t *testing.T, name string, length time.Duration, backlogs bool) *world {
	t.Helper()
	s := find(scenarios(1), name)
	s.length, s.patience = length, 0
	w := newWorld(s, backlogs)
	w.run()
	if w.stats.lost() != 0 || w.stats.twice != 0 {
		t.Errorf("%d of %d deliveries are lost, %d ended twice", w.stats.lost(), w.stats.created, w.stats.twice)
	}
	return w
}

func late(w *world) time.Duration {
	worst, _, _ := w.stats.worstLate()
	return worst
}

// closed counts the endpoints of the outage whose circuits are not open.
func closed(w *world) (n int) {
	for _, e := range w.endpoints {
		if e.affected && e.item.State != health.Open {
			n++
		}
	}
	return n
}

// However few of its failures a process may write, and however few attempts the slow lane leaves to an
// endpoint that hangs, its circuit is open after six minutes.
func TestSimulate_circuitsOpenInTime(t *testing.T) {
	for name, rate := range map[string]float64{"down": 1000, "hang": 300, "fifty": 300} {
		s := find(scenarios(1), name)
		s.rate, s.length, s.patience = rate, calm+6*time.Minute, 0
		w := newWorld(s, true)
		w.run()
		if closed := closed(w); closed > 0 || w.stats.opened[0] > 0 {
			t.Errorf("%s: %d circuits are closed, %d of others open", name, closed, w.stats.opened[0])
		}
	}
}

func TestSimulate_theLargestTenantIsDown(t *testing.T) {
	w := shortened(t, "down", 25*time.Minute, true)
	if w.stats.inFlight > 8_000 || w.stats.dead != 0 || w.stats.opened != [2]int{0, 1} {
		t.Errorf("%d in flight, %d dead, opened %v", w.stats.inFlight, w.stats.dead, w.stats.opened)
	}
	if late(w) > 5*time.Second {
		t.Errorf("others' retries are late by %s", late(w))
	}
	old := shortened(t, "down", 25*time.Minute, false)
	if old.stats.inFlight < 10*w.stats.inFlight {
		t.Errorf("0.1.0 has %d in flight: the simulation does not see the cliff", old.stats.inFlight)
	}
}

func TestSimulate_everythingIsCaughtUp(t *testing.T) {
	for _, name := range []string{"catch-up-1000", "fifty"} {
		s := find(scenarios(1), name)
		s.up, s.length, s.patience = 15*time.Minute, 15*time.Minute, time.Hour
		w := newWorld(s, true)
		w.run()
		if probed := w.stats.firstOK - s.up; probed < 0 || probed > 6*time.Minute {
			t.Errorf("%s: the first 2xx comes after %s", name, probed)
		}
		if w.stats.caughtUp == 0 || w.stats.old != 0 || w.stats.dead != 0 {
			t.Errorf("%s: %d left after %s, %d dead", name, w.stats.old, s.patience, w.stats.dead)
		}
	}
}

func TestSimulate_aFewSlowAnswers(t *testing.T) {
	w := shortened(t, "slow", 3*time.Minute, true)
	if put := share(w.stats.diverts[1], w.stats.firsts[1]); put > 0.02 || w.stats.diverted.max > time.Second {
		t.Errorf("%s of first attempts are put off, by up to %s", percentOf(put), w.stats.diverted.max)
	}
	if old := shortened(t, "slow", 3*time.Minute, false); share(old.stats.diverts[1], old.stats.firsts[1]) < 0.5 {
		t.Error("the rules of 0.1.0 put nearly nothing off: the simulation does not see the punishment")
	}
}

func TestSimulate_whatHangsHoldsUpOthersOnce(t *testing.T) {
	quiet := shortened(t, "nobody", 2*time.Minute, true).stats.first.quantile(0.99)
	for name, length := range map[string]time.Duration{
		"ten-hang": calm + 6*time.Minute, "thirty-slow": calm + 2*time.Minute, "crawl": calm + 2*time.Minute,
	} {
		w := shortened(t, name, length, true)
		if closed := closed(w); name == "ten-hang" && closed > 0 {
			t.Errorf("%s: %d circuits are closed after six minutes", name, closed)
		}
		if p99 := w.stats.steady.quantile(0.99); p99 > 2*quiet || w.stats.first.max > attemptTimeout {
			t.Errorf("%s: others wait %s, p99, and up to %s; without it %s", name, p99, w.stats.first.max, quiet)
		}
	}
}

// Three hundred deliveries a second fail, of endpoints so small that hardly any circuit opens in time to spare
// RetryQueue their short waits. That is what Herald is built for.
func TestSimulate_manySmallEndpointsFail(t *testing.T) {
	s := base("", "", 6*time.Minute)
	s.rate, s.busy, s.share, s.others = 400, 30_000, 0.75, 100
	s.prepare = func(w *world) {
		for _, e := range w.busy {
			w.endpoints[e].affected = true
			w.endpoints[e].answer = func(*world) answer { return down }
		}
	}
	w := newWorld(s, true)
	w.run()
	if w.stats.inFlight < 20_000 || w.stats.inFlight >= 60_000 {
		t.Errorf("%d in flight", w.stats.inFlight)
	}
	quiet := shortened(t, "nobody", 2*time.Minute, true).stats.first.quantile(0.99)
	if p99 := w.stats.first.quantile(0.99); late(w) > 5*time.Second || p99 > 2*quiet {
		t.Errorf("others' retries are late by %s, first attempts wait %s, p99, without it %s", late(w), p99, quiet)
	}
	if w.stats.dead != 0 || w.stats.lost() != 0 {
		t.Errorf("%d dead, %d lost", w.stats.dead, w.stats.lost())
	}
	t.Logf("%d in flight, %d circuits open, others' retries late by %s", w.stats.inFlight, w.stats.opened[1], late(w))
}

func TestSimulate_faultsOfOursKillNothing(t *testing.T) {
	for name, set := range map[string]func(s *scenario, w window){
		"all tables refuse": func(s *scenario, w window) { s.refuses = w },
		"Lambda throttles":  func(s *scenario, w window) { s.throttles = w },
		"release is dead":   func(s *scenario, w window) { s.dead = w },
		"retries burn":      func(s *scenario, _ window) { s.burns = 10 },
	} {
		s := base(name, name, 40*time.Minute).flapping()
		s.rate = 100
		set(s, window{10 * time.Minute, 20 * time.Minute})
		w := newWorld(s, true)
		w.run()
		if w.stats.dead != 0 || w.stats.lost() != 0 || w.stats.inFlight >= awsmodel.Limit {
			t.Errorf("%s: %d dead, %d lost, %d in flight", name, w.stats.dead, w.stats.lost(), w.stats.inFlight)
		}
	}
}

func TestSimulate_isDeterministic(t *testing.T) {
	var outs [2]bytes.Buffer
	for i := range outs {
		r := result{scenario: find(scenarios(1), "thirty-slow")}
		r.v010 = shortened(t, "thirty-slow", 3*time.Minute, false)
		r.backlog = shortened(t, "thirty-slow", 3*time.Minute, true)
		r.print(&outs[i])
	}
	if outs[0].String() != outs[1].String() {
		t.Errorf("two runs differ:\n%s\n%s", &outs[0], &outs[1])
	}
}

// Goals are read from scenarios that exist, and every one says something of a short run.
func TestGoals(t *testing.T) {
	all := map[string]result{}
	for _, s := range scenarios(1) {
		s.length, s.up, s.patience, s.rate = time.Minute, 0, 0, 20
		r := result{scenario: s, v010: newWorld(s, false), backlog: newWorld(s, true)}
		r.v010.run()
		r.backlog.run()
		all[s.name] = r
	}
	var out bytes.Buffer
	printGoals(&out, all)
	if got, want := strings.Count(out.String(), "\n"), len(goals())+3; got != want {
		t.Errorf("%d lines, want %d:\n%s", got, want, &out)
	}
}

// What is published of the last simulation has a row for every goal, and reaches it.
func TestGoals_areReachedInWhatIsPublished(t *testing.T) {
	text, err := os.ReadFile("../docs/capacity.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), begins)
	for _, g := range goals() {
		_, row, found := strings.Cut(rest, "| "+g.what+" | "+g.wanted+" |")
		row, _, _ = strings.Cut(row, "\n")
		if !found || !strings.HasSuffix(row, "| yes |") {
			t.Errorf("%s, %s:%s", g.what, g.wanted, row)
		}
	}
}

func TestReplaceIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "document.md")
	if err := os.WriteFile(path, []byte("before\n"+begins+"old\n"+ends+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replaceIn(path, "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := "before\n" + begins + "\nnew\n" + ends + "after\n"; err != nil || string(got) != want {
		t.Errorf("%v: %q, want %q", err, got, want)
	}
	if err := os.WriteFile(path, []byte("nothing generated"), 0o600); err != nil {
		t.Fatal(err)
	}
	if replaceIn(path, "new") == nil {
		t.Error("a document without a generated part is written")
	}
}

func TestHistogram(t *testing.T) {
	var h histogram
	for n := range 1000 {
		h.add(time.Duration(n+1) * time.Second)
	}
	for q, seconds := range map[float64]int{0.5: 500, 0.99: 990, 1: 1000} {
		want := time.Duration(seconds) * time.Second
		if got := h.quantile(q); got < want || float64(got) > 1.04*float64(want) {
			t.Errorf("quantile %v is %s, want %s", q, got, want)
		}
	}
}

// The simulation's own figures are the product's.
func TestSettings(t *testing.T) {
	if err := schedule.Validate(); err != nil || schedule.Last() != redriveV010 || schedule.Long != 0 {
		t.Errorf("schedule %+v: %v", schedule, err)
	}
	if retry.Cap > 12*time.Hour {
		t.Errorf("SQS takes no visibility timeout of %s", retry.Cap)
	}
}
