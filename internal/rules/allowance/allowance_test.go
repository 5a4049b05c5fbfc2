package allowance

import (
	"testing"
	"time"
)

var (
	settings = New(200, 15*time.Second)
	now      = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
)

// tenant stands for the tenant's row in the table, which is charged as the table charges it.
type tenant struct{ until time.Time }

func (x *tenant) charge(kept time.Duration, at time.Time, lane bool) {
	d := settings.Charge(kept, lane)
	if x.until.Before(at) {
		x.until = at
	}
	x.until = x.until.Add(d)
	if to, move := settings.Adjust(x.until, d, lane, at); move {
		x.until = to
	}
}

func TestNew_givesATenantAFourHundredthOfTheProcesses(t *testing.T) {
	want := Settings{
		Rate: 0.5, SlowRate: 50, Burst: 30 * time.Second, Free: 3 * time.Second, Late: time.Second,
		Least: 6 * time.Hour, Most: 24 * time.Hour,
	}
	if settings != want {
		t.Errorf("got %+v, want %+v", settings, want)
	}
}

func TestSettings_Slow(t *testing.T) {
	play := func(times int, each, every time.Duration) *tenant {
		x := &tenant{}
		for n := range times {
			x.charge(settings.Due(each, 0), now.Add(time.Duration(n)*every), false)
		}
		return x
	}
	for name, c := range map[string]struct {
		tenant *tenant
		at     time.Duration
		want   bool
	}{
		"answers within a fifth of the timeout are free": {
			play(10_000, 3*time.Second, time.Millisecond), 10 * time.Second, false,
		},
		"one batch that hangs is within the burst":   {play(1, 15*time.Second, 0), 0, false},
		"two batches that hang are within the burst": {play(2, 15*time.Second, 0), 0, false},
		"three are not": {play(3, 15*time.Second, 0), 0, true},
		"fifty endpoints that hang at once make it slow":     {play(50, 15*time.Second, 0), 0, true},
		"and it stays for six hours":                         {play(3, 15*time.Second, 0), 6*time.Hour - time.Second, true},
		"and not for longer":                                 {play(3, 15*time.Second, 0), 6*time.Hour + time.Second, false},
		"one slow answer a minute is paid for":               {play(60, 15*time.Second, time.Minute), time.Hour, false},
		"a pulse of fifty slow answers every day is noticed": {play(50, 14500*time.Millisecond, 0), time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := settings.Slow(c.tenant.until, now.Add(c.at)); got != c.want {
				t.Errorf("slow until %s: %v, want %v", c.tenant.until.Sub(now), got, c.want)
			}
		})
	}
}

func TestSettings_Adjust_boundsAStay(t *testing.T) {
	x := &tenant{}
	for n := range 100_000 {
		x.charge(12*time.Second, now.Add(time.Duration(n)*time.Millisecond), false)
	}
	end := now.Add(100 * time.Second)
	if at := end.Add(24 * time.Hour); settings.Slow(x.until, at) || !settings.Slow(x.until, at.Add(-time.Minute)) {
		t.Errorf("slow until %s after the last charge, want a day", x.until.Sub(end))
	}
}

func TestSettings_Charge_isDearerOutsideTheLane(t *testing.T) {
	if got := settings.Charge(time.Second, false); got != 2*time.Second {
		t.Errorf("a process-second moves slow_until by %s, want 2s", got)
	}
	if got := settings.Charge(time.Second, true); got != 20*time.Millisecond {
		t.Errorf("a process-second on SlowQueue moves slow_until by %s, want 20ms", got)
	}
}

func TestSettings_Due_chargesEachSecondOnce(t *testing.T) {
	var charged time.Duration
	for _, kept := range []time.Duration{2 * time.Second, 6 * time.Second, 12 * time.Second, 14500 * time.Millisecond} {
		charged += settings.Due(kept, charged)
	}
	if want := 11500 * time.Millisecond; charged != want {
		t.Errorf("charged %s of 14.5s, want %s", charged, want)
	}
}

// The charge that makes a tenant slow may lose its answer, and with it the raise.
func TestSettings_Adjust_raisesWhoIsSlowAlready(t *testing.T) {
	barely := now.Add(61 * time.Second)
	if to, move := settings.Adjust(barely, time.Millisecond, false, now); !move || to.Sub(now) < 6*time.Hour {
		t.Errorf("a charge outside the lane leaves a stay of %s", to.Sub(now))
	}
	if _, move := settings.Adjust(barely, time.Millisecond, true, now); move {
		t.Error("a charge of the lane raises a stay that ends")
	}
}

func TestSettings_atTheThreshold(t *testing.T) {
	if settings.Slow(now.Add(time.Minute), now) || !settings.Slow(now.Add(time.Minute+1), now) {
		t.Error("a tenant is slow otherwise than beyond its burst of a minute")
	}
	if end := settings.End(now.Add(time.Hour)); !end.Equal(now.Add(59 * time.Minute)) {
		t.Errorf("a tenant that owes an hour is slow until %s", end)
	}
	crossed, d := now.Add(61*time.Second), 2*time.Second
	if to, move := settings.Adjust(crossed, d, true, now); !move || to.Sub(now) < 6*time.Hour {
		t.Errorf("a charge of the lane that crosses the threshold leaves a stay of %s", to.Sub(now))
	}
}
