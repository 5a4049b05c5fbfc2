package circuit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A write for every failure of a busy endpoint would cost more than it tells.
func TestItem_Observe_storesWhatChangesTheDecision(t *testing.T) {
	known := func(state State, failures int, deliveries ...string) Item {
		return Item{Version: 1, State: state, Since: epoch, FailingSince: epoch, Failures: failures, Deliveries: deliveries}
	}
	for name, c := range map[string]struct {
		item  Item
		begun time.Time
		ok    bool
		want  bool
	}{
		"a failure of another delivery":             {item: known(Failing, 3, "b"), want: true},
		"a failure of the same while few failed":    {item: known(Failing, 2, "a"), want: true},
		"a failure of the same when others are due": {item: known(Failing, 3, "a")},
		"a failure of the same in a recovery":       {item: known(Recovering, 3, "a"), want: true},
		"a failure of the same when enough failed":  {item: known(Failing, 9, "a", "b", "c"), want: true},
		"a failure from before the state":           {item: known(Failing, 3, "b", "c"), begun: epoch.Add(-time.Second)},
		"a 2xx of a recovery that had failures":     {item: known(Recovering, 3, "a"), ok: true, want: true},
		"a 2xx of a recovery without failures":      {item: known(Recovering, 0), ok: true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.begun.IsZero() {
				c.begun = epoch.Add(time.Second)
			}
			result := Result{DeliveryID: "a", Begun: c.begun, OK: c.ok, Status: 503, Retry: true}
			if _, store := c.item.Observe(settings, []Result{result}, Seen{Tried: 1}, epoch.Add(time.Minute)); store != c.want {
				t.Errorf("stored: %v, want %v", store, c.want)
			}
		})
	}
	if got := newScene().fails(5).item.Deliveries; len(got) != settings.Deliveries {
		t.Errorf("keeps the deliveries %v, want %d", got, settings.Deliveries)
	}
}

func TestSettings_NewLease_coversFourRunsOfDeliver(t *testing.T) {
	long := settings
	long.FunctionTimeout = 5 * time.Minute
	for s, want := range map[*Settings]time.Duration{&settings: 5 * time.Minute, &long: 20 * time.Minute} {
		if got := s.NewLease(epoch).Sub(epoch); got != want {
			t.Errorf("with a function timeout of %s: %s, want %s", s.FunctionTimeout, got, want)
		}
	}
}

func TestItem_Plan_waitsForTenMinutes(t *testing.T) {
	ordered := Item{Version: 1, State: Failing, Since: epoch.Add(time.Second)} // an attempt came between
	recovered := Item{State: Open, Since: epoch, ProbedAt: epoch.Add(-time.Hour), RecoveredAt: epoch, Probes: 7}
	probed := Item{State: Open, Since: epoch.Add(-time.Hour), ProbedAt: epoch, Probes: len(settings.Probes) + 3}
	released, changed := Facts{ReleasedAt: epoch}, Facts{ChangedAt: epoch.Add(time.Minute)}
	type does struct{ Probe, Changed bool }
	for name, c := range map[string]struct {
		item  Item
		facts Facts
		after time.Duration
		want  does
	}{
		"an operator's order counts before that":     {ordered, released, 10*time.Minute - 1, does{Changed: true}},
		"an operator's order is taken for done then": {ordered, released, 10 * time.Minute, does{}},
		"a change probes not before, of a recovery":  {recovered, changed, 10*time.Minute - 1, does{}},
		"a change probes then, of a recovery":        {recovered, changed, 10 * time.Minute, does{Probe: true}},
		"a change probes not before, of a probe":     {probed, changed, 10*time.Minute - 1, does{}},
		"a change probes then, of a probe":           {probed, changed, 10 * time.Minute, does{Probe: true}},
		"nothing probes a stopped endpoint":          {recovered, Facts{Stopped: true}, 3 * time.Hour, does{}},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.item.Plan(settings, c.facts, epoch.Add(c.after))
			if got := (does{p.Probe, p.Changed}); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestItem_NextProbe_repeatsTheLastWait(t *testing.T) {
	item := Item{State: Open, Since: epoch, Probes: 100} // stored under settings with more waits
	if got := item.NextProbe(settings).Sub(epoch); got != time.Hour {
		t.Errorf("after %s, want an hour", got)
	}
	item.Probes = len(settings.Probes)
	if got := item.NextProbe(settings).Sub(epoch); got != 10*time.Minute {
		t.Errorf("first after a failed recovery: %s, want ten minutes", got)
	}
	for range 20 {
		item = item.Claim(settings, epoch)
	}
	if last := len(settings.Probes) + len(settings.Reprobes) - 1; item.Probes != last {
		t.Errorf("claims count to %d, want %d", item.Probes, last)
	}
}

func TestNew_shortensPolicyAlone(t *testing.T) {
	const second = time.Second
	want := settings
	want.Span, want.BusySpan, want.ReopenSpan, want.Run = 25*second, 2500*time.Millisecond, 2500*time.Millisecond, 5*second
	want.Probes = []time.Duration{5 * second, 10 * second, 20 * second, 25 * second}
	want.Reprobes = []time.Duration{50 * second, 100 * second, 200 * second, 300 * second}
	want.RecoverOnce, want.Lease, want.CatchUp, want.Ahead = 50*second, 25*second, 30*time.Minute, 15*second
	if diff := cmp.Diff(want, New(5*second, 30*second)); diff != "" {
		t.Errorf("minutes of 5 s (-want +got):\n%s", diff)
	}
}

// After CatchUp, a sixth of it is allowed for the rest.
func TestItem_NextQuota_hurriesForWhatTakesLongerThanIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		runs, left time.Duration // since the beginning, and of deliveries
		want       int
	}{
		"as long as is left":        {3 * time.Hour, 3 * time.Hour, 960},
		"longer than is left":       {3 * time.Hour, 3*time.Hour + 1, 1920},
		"an hour's at the end":      {6 * time.Hour, time.Hour, 960},
		"more than that at the end": {6 * time.Hour, time.Hour + 1, 1920},
		"an hour's when it is over": {60 * time.Hour, time.Hour, 960},
		"five hours' at the start":  {time.Minute, 5 * time.Hour, 960},
		"seven hours' at the start": {time.Minute, 7 * time.Hour, 1920},
		"nothing but the oldest":    {time.Hour, 0, 960},
	} {
		t.Run(name, func(t *testing.T) {
			oldest := epoch.Add(-c.left) // in the last run it was a run's time older
			item := Item{Since: epoch, Pace: Pace{Quota: 960, Oldest: oldest.Add(-settings.Run)}}
			if got := item.NextQuota(settings, oldest, epoch.Add(c.runs)); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}
