package simulate

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Each of the sweep's worst points is played for a minute. Tenants that keep processes busy, at any rate and with any
// answers, are found before others are late for long. No other tenant is found. With -short, as make test has it, the
// two with the most deliveries are left to the night.
//
// Threat of a tenant: delays other tenants, alone or with nine others. Held by: limits in a batch, and a lane for slow
// tenants ([figures](capacity.md#figures)).
func TestOneTenantOrTenThatKeepProcessesBusyDelayNoOther(t *testing.T) {
	t.Parallel()
	const always, long = true, false // whether it is played with -short
	worst := map[string]bool{
		"busy-0.3@100/ten/2": long, "busy-0.9@100/one/1.1": always, "busy-2.9@100/ten/2": always,
		"busy-2.9@100/one/40-and-0.25": always, "busy-3.1@1000/ten/1.1": long, "busy-14.5@100/ten/2": always,
	}
	for _, s := range busyScenarios() {
		everywhere, found := worst[s.Title()]
		if !found {
			continue
		}
		delete(worst, s.Title())
		if testing.Short() && !everywhere {
			continue
		}
		t.Run(s.Title(), func(t *testing.T) {
			t.Parallel()
			for _, problem := range played(t, s).Problems() {
				t.Error(problem)
			}
		})
	}
	for title := range worst {
		t.Errorf("no attack is called %s", title)
	}
}

func TestBusy_events_wantTheirShareOfTheProcesses(t *testing.T) {
	const took, share = 2 * time.Second, 0.5
	for name, b := range map[string]busy{
		"one":     {took: took, share: share, tenants: 1},
		"ten":     {took: took, share: share, tenants: 10},
		"in turn": {took: took, share: share, tenants: 10, inTurn: true},
	} {
		at := float64(b.tenants)
		if b.inTurn {
			at = 1
		}
		if got := b.events() * at * busyHooks * took.Seconds(); got != share*processes*batchSize {
			t.Errorf("%s: %g s of messages a second, want %g", name, got, share*processes*batchSize)
		}
	}
}

func TestBusyScenarios_areOfAllTimesRatesAndTenants(t *testing.T) {
	titles := map[string]bool{}
	for _, s := range busyScenarios() {
		if titles[s.Title()] {
			t.Errorf("two attacks are called %s", s.Title())
		}
		titles[s.Title()] = true
	}
	for _, took := range []string{"0.3", "0.9", "1.5", "2.9", "3.1", "6", "14.5"} {
		for _, how := range []string{
			"@100/one/0.2", "@1000/ten/0.7", "@100/ten/1.1", "@1000/one/2", "@100/one/40-and-0.25", "@100/ten/4-a-minute",
			"@100/one/40-a-minute", "@100/ten-in-turn/1.1", "@10/one/4-a-minute",
		} {
			if !titles["busy-"+took+how] {
				t.Errorf("busy-%s%s is not played", took, how)
			}
		}
	}
}

// A delivery without an attempt is late, too, if it was created more than a second before the end.
func TestBusy_end_countsWhatWasNotAttempted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sweptBy(1, false)
		s.Rate = 10
		w := newWorld(s)
		w.stats.Busy.begin(w)
		h := w.own("other-0", 0, other, nil)
		for range 3 {
			w.stats.published(w, h)
		}
		w.stats.posted(w, h, 0, ok(0))
		time.Sleep(s.Length + time.Second)
		w.stats.Busy.end(w)
		if got := w.stats.Busy.Seconds; got != 0.2 {
			t.Errorf("late for %g s, want 0.2", got)
		}
	})
}

func TestScenarios_playHonestTenantsBesideAttackers(t *testing.T) {
	found := 0
	for _, s := range Scenarios() {
		beside := strings.HasSuffix(s.Name, "-beside") || strings.HasPrefix(s.Name, "mix-")
		if beside && s.Kind == Honest && s.against.tenants > 0 {
			found++
		}
	}
	if found != 8 {
		t.Errorf("%d scenarios, want five kinds of honest tenants and three mixtures", found)
	}
}
