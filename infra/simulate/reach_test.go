package main

import (
	"testing"
	"testing/synctest"
	"time"
)

// waits are how long first attempts waited in minutes of the handlers themselves: those of the endpoints
// in trouble and those of the others, these from the second minute on.
type waits struct{ affected, others histogram }

func (p play) waits(t *testing.T) (w waits, diverted int) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		s, _ := p.scene(1)
		script, begun := s.script, map[int]bool{}
		answers := script.answer
		script.answer = func(to posting) answer {
			waited := to.at - script.arrivals[to.id].at
			switch {
			case begun[to.id]:
			case int(to.endpoint) < p.trouble:
				w.affected.add(waited)
			case to.at > time.Minute:
				w.others.add(waited)
			}
			begun[to.id] = true
			return answers(to)
		}
		b := newBubble(s)
		b.run()
		diverted = b.retries.sent
	})
	return w, diverted
}

// hangsIn is a receiver that hangs in a share of its answers.
func hangsIn(percent int) func(n, nth int, at time.Duration) answer {
	return func(n, nth int, _ time.Duration) answer {
		if (n*31+nth*7)%100 < percent {
			return hangs
		}
		return well(n)
	}
}

// What slow endpoints may cost others, and themselves, holds of the handlers as it does in the simulation.
func TestHandlers_othersDoNotWaitForSlowEndpoints(t *testing.T) {
	others := repeated(1, 10)
	calm, _ := play{schedule: schedule, rates: others}.waits(t)
	for name, row := range map[string]struct {
		play  play
		times float64 // the others' p99 may be so many times what it is without
	}{
		"ten endpoints hang at once": {
			play{schedule: schedule, rates: append(repeated(1, 10), others...), trouble: 10, failing: hangsIn(100)}, 1.5,
		},
		"30 endpoints hang in 9 % of their answers": {
			play{schedule: schedule, rates: append(repeated(1.5, 30), others...), trouble: 30, failing: hangsIn(9),
				length: 4 * time.Minute}, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := row.play.waits(t)
			p99, without := got.others.quantile(0.99), calm.others.quantile(0.99)
			t.Logf("p99 %s, without %s", p99, without)
			if float64(p99) > row.times*float64(without) {
				t.Errorf("others wait for %s, p99, and without it for %s", p99, without)
			}
		})
	}
}

func TestHandlers_aFewSlowAnswersDelayNothing(t *testing.T) {
	got, diverted := play{
		schedule: schedule,
		rates:    []float64{25}, trouble: 1,
		failing: func(n, _ int, _ time.Duration) answer {
			a := well(n)
			if n%100 == 0 {
				a.took = 2500 * time.Millisecond
			}
			return a
		},
	}.waits(t)
	t.Logf("%d of %d first attempts are put off, the longest wait is %s", diverted, got.affected.n, got.affected.max)
	if float64(diverted) > 0.02*float64(got.affected.n) || got.affected.max > time.Second {
		t.Errorf("%d of %d first attempts are put off, and wait for up to %s", diverted, got.affected.n, got.affected.max)
	}
}
