package health

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/retry"
)

// probes runs release every minute beside an endpoint that fails every probe, and returns the
// minutes at which one was sent.
func probes(w world, minutes int, changedAt int) (sent []int) {
	for minute := 1; minute <= minutes; minute++ {
		w.now = w.now.Add(time.Minute)
		if minute == changedAt {
			w.endpoint.ChangedAt = w.now.Add(-time.Second)
		}
		if !w.view.Plan(Default(), w.endpoint, w.now).Probe {
			continue
		}
		w = w.store(w.view.Claim(Default(), w.endpoint, w.now))
		w = w.observe(Result{Status: 500, Probe: w.view.Endpoint.Probe})
		sent = append(sent, minute)
	}
	return sent
}

func opened() world {
	w := newWorld()
	w.view.Endpoint = w.view.item().open(Default(), w.now)
	w.view.Endpoint.Version = 1
	return w
}

func TestView_Plan_probes(t *testing.T) {
	if diff := cmp.Diff([]int{1, 3, 7, 12, 17, 22, 27}, probes(opened(), 30, 0)); diff != "" {
		t.Errorf("minutes with a probe (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 3, 7, 9, 11, 15, 20, 25, 30}, probes(opened(), 30, 9)); diff != "" {
		t.Errorf("minutes with a probe, the endpoint being changed in the ninth (-want +got)\n%s", diff)
	}
	if n := len(probes(opened(), 24*60, 0)); n > 24*30 {
		t.Errorf("%d probes in a day", n)
	}
}

func TestView_Claim_numbersAreNeverUsedTwice(t *testing.T) {
	w := opened()
	first := w.view.Claim(Default(), w.endpoint, w.now)
	second := w.view.Claim(Default(), w.endpoint, w.now)
	if _, ok := second.Apply(w.store(first).view.Endpoint); ok {
		t.Error("two runs of release claim the same probe")
	}
	w = w.store(first)
	if next := w.view.Claim(Default(), w.endpoint, w.now); next.Item.Probe <= first.Item.Probe {
		t.Errorf("probe %d after %d", next.Item.Probe, first.Item.Probe)
	}
}

func TestView_Fate(t *testing.T) {
	now := epoch.Add(10 * time.Hour)
	due := Waiting{ParkedAt: now.Add(-time.Hour), StartedAt: epoch, DueAt: now.Add(3 * time.Minute),
		DiesAt: now.Add(time.Hour)}
	notYet := due
	notYet.DueAt = now.Add(3*time.Minute + time.Second)
	heldBack := due
	heldBack.Held, heldBack.DueAt = true, due.DiesAt
	over := due
	over.DiesAt, over.DueAt, over.Held = now, now, true
	longOver := over
	longOver.DiesAt = now.Add(-time.Hour)
	week := heldBack
	week.StartedAt = now.Add(-7 * 24 * time.Hour)
	floor := heldBack
	floor.NotBefore = now.Add(time.Second)
	ordered := stored(Recovering, func(i *Item) { i.Ordered = true })
	before := floor
	before.ParkedAt = ordered.Since.Add(-time.Second)
	recovering := stored(Recovering, func(i *Item) { i.Since, i.Held = now.Add(-time.Minute), true })
	fresh := notYet
	fresh.ParkedAt = now
	failedAgain := over
	failedAgain.ParkedAt, failedAgain.Held = now.Add(-time.Second), false
	open := stored(Open, nil)
	probed := stored(Open, func(i *Item) {
		i.ProbeFailed, i.LastStatus, i.LastReason = now.Add(-time.Minute), 503,
			"http_5xx"
	})
	reopened := probed
	reopened.Since = now.Add(-59 * time.Minute)
	paused := stored(Recovering, func(i *Item) { i.Paused = true })
	pausedNow := stored(Recovering, func(i *Item) { i.Paused, i.Changed = true, now })
	disabledNow := stored(Disabled, func(i *Item) { i.Since = now })
	waited := over
	waited.DiesAt = now.Add(-time.Second)
	waited.DueAt = waited.DiesAt
	kept := waited
	kept.DueAt = epoch.Add(retry.MaxLife)
	old := waited
	old.StartedAt = now.Add(-retry.MaxLife)
	for name, row := range map[string]struct {
		item Item
		e    Endpoint
		w    Waiting
		want Fate
	}{
		"what is due is sent":              {Item{}, Endpoint{}, due, Fate{Step: SendDue}},
		"not before":                       {Item{}, Endpoint{}, notYet, Fate{}},
		"at the end of its life once more": {Item{}, Endpoint{}, over, Fate{Step: SendLast}},
		"a failing endpoint gets what is due": {
			stored(Failing, nil), Endpoint{}, due, Fate{Step: SendDue},
		},
		"an open one is not sent what is due":                {open, Endpoint{}, due, Fate{Step: Redate, Due: due.DiesAt}},
		"nor what is held":                                   {open, Endpoint{}, heldBack, Fate{}},
		"but what is at its end":                             {open, Endpoint{}, over, Fate{Step: SendLast}},
		"an hour later too, while no probe has failed since": {open, Endpoint{}, longOver, Fate{Step: SendLast}},
		"then it dies of the probe's failure": {
			probed, Endpoint{}, longOver, Fate{Step: Die, Reason: "http_5xx", Status: 503},
		},
		"but not within an hour of the opening, which it did not wait through": {
			reopened, Endpoint{}, longOver, Fate{Step: SendLast},
		},
		"a recovering one is sent what was held": {
			recovering, Endpoint{}, heldBack, Fate{Step: SendRecovery},
		},
		"and what its schedule parked before": {
			recovering, Endpoint{}, notYet, Fate{Step: SendRecovery},
		},
		"what was parked since waits for its time": {recovering, Endpoint{}, fresh, Fate{}},
		"Retry-After is respected":                 {recovering, Endpoint{}, floor, Fate{}},
		"but not where an operator ordered it":     {ordered, Endpoint{}, before, Fate{Step: SendRecovery}},
		"what comes after the order respects it": {
			ordered, Endpoint{}, floor, Fate{},
		},
		"nothing of it dies by age": {recovering, Endpoint{}, over, Fate{Step: SendRecovery}},
		"but what fails after its end has one more attempt": {
			recovering, Endpoint{}, failedAgain, Fate{Step: SendLast},
		},
		"before seven days":               {recovering, Endpoint{}, week, Fate{Step: SendLast}},
		"to a paused one nothing is sent": {paused, Endpoint{}, heldBack, Fate{}},
		"what is due is held":             {paused, Endpoint{}, due, Fate{Step: Redate, Due: due.DiesAt}},
		"what reached its end before the pause is kept for the recovery": {
			pausedNow, Endpoint{}, waited, Fate{Step: Redate, Due: epoch.Add(retry.MaxLife)},
		},
		"and looked at when its longest life is over": {pausedNow, Endpoint{}, kept, Fate{}},
		"then it dies": {pausedNow, Endpoint{}, old, Fate{Step: Die, Reason: "endpoint_paused"}},
		"what reached its end before its owner disabled it is kept": {
			disabledNow, Endpoint{Disabled: true}, waited, Fate{Step: Redate, Due: epoch.Add(retry.MaxLife)},
		},
		"and dies of it": {
			paused, Endpoint{}, over, Fate{Step: Die, Reason: "endpoint_paused"},
		},
		"a disabled one: the same": {
			stored(Disabled, nil), Endpoint{Disabled: true}, due, Fate{Step: Redate, Due: due.DiesAt},
		},
		"dead by its owner's wish": {
			stored(Disabled, nil), Endpoint{Disabled: true}, over, Fate{Step: Die, Reason: "endpoint_disabled"},
		},
		"a deleted one's are dropped": {
			open, Endpoint{Gone: true}, heldBack, Fate{Step: Drop, Reason: "endpoint_deleted"},
		},
		"what an operator discarded is dropped, paused or not": {
			stored(None, func(i *Item) { i.DiscardedBefore, i.Paused = now, true }), Endpoint{}, due,
			Fate{Step: Drop, Reason: "discarded"},
		},
		"active again but not turned yet: waits for the next run": {stored(Disabled, nil), Endpoint{}, heldBack, Fate{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, viewOf(row.item).Fate(Default(), row.e, row.w, now)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Nothing that release asks about dies of a fault of ours: a delivery to an active endpoint dies only
// while the circuit is open, of a probe that failed after the end of its life.
func TestView_Fate_killsNothingOfAnActiveEndpointWithoutAPost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) time.Time {
			return epoch.Add(time.Duration(rapid.IntRange(0, 10*24*60).Draw(t, name)) * time.Minute)
		}
		now := at("now")
		item := stored(rapid.SampledFrom([]State{None, Failing, Open, Recovering, Disabled}).Draw(t, "state"), nil)
		item.Since, item.ProbeFailed = at("since"), at("probe failed")
		w := Waiting{Held: rapid.Bool().Draw(t, "held"), ParkedAt: at("parked"), StartedAt: at("started"),
			DueAt: at("due"), DiesAt: at("dies")}
		got := viewOf(item).Fate(Default(), Endpoint{}, w, now)
		if got.Step == Die && (item.State != Open || !item.ProbeFailed.After(w.DiesAt)) {
			t.Fatalf("%s: %+v at %s", item.State, got, now)
		}
		if got.Step == Drop {
			t.Fatalf("dropped: %+v", got)
		}
	})
}

// catchUp releases what waits over a span of created_at, evenly spread, and returns how long
// that takes and the most that was sent in a minute.
func catchUp(waiting int, span time.Duration) (took time.Duration, most int) {
	w := newWorld()
	w.view.Endpoint = w.view.item().recover(w.now)
	w.view.Endpoint.Version = 1
	start, left := w.now, waiting
	for left > 0 && took < 30*24*time.Hour {
		w.now = w.now.Add(time.Minute)
		oldest := start.Add(-time.Duration(float64(span) * float64(left) / float64(waiting)))
		quota := w.view.Endpoint.Pace(Default(), oldest, w.now)
		sent := min(quota, left)
		most = max(most, sent)
		left -= sent
		w = w.store(w.view.Released(quota, sent, oldest, w.now))
		took = w.now.Sub(start)
	}
	return took, most
}

func TestItem_Pace_catchesUp(t *testing.T) {
	for name, row := range map[string]struct {
		waiting int
		span    time.Duration
		within  time.Duration
		most    int
	}{
		"a hundred":                       {100, time.Hour, time.Minute, 100},
		"a thousand":                      {1_000, time.Hour, 5 * time.Minute, 480},
		"a day at ten a second":           {864_000, 24 * time.Hour, 6 * time.Hour, 3_840},
		"a day at a hundred a second":     {8_640_000, 24 * time.Hour, 9 * time.Hour, 18_000},
		"a quarter of an hour, in a rush": {90_000, 15 * time.Minute, 100 * time.Minute, 960},
	} {
		t.Run(name, func(t *testing.T) {
			took, most := catchUp(row.waiting, row.span)
			if took > row.within || most > row.most {
				t.Errorf("%d took %s at most %d a minute, want %s and %d", row.waiting, took, most, row.within, row.most)
			}
		})
	}
}

// An hour into a recovery five of its six hours are left: a tick that got through one minute of what waits has
// 300 more before it.
func TestItem_Pace_doublesOnlyForWhatWouldBeLate(t *testing.T) {
	now := epoch.Add(time.Hour)
	for left, want := range map[time.Duration]int{
		-time.Minute: 960, 0: 960, 300 * time.Minute: 960, 301 * time.Minute: 1920, 400 * time.Minute: 1920,
	} {
		oldest := epoch.Add(-left)
		i := stored(Recovering, func(i *Item) {
			i.Ticks, i.Quota, i.Full, i.Oldest = 60, 960, true, oldest.Add(-time.Minute)
		})
		if got := i.Pace(Default(), oldest, now); got != want {
			t.Errorf("%s left: %d, want %d", left, got, want)
		}
	}
}

func TestItem_Pace_isBoundedAndWithinTheDay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		waiting := int(math.Pow(10, rapid.Float64Range(0, 6.4).Draw(t, "log10 waiting")))
		span := time.Duration(rapid.IntRange(1, 7*24*60).Draw(t, "minutes")) * time.Minute
		took, most := catchUp(waiting, span)
		if most > Default().Budget || took > 8*time.Hour {
			t.Fatalf("%d over %s took %s, at most %d a minute", waiting, span, took, most)
		}
	})
}

func TestView_Empty(t *testing.T) {
	recovering := stored(Recovering, func(i *Item) { i.Held = true })
	pausedTenant := viewOf(recovering)
	pausedTenant.Tenant.Paused = true
	for name, row := range map[string]struct {
		view View
		e    Endpoint
		in   time.Duration
		want Kind
	}{
		"two minutes after the probe": {viewOf(recovering), Endpoint{}, 2 * time.Minute, Delete},
		"not before":                  {viewOf(recovering), Endpoint{}, 2*time.Minute - 1, Nothing},
		"nor under a pause":           {pausedTenant, Endpoint{}, time.Hour, Nothing},
		"an open one stays":           {viewOf(stored(Open, nil)), Endpoint{}, time.Hour, Nothing},
		"what discards stays for that": {
			viewOf(stored(Recovering, func(i *Item) { i.Held, i.DiscardedBefore = true, epoch })), Endpoint{}, time.Hour,
			Put,
		},
		"of a deleted endpoint nothing stays": {
			viewOf(stored(Failing, nil)), Endpoint{Gone: true, ChangedAt: epoch}, time.Hour, Delete,
		},
		"nor of one under which nothing was held": {
			viewOf(stored(Failing, nil)), Endpoint{Gone: true, ChangedAt: epoch}, 2 * time.Minute, Delete,
		},
		"what was held under its tenant's pause ends by recovering, too": {
			viewOf(stored(None, func(i *Item) { i.Held = true })), Endpoint{Gone: true, ChangedAt: epoch}, time.Hour, Put,
		},
		"but what holds ends by recovering: it may be active again": {
			viewOf(stored(Open, nil)), Endpoint{Gone: true, ChangedAt: epoch}, time.Hour, Put,
		},
		"nothing is kept of one that cannot be restored": {
			viewOf(stored(Open, nil)), Endpoint{Gone: true, Final: true, ChangedAt: epoch}, time.Hour, Delete,
		},
		"but not at once": {
			viewOf(stored(Open, nil)), Endpoint{Gone: true, ChangedAt: epoch.Add(time.Hour)}, time.Hour, Nothing,
		},
		"an operator's pause outlives a deletion": {
			viewOf(stored(None, func(i *Item) { i.Paused, i.Held = true, true })), Endpoint{Gone: true}, time.Hour, Nothing,
		},
		"a circuit under it does not": {
			viewOf(stored(Open, func(i *Item) { i.Paused = true })), Endpoint{Gone: true}, time.Hour, Put,
		},
		"where there is none, there is none to go": {viewOf(Item{}), Endpoint{Gone: true}, time.Hour, Nothing},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.view.Empty(Default(), row.e, epoch.Add(row.in)).Kind; got != row.want {
				t.Errorf("kind %d, want %d", got, row.want)
			}
		})
	}
}

func TestView_Released_countsTheTick(t *testing.T) {
	now := epoch.Add(time.Minute)
	recovering := stored(Recovering, func(i *Item) { i.Ticks = 4 })
	w := viewOf(recovering).Released(240, 240, epoch, now)
	want := recovering
	want.Version, want.Ticks, want.Quota, want.Full, want.Oldest = now.UnixNano(), 5, 240, true, epoch
	if diff := cmp.Diff(want, w.Item); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The owner's change takes hold at the next run, and a plan is about what it leads to.
// What a turn removes is not looked after.
func TestView_Plan_forgetsAnEndpointThatHasNotFailedForLong(t *testing.T) {
	failing := stored(Failing, func(i *Item) { i.Failures, i.FailedAt = 3, epoch })
	p := viewOf(failing).Plan(Default(), Endpoint{}, epoch.Add(48*time.Hour))
	none := Item{TenantID: "tenant", EndpointID: "webhook_1"}
	if p.Turn.Kind != Delete || !cmp.Equal(p.After.Endpoint, none) {
		t.Errorf("turned by %d into %+v", p.Turn.Kind, p.After.Endpoint)
	}
	before := viewOf(failing).Plan(Default(), Endpoint{}, epoch.Add(48*time.Hour-1))
	if before.Turn.Kind != Nothing || !cmp.Equal(before.After.Endpoint, failing) || before.Search {
		t.Errorf("before: turned by %d into %+v", before.Turn.Kind, before.After.Endpoint)
	}
}

func TestView_Plan_followsTheOwner(t *testing.T) {
	now := epoch.Add(time.Minute)
	open, disabled := stored(Open, nil), stored(Disabled, nil)
	p := viewOf(open).Plan(Default(), Endpoint{Disabled: true}, now)
	if p.Turn.Kind != Put || p.Turn.Item.State != Disabled || p.After.Endpoint.State != Disabled {
		t.Errorf("disabled while open: %+v", p)
	}
	if p = viewOf(disabled).Plan(Default(), Endpoint{Disabled: true}, now); p.Turn.Kind != Nothing {
		t.Errorf("disabled before: %+v", p.Turn)
	}
	p = viewOf(disabled).Plan(Default(), Endpoint{}, now)
	if p.Turn.Kind != Put || p.After.Endpoint.State != Recovering || !p.Recover {
		t.Errorf("active again: %+v", p)
	}
}
