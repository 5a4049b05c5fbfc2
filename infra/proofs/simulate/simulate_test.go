package simulate

import (
	"flag"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	play   = flag.String("play", "", `scenarios to play, as names or "name@rate", separated by commas; "all" plays all`)
	length = flag.Duration("length", 0, "how long scenarios are at most, but for sweeps; 0: as they are")
	fair   = flag.String("fair", "both", `"no" plays with ordinary queues only, "yes" with fair ones only`)
	past   = flag.String("figures", "", "file with the figures of earlier runs, which takes these")
	rows   = flag.String("rows", "", "file for the figures of all runs, with -write")
	page   = flag.String("write", "", "directory of the page capacity.md, to write the figures and the plots into")
)

// Plays the scenarios that -play names ("make simulate"), and writes their figures where -write says.
func TestSimulate(t *testing.T) {
	var chosen []Scenario
	for _, s := range Scenarios() {
		if !s.named(*play) {
			continue
		}
		for _, s.Fair = range map[string][]bool{"no": {false}, "yes": {true}, "both": {false, true}}[*fair] {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 && *past == "" {
		return
	}
	debug.SetGCPercent(800) // memory is there
	all := make([]Result, len(chosen))
	t.Run("all", func(t *testing.T) { // ends when all of them have
		for n, s := range chosen {
			t.Run(s.Title(), func(t *testing.T) {
				t.Parallel()
				if *length > 0 && !s.whole() {
					s.Length = min(s.Length, *length)
				}
				all[n] = played(t, s)
				for _, problem := range all[n].Problems() {
					t.Error(problem)
				}
			})
		}
	})
	if *past != "" {
		var err error
		if all, err = Merge(*past, all); err != nil {
			t.Fatal(err)
		}
	}
	t.Log("\n" + Sweep(all))
	if *page == "" {
		t.Log("\n" + Tables(all))
	} else if err := Write(*page, *rows, all); err != nil {
		t.Error(err)
	}
}

// A few scenarios in short forms, with fewer deliveries: isolation and recovery have to hold there as well.
func TestScenarios_inShort(t *testing.T) {
	t.Parallel()
	for _, s := range Scenarios() {
		from, found := map[string]time.Duration{
			"hang@100": 6 * time.Minute, "adaptive@100": 6 * time.Minute, "flap@100": 30 * time.Minute, "usual": 5 * time.Minute,
			"three-seconds": 5 * time.Minute, "tables": 80 * time.Minute, "day": time.Hour, "replay": 4 * time.Minute,
		}[s.Title()]
		if !found {
			continue
		}
		t.Run(s.Title(), func(t *testing.T) {
			t.Parallel()
			r := played(t, s.inShort(from))
			for _, problem := range r.Problems() {
				t.Error(problem)
			}
			if r.Created < 1000 || r.Posts == 0 && s.tenants > 0 {
				t.Errorf("%+v", r.brief())
			}
		})
	}
}

// inShort is the scenario with a tenth of the deliveries.
func (s Scenario) inShort(length time.Duration) Scenario {
	s.Rate, s.Length = max(s.Rate/10, 5), length
	if s.Kind == Honest {
		s.events /= 10
	}
	if s.up > 0 {
		s.up = length
		s.answer = until(down, length)
	}
	return s
}

func (s Scenario) named(names string) bool {
	for name := range strings.SplitSeq(names, ",") {
		if name == "all" || name == s.Name || name == s.Title() || name == string(s.Kind) {
			return true
		}
	}
	return false
}

// played is the result of a scenario.
func played(t *testing.T, s Scenario) (r Result) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { r = Run(s) })
	t.Logf("%s: %+v", s.Title(), r.brief())
	return r
}

// brief are the figures without those of plots.
func (f Figures) brief() Figures {
	f.Bins, f.Samples = nil, nil
	f.Pace.Sent, f.Pace.Published, f.Pace.byHook = nil, nil, nil
	return f
}
