package allowance

import (
	"slices"
	"testing"
	"time"
)

// spent is time of processes that a tenant used while others waited, and its distance from the beginning.
type spent struct{ at, time time.Duration }

func TestSettings_Waited(t *testing.T) {
	each := func(n int, every, time time.Duration) (all []spent) {
		for i := range n {
			all = append(all, spent{every * timeOf(i), time})
		}
		return all
	}
	for name, c := range map[string]struct {
		spends []spent
		want   []time.Duration // charged
	}{
		"three seconds are free": {each(10, time.Second, 300*time.Millisecond), nil},
		"what exceeds them is charged": {
			[]spent{{0, 2 * time.Second}, {time.Second, 2 * time.Second}}, []time.Duration{time.Second},
		},
		"once only": {
			[]spent{{0, 4 * time.Second}, {time.Second, 4 * time.Second}}, []time.Duration{time.Second, 4 * time.Second},
		},
		"they are free again after six hours": {
			[]spent{{0, 3 * time.Second}, {6*time.Hour - 1, time.Second}, {6 * time.Hour, 3 * time.Second}, {7 * time.Hour, 1}},
			[]time.Duration{time.Second, 1},
		},
		"a charge a second is written, and the rest added up": {
			each(25, 100*time.Millisecond, 3*time.Second),
			[]time.Duration{3 * time.Second, 30 * time.Second, 30 * time.Second},
		},
		"nothing that was spent is nothing to charge": {each(10, time.Second, 0), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var a Account
			var got []time.Duration
			for _, s := range c.spends {
				var due time.Duration
				if a, due = settings.Waited(a, s.time, now.Add(s.at)).Collect(now.Add(s.at)); due > 0 {
					got = append(got, due)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("charged %s, want %s", got, c.want)
			}
		})
	}
}

func timeOf(n int) time.Duration { return time.Duration(n) }

func TestAccount_Owe_isChargedInFull(t *testing.T) {
	a, due := Account{}.Owe(time.Second).Owe(-time.Hour).Collect(now)
	if due != time.Second {
		t.Errorf("charged %s, want 1s", due)
	}
	if _, due = a.Collect(now.Add(time.Hour)); due != 0 {
		t.Errorf("charged %s again", due)
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		waited, of int
		want       time.Duration
	}{{10, 10, 20 * time.Second}, {1, 10, 2 * time.Second}, {0, 10, 0}, {0, 0, 0}} {
		if got := Share(20*time.Second, c.waited, c.of); got != c.want {
			t.Errorf("%d of %d waited: %s of 20s, want %s", c.waited, c.of, got, c.want)
		}
	}
}

// Ten tenants together take as much as one would take alone, and are found. An honest tenant that takes less than each
// of them for as long is not.
func TestSettings_Waited_findsTenTogetherAndNoOther(t *testing.T) {
	const processes, seconds = 200, 6
	play := func(share float64) (slow bool) {
		x := &tenant{}
		accounts := make([]Account, processes)
		for n := range processes * seconds / 3 { // each batch takes 3 s
			at := now.Add(time.Duration(n) * 3 * time.Second / processes)
			d := time.Duration(share * float64(10*3*time.Second))
			a, due := settings.Waited(accounts[n%processes], d, at).Collect(at)
			accounts[n%processes] = a
			if due > 0 {
				x.charge(due, at, false)
			}
		}
		return settings.Slow(x.until, now.Add(seconds*time.Second))
	}
	for share, want := range map[float64]bool{0.9: true, 0.11: true, 0.05: false} {
		if got := play(share); got != want {
			t.Errorf("a tenant that takes %g of all processes for %d s is slow: %v, want %v", share, seconds, got, want)
		}
	}
}
