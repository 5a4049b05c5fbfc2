package circuit

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var (
	epoch    = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	settings = New(time.Minute, 30*time.Second)
)

// scene is one endpoint: its stored item, its row, and the clock.
type scene struct {
	item  Item
	facts Facts
	now   time.Time
}

func newScene() scene {
	return scene{item: Item{TenantID: "acme", EndpointID: "webhook_1"}, now: epoch}
}

func (s scene) after(d time.Duration) scene {
	s.now = s.now.Add(d)
	return s
}

// attempts ends attempts that begin now, a second later.
func (s scene) attempts(results ...Result) scene {
	results = slices.Clone(results)
	for n := range results {
		results[n].Begun = s.now
	}
	s = s.after(time.Second)
	s.item, _ = s.item.Observe(settings, results, Seen{Tried: len(results)}, s.now)
	return s
}

func (s scene) fails(n int) scene { return s.attempts(failures(n)...) }

func (s scene) answers() scene {
	return s.attempts(Result{DeliveryID: "msg_ok", OK: true, Status: 200})
}

// probe claims a probe and attempts it.
func (s scene) probe(ok bool) scene {
	s.item = s.item.Claim(settings, s.now)
	return s.attempts(Result{DeliveryID: "msg_probe", OK: ok, Status: 200, Probe: s.item.ProbedAt})
}

// run is the part of a run of release that changes states; held says that it finds something held.
func (s scene) run(held bool) scene {
	p := s.item.Plan(settings, s.facts, s.now)
	s.item = p.Item
	if p.Search && held {
		s.item, _ = s.item.Found(settings, s.facts, s.now)
	}
	if p.Search && !p.Changed && !held && s.item.Empty(settings, s.facts, s.now, s.now) == Close {
		s.item = s.item.Closed(s.now)
	}
	return s
}

func (s scene) holds() scene {
	s.item.HeldUntil = settings.NewLease(s.now)
	s.item.Version = max(s.item.Version, 1)
	return s
}

func failures(n int) []Result {
	var all []Result
	for i := range n {
		all = append(all, Result{DeliveryID: fmt.Sprint("msg_", i), Status: 503, Reason: "http_5xx", Retry: true})
	}
	return all
}

func failing() scene    { return newScene().fails(1) }
func open() scene       { return newScene().fails(3).after(5 * time.Minute).fails(3) }
func recovering() scene { return open().after(time.Minute).probe(true) }

func TestItem_changesItsState(t *testing.T) {
	const second = time.Second // that the last attempts take
	for name, c := range map[string]struct {
		end  scene
		want State
	}{
		"a failure": {newScene().fails(1), Failing},
		"a first attempt that is answered and fails": {newScene().attempts(Result{DeliveryID: "a", Status: 500}), None},
		"a first attempt without an answer":          {newScene().attempts(Result{DeliveryID: "a"}), Failing},
		"a 2xx beside failures speaks for all":       {newScene().attempts(append(failures(9), Result{OK: true})...), None},
		"a 2xx ends a run of failures":               {failing().answers(), None},
		"5 failures of 3 deliveries over exactly 5 min": {
			newScene().fails(3).after(5*time.Minute - second).fails(2), Open,
		},
		"4 failures of 3 deliveries over 5 min":      {newScene().fails(3).after(5 * time.Minute).fails(1), Failing},
		"5 failures of 3 deliveries over 4 min":      {newScene().fails(3).after(4 * time.Minute).fails(3), Failing},
		"50 failures over exactly 30 s":              {newScene().fails(25).after(30*second - second).fails(25), Open},
		"49 failures over 30 s":                      {newScene().fails(25).after(30 * second).fails(24), Failing},
		"5 failures over exactly 30 s in a recovery": {recovering().fails(1).after(30*second - second).fails(4), Open},
		"4 failures over 30 s in a recovery":         {recovering().fails(1).after(30 * second).fails(3), Recovering},
		"5 failures of 2 deliveries over 5 min": {
			newScene().fails(2).after(5 * time.Minute).fails(2).fails(2), Failing,
		},
		"50 failures at once":                          {newScene().fails(50), Failing},
		"a 2xx of an attempt begun before the opening": {open().late(Result{OK: true}), Open},
		"a probe's failure":                            {open().after(time.Minute).probe(false), Open},
		"a probe's 2xx":                                {recovering(), Recovering},
		"a probe of an earlier opening":                {open().attempts(Result{OK: true, Probe: epoch}), Open},
		"5 failures at once in a recovery":             {recovering().fails(9), Recovering},
		"a 2xx between failures of a recovery": {
			recovering().fails(4).after(30 * time.Second).answers().fails(4), Recovering,
		},
		"nothing is left of a recovery":       {recovering().run(false), None},
		"something is left of a recovery":     {recovering().run(true), Recovering},
		"a stop in a recovery":                {recovering().stopped().run(true), None},
		"a change by the owner in a recovery": {recovering().changed().run(true), None},
		"a change that a recovery followed": {
			open().after(time.Minute).changed().after(1).probe(true).run(true), Recovering,
		},
		"something is held under no state":      {newScene().holds().run(true), Recovering},
		"something is held under a failing one": {failing().holds().run(true), Recovering},
		"something is held under an open one":   {open().holds().run(true), Open},
		"something is held while stopped":       {newScene().holds().stopped().run(true), None},
		"something is held, 9 min after a recovery": {
			recovering().run(false).holds().after(9 * time.Minute).run(true), None,
		},
		"something is held, 10 min after a recovery": {
			recovering().run(false).holds().after(10 * time.Minute).run(true), Recovering,
		},
		"an operator's release of an open one":   {open().released().run(true), Recovering},
		"an operator's release of a failing one": {failing().released().run(true), Recovering},
		"an operator's release of a stopped one": {open().stopped().released().run(true), Open},
		"an order that an attempt came before":   {failing().released().answers().run(false), Recovering},
		"an order that was carried out":          {open().released().run(true).run(false).run(false), None},
		"an order from before the state began":   {newScene().released().after(time.Hour).fails(1).run(false), Failing},
		"an endpoint that is gone":               {open().gone().run(true), Open},
	} {
		t.Run(name, func(t *testing.T) {
			if c.end.item.State != c.want {
				t.Errorf("state %q, want %q", c.end.item.State, c.want)
			}
		})
	}
}

func (s scene) late(r Result) scene {
	r.Begun = s.item.Since.Add(-time.Second)
	s.item, _ = s.item.Observe(settings, []Result{r}, Seen{}, s.now)
	return s
}

func (s scene) stopped() scene {
	s.facts.Stopped = true
	return s
}

func (s scene) changed() scene {
	s = s.after(time.Second)
	s.facts.ChangedAt = s.now
	return s
}

func (s scene) gone() scene {
	s.facts.Gone = true
	return s
}

func (s scene) released() scene {
	s = s.after(time.Second)
	s.facts.ReleasedAt = s.now
	return s.after(time.Second)
}

func TestItem_Plan_probesWhenTheyAreDue(t *testing.T) {
	minutes := func(s scene, rounds int) (waits []int) {
		for range rounds {
			began := s.now
			for !s.item.Plan(settings, s.facts, s.now).Probe {
				s = s.after(time.Minute)
			}
			waits = append(waits, int(s.now.Sub(began).Round(time.Minute)/time.Minute))
			s = s.probe(false)
		}
		return waits
	}
	for name, c := range map[string]struct {
		from scene
		want []int
	}{
		"of an opening": {open(), []int{1, 2, 4, 5, 5, 5}},
		"once a recovery has failed, and not within ten minutes of its beginning": {
			recovering().fails(3).after(30 * time.Second).fails(3), []int{10, 20, 40, 60, 60}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, minutes(c.from, len(c.want))); diff != "" {
				t.Errorf("waits in minutes (-want +got):\n%s", diff)
			}
		})
	}
}

// The table of the design has the rest. These are moments, and answers since.
func TestItem_Empty_removesNothingTooEarly(t *testing.T) {
	ended := newScene().holds().after(6 * time.Minute)
	old := func(s scene) scene { return s.after(48 * time.Hour) }
	for name, c := range map[string]struct {
		at       scene
		searched time.Duration // before now
		want     End
	}{
		"a lease that ended after the search began": {ended, 2 * time.Minute, Keep},
		"a recovery that began ten minutes ago": {
			recovering().run(false).holds().after(10 * time.Minute), 0, Remove,
		},
		"a failing endpoint that has failed since": {old(failing()).fails(1), 0, Keep},
		"one that has just answered":               {failing().answers(), 0, Remove},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.at.item.Empty(settings, c.at.facts, c.at.now.Add(-c.searched), c.at.now); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestItem_Verdict(t *testing.T) {
	s := recovering()
	before, after := s.item.Since.Add(-time.Hour), s.now
	lives := Waiting{Held: true, StoredAt: before, DueAt: before}
	change := func(f func(w *Waiting)) Waiting {
		w := lives
		f(&w)
		return w
	}
	for name, c := range map[string]struct {
		at   scene
		item Waiting
		want Verdict
	}{
		"what is held goes out":                 {s, lives, Send},
		"what waited for its schedule goes out": {s, change(func(w *Waiting) { w.Held = false }), Send},
		"what waits since the recovery began stays": {
			s, change(func(w *Waiting) { w.Held, w.StoredAt = false, after }), Leave,
		},
		"what was held since the recovery began goes": {s, change(func(w *Waiting) { w.StoredAt = after }), Send},
		"the last place waits for its own time": {
			s, change(func(w *Waiting) { w.Last, w.DueAt = true, after.Add(time.Hour) }), PutBack,
		},
		"the last place whose time has come goes out": {s, change(func(w *Waiting) { w.Last = true }), Send},
		"Retry-After is kept": {
			s, change(func(w *Waiting) { w.NotBefore = after.Add(time.Hour) }), PutBack,
		},
		"an order overrides Retry-After": {
			s.released(), change(func(w *Waiting) { w.NotBefore = after.Add(time.Hour) }), Send,
		},
		"an order overrides the last place's time": {
			s.released(), change(func(w *Waiting) { w.Last, w.DueAt = true, after.Add(time.Hour) }), Send,
		},
		"an order counts once": {
			s.released(), change(func(w *Waiting) {
				w.Last, w.DueAt, w.StoredAt = true, after.Add(time.Hour), after.Add(time.Minute)
			}), PutBack,
		},
		"without a recovery everything stays": {failing(), lives, Leave},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.at.item.Verdict(c.at.facts, c.item, c.at.now); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestItem_NextQuota_doublesUpToItsLimitAndBeyondOnlyForWhatWouldBeLate(t *testing.T) {
	item := recovering().item
	item.Since = epoch
	ages := epoch.Add(-24 * time.Hour) // the oldest that waits
	now := epoch
	var short, long []int
	for n := range 6 {
		oldest := epoch.Add(time.Duration(n-60) * time.Minute)
		quota := item.NextQuota(settings, oldest, now)
		item, now = item.Paced(quota, oldest, now), now.Add(time.Minute)
		short = append(short, quota)
	}
	item.Pace = Pace{}
	for range 7 {
		quota := item.NextQuota(settings, ages, now)
		item, ages, now = item.Paced(quota, ages, now), ages.Add(time.Second), now.Add(time.Minute)
		long = append(long, quota)
	}
	if diff := cmp.Diff([]int{120, 240, 480, 960, 960, 960}, short); diff != "" {
		t.Errorf("of an hour's deliveries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{120, 240, 480, 960, 1920, 3840, 7680}, long); diff != "" {
		t.Errorf("of a day's deliveries (-want +got):\n%s", diff)
	}
}

// A run may send nothing that is older than what the run before it sent. Then the recovery is late as long as anything
// is left that was created before it began.
func TestItem_NextQuota_ofARunThatDidNotGetOn(t *testing.T) {
	for name, row := range map[string]struct {
		oldest, last time.Duration // created so long before the recovery began: now, and in the last run
		want         int
	}{
		"with something left":                      {time.Hour, time.Hour, 1920},
		"with something left that is older":        {2 * time.Hour, time.Hour, 1920},
		"with what was created as it began":        {0, 0, 960},
		"with what was created as it began, again": {0, -time.Minute, 960},
	} {
		item := recovering().item
		item.Since = epoch
		item.Pace = Pace{Quota: 960, Oldest: epoch.Add(-row.last)}
		if got := item.NextQuota(settings, epoch.Add(-row.oldest), epoch); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}

func TestRecent_Share_forgetsAfterTenMinutes(t *testing.T) {
	r := Recent{}.Add(10, 5, epoch).Add(4, 4, epoch.Add(6*time.Minute))
	for after, want := range map[time.Duration][2]int{
		6 * time.Minute: {9, 14}, 11 * time.Minute: {4, 4}, 20 * time.Minute: {0, 0},
	} {
		ok, tried := r.Share(epoch.Add(after))
		if got := [2]int{ok, tried}; got != want {
			t.Errorf("after %s: %v, want %v", after, got, want)
		}
	}
}

// TestItem_keepsItsPromises draws lives of an endpoint. It checks the promises of the package comment after every step,
// and compares the transitions with those in design.md.
func TestItem_keepsItsPromises(t *testing.T) {
	seen := map[string]bool{}
	for range 10 { // of a hundred lives each
		rapid.Check(t, func(t *rapid.T) { live(t, seen) })
	}
	drawn := drawnTransitions(t)
	for transition := range seen {
		if !slices.Contains(drawn, transition) {
			t.Errorf("%s happens and is not drawn in design.md", transition)
		}
	}
	for _, transition := range drawn {
		if !seen[transition] {
			t.Errorf("%s is drawn in design.md and did not happen", transition)
		}
	}
}

func live(t *rapid.T, seen map[string]bool) {
	s, recovered, ordered := newScene(), time.Time{}, false
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		was := s
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0, 1:
			s = s.fails(rapid.IntRange(1, 30).Draw(t, "failures"))
		case 2:
			s = s.answers()
		case 3:
			if s.item.Plan(settings, s.facts, s.now).Probe {
				s = s.probe(rapid.Bool().Draw(t, "ok"))
			}
		case 4, 5:
			s = s.run(rapid.Bool().Draw(t, "held"))
		case 6:
			s = s.holds()
		case 7:
			s.facts.Stopped = !s.facts.Stopped
		case 8:
			s, ordered = s.released(), true
		case 9:
			s = s.after(time.Duration(rapid.SampledFrom([]int{10, 40, 300, 3600}).Draw(t, "seconds")) * time.Second)
		}
		if s.item.HeldUntil.Before(was.item.HeldUntil) {
			t.Fatal("a lease shrank")
		}
		if s.item.State != was.item.State {
			seen[was.item.State.String()+" --> "+s.item.State.String()] = true
			if s.item.Version <= was.item.Version {
				t.Fatal("a state changed without a new version")
			}
		}
		if s.item.State == Recovering && s.item.Since.After(recovered) {
			if !recovered.IsZero() && s.item.Since.Sub(recovered) < settings.RecoverOnce && !ordered {
				t.Fatalf("recoveries %s apart", s.item.Since.Sub(recovered))
			}
			recovered, ordered = s.item.Since, false
		}
	}
}

func drawnTransitions(t *testing.T) (all []string) {
	t.Helper()
	doc, err := os.ReadFile("../../../infra/docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^ +(\w+ --> \w+): `).FindAllStringSubmatch(string(doc), -1) {
		all = append(all, m[1])
	}
	if len(all) == 0 {
		t.Fatal("design.md draws no transitions")
	}
	return all
}
