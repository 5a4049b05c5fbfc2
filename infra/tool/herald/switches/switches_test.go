package switches

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// world is AWS as switches see it: changes take time, calls fail before or after their effect, and time passes.
type world struct {
	mu    sync.Mutex
	is    []state
	until []time.Time // of a change
	mark  []string

	calls   int
	fault   int                // the number of the call that fails, 0 for none
	late    bool               // it fails after its effect
	cancel  context.CancelFunc // instead of a failure
	between func(calls int)    // runs after a call
	pauses  func() time.Duration
	changes func() time.Duration
}

var errFault = errors.New("an internal error of AWS")

// call makes one call, with its effect.
func (w *world) call(ctx context.Context, effect func()) error {
	if w.pauses != nil {
		time.Sleep(w.pauses())
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	fails := w.calls == w.fault
	if fails && w.cancel != nil {
		w.cancel()
		fails = w.late // the call itself may still succeed
	}
	if !fails || w.late {
		effect()
	}
	if w.between != nil {
		w.between(w.calls)
	}
	if fails {
		return errFault
	}
	return nil
}

// part is one switch of the world, as its device and its marks.
type part struct {
	*world
	n int
}

func (p part) state(ctx context.Context) (is state, err error) {
	err = p.call(ctx, func() {
		is = p.is[p.n]
		if time.Now().Before(p.until[p.n]) {
			is = changing
		}
	})
	return is, err
}

func (p part) turn(ctx context.Context, to state) error {
	busy := false
	err := p.call(ctx, func() {
		busy = time.Now().Before(p.until[p.n])
		if !busy {
			p.is[p.n], p.until[p.n] = to, time.Now().Add(p.changes())
		}
	})
	if err == nil && busy {
		return errBusy
	}
	return err
}

func (p part) read(ctx context.Context) (mark string, err error) {
	err = p.call(ctx, func() { mark = p.mark[p.n] })
	return mark, err
}

func (p part) write(ctx context.Context, mark string) error {
	return p.call(ctx, func() { p.mark[p.n] = mark })
}

func (p part) remove(ctx context.Context) error {
	return p.call(ctx, func() { p.mark[p.n] = "" })
}

func newWorld(is []state, changes func() time.Duration) (*world, []Switch) {
	w := &world{is: is, until: make([]time.Time, len(is)), mark: make([]string, len(is)), changes: changes}
	all := make([]Switch, len(is))
	for n := range all {
		all[n] = Switch{fmt.Sprint(n), part{w, n}, part{w, n}}
	}
	return w, all
}

// stopAll and startAll turn every switch, whatever fails.
func stopAll(ctx context.Context, all []Switch, mark string) (err error) {
	for _, s := range all {
		_, fault := s.Stop(ctx, mark)
		err = errors.Join(err, fault)
	}
	return err
}

func startAll(ctx context.Context, all []Switch) (err error) {
	for _, s := range all {
		_, fault := s.Start(ctx)
		err = errors.Join(err, fault)
	}
	return err
}

var states = rapid.SliceOfN(rapid.SampledFrom([]state{on, off}), 1, 4)

// lost names the switches that no start would turn on again, or that were off and are not left alone.
func (w *world) lost(before []state) (all []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n, was := range before {
		if was == on && w.is[n] == off && w.mark[n] == "" || was == off && (w.is[n] == on || w.mark[n] != "") {
			all = append(all, n)
		}
	}
	return all
}

// durations are drawn ahead: rapid does not draw in the time of a test.
func durations(rt *rapid.T, name string, most time.Duration) func() time.Duration {
	drawn := rapid.SliceOfN(rapid.Int64Range(0, int64(most)), 40, 40).Draw(rt, name)
	var mu sync.Mutex
	next := 0
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		next++
		return time.Duration(drawn[next%len(drawn)])
	}
}

// step is a stop or a start. It breaks off at the call with the number fault, or at an interruption.
type step struct {
	stop, late, interrupted bool
	fault                   int // the number of the call, 0 for none
}

var steps = rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
	return step{
		stop: rapid.Bool().Draw(rt, "stop"), late: rapid.Bool().Draw(rt, "late"),
		interrupted: rapid.Bool().Draw(rt, "Ctrl-C"), fault: rapid.IntRange(0, 20).Draw(rt, "fault"),
	}
}), 2, 8)

// However often stops and starts break off, at any call, before or after its effect, or by Ctrl-C: nothing that was on
// is lost, nothing that was off is touched, and a start that completes restores every state.
func TestSwitches_comeBackExactlyWhateverBreaksOff(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before, broken := states.Draw(rt, "before"), steps.Draw(rt, "steps")
		w, all := newWorld(slices.Clone(before), durations(rt, "changes", time.Minute))
		var wrong error
		synctest.Test(t, func(t *testing.T) { wrong = w.breakOff(t.Context(), all, before, broken) })
		if wrong != nil {
			rt.Fatal(wrong)
		}
	})
}

// breakOff plays the steps, and then a stop and a start that complete.
func (w *world) breakOff(ctx context.Context, all []Switch, before []state, broken []step) error {
	for n, s := range broken {
		w.play(ctx, all, s)
		if lost := w.lost(before); lost != nil {
			return fmt.Errorf("after step %d, %v are lost: %v, marked %q", n, lost, w.is, w.mark)
		}
	}
	w.fault, w.cancel = 0, nil
	if err := stopAll(ctx, all, "the last"); err != nil {
		return err
	}
	if slices.Contains(w.is, on) {
		return fmt.Errorf("after a stop: %v", w.is)
	}
	if err := startAll(ctx, all); err != nil {
		return err
	}
	if !slices.Equal(w.is, before) || strings.Join(w.mark, "") != "" {
		return fmt.Errorf("was %v, is %v, marked %q", before, w.is, w.mark)
	}
	return nil
}

func (w *world) play(ctx context.Context, all []Switch, s step) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.calls, w.fault = 0, s.fault
	w.late, w.cancel = s.late, nil
	if s.interrupted {
		w.cancel = cancel
	}
	if s.stop {
		_ = stopAll(ctx, all, "a step")
	} else {
		_ = startAll(ctx, all)
	}
}

// Two operators stop and start at the same time, and the start may break off: no switch is off without a mark.
func TestSwitches_areNotLostBetweenTwoOperators(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before := states.Draw(rt, "before")
		w, all := newWorld(slices.Clone(before), durations(rt, "changes", time.Minute))
		pauses := durations(rt, "pauses", 4*time.Second)
		breaksOff := rapid.Int64Range(0, int64(3*time.Minute)).Draw(rt, "breaks off")
		var lost []int
		synctest.Test(t, func(t *testing.T) {
			_ = stopAll(t.Context(), all, "the first")
			w.pauses = pauses
			var both sync.WaitGroup
			both.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(breaksOff))
				defer cancel()
				_ = startAll(ctx, all)
			})
			both.Go(func() {
				time.Sleep(pauses())
				_ = stopAll(t.Context(), all, "the second")
			})
			both.Wait()
			lost = w.lost(before)
		})
		if lost != nil {
			rt.Fatalf("%v are lost: was %v, is %v, marked %q", lost, before, w.is, w.mark)
		}
	})
}

// Another operator stops a switch that a start has just turned on, at the worst moments, and breaks off.
func TestSwitch_Start_keepsTheMarkOfAnotherStop(t *testing.T) {
	const removes = 7 // the call: after mark, state, state, turn, state, mark
	for name, row := range map[string]struct {
		after int // this call of the start
		is    state
		mark  string
	}{
		"marked before the start removes its mark":   {removes - 2, on, "the second"},
		"turned off before the start has removed it": {removes, off, ""}, // which took the second's, too
	} {
		synctest.Test(t, func(t *testing.T) {
			w, all := newWorld([]state{on}, func() time.Duration { return 0 })
			if err := stopAll(t.Context(), all, "the first"); err != nil {
				t.Fatal(err)
			}
			w.calls = 0
			w.between = func(calls int) {
				if calls == row.after {
					w.is[0], w.mark[0] = row.is, row.mark
				}
			}
			got, err := all[0].Start(t.Context())
			if err != nil || got != StoppedByOther || w.is[0] != row.is || w.mark[0] == "" {
				t.Errorf("%s: %q, %v, and it is %s, marked %q", name, got, err, w.is[0], w.mark[0])
			}
		})
	}
}

// During a stop, an earlier start removes the mark and breaks off. The stop sets the mark again.
func TestSwitch_Stop_keepsItsMark(t *testing.T) {
	const turns = 4 // the call: after state, mark, state
	synctest.Test(t, func(t *testing.T) {
		w, all := newWorld([]state{on}, func() time.Duration { return 0 })
		w.between = func(calls int) {
			if calls == turns {
				w.mark[0] = ""
			}
		}
		got, err := all[0].Stop(t.Context(), "now")
		if err != nil || got != Stopped || w.is[0] != off || w.mark[0] != "now" {
			t.Errorf("%q, %v, and it is %s, marked %q", got, err, w.is[0], w.mark[0])
		}
	})
}

func TestSwitch_saysWhatItDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, all := newWorld([]state{on, off}, func() time.Duration { return time.Minute })
		say := func(want ...string) {
			t.Helper()
			for n, s := range all {
				got, err := s.Stop(t.Context(), "now")
				if n >= len(want) {
					break
				}
				if err != nil || got != want[n] {
					t.Errorf("a stop of %d: %q, %v; want %q", n, got, err, want[n])
				}
			}
		}
		say(Stopped, OffBefore)
		say(StoppedBefore, OffBefore)
		for n, want := range []string{Started, StaysOff} {
			if got, err := all[n].Start(t.Context()); err != nil || got != want {
				t.Errorf("a start of %d: %q, %v; want %q", n, got, err, want)
			}
		}
		if got, err := all[0].Start(t.Context()); err != nil || got != OnBefore {
			t.Errorf("a second start: %q, %v", got, err)
		}
		w.until[0] = time.Now().Add(time.Hour) // AWS does not come to an end
		begun := time.Now()
		_, err := all[0].Stop(t.Context(), "now")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != patience {
			t.Errorf("waited %s: %v", time.Since(begun), err)
		}
	})
}
