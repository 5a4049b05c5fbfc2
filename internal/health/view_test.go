package health

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func stored(state State, change func(*Item)) Item {
	i := Item{TenantID: "tenant", EndpointID: "webhook_1", Version: 7, State: state, Since: epoch, Changed: epoch}
	i.Held = i.holds()
	if change != nil {
		change(&i)
	}
	return i
}

func viewOf(i Item) View { return View{TenantID: "tenant", EndpointID: "webhook_1", Endpoint: i} }

func TestView_Decide(t *testing.T) {
	now := epoch.Add(time.Minute)
	version := now.UnixNano()
	claimed := epoch.UnixNano() + 42
	probed := stored(Open, func(i *Item) { i.Probe = claimed })
	pausedTenant := func(i Item) View {
		v := viewOf(i)
		v.Tenant = Item{TenantID: "tenant", Version: 1, Paused: true}
		return v
	}
	tenantPausedNow := pausedTenant(stored(None, func(i *Item) { i.Paused = true }))
	tenantPausedNow.Tenant.Changed = now
	discards := stored(None, func(i *Item) { i.DiscardedBefore = epoch })
	disabled := Item{TenantID: "tenant", EndpointID: "webhook_1", Version: version, State: Disabled, Since: now,
		Changed: now, Held: true}
	held := Item{TenantID: "tenant", EndpointID: "webhook_1", Version: version, Held: true}
	restarted := stored(None, func(i *Item) { i.Version, i.Since, i.Changed, i.Held = version, now, now, true })
	for name, row := range map[string]struct {
		view View
		q    Question
		want Decision
	}{
		"a healthy endpoint gets its delivery": {viewOf(Item{}), Question{}, Decision{}},
		"so does a failing one":                {viewOf(stored(Failing, nil)), Question{}, Decision{}},
		"and a recovering one":                 {viewOf(stored(Recovering, nil)), Question{}, Decision{}},
		"an open one does not": {
			viewOf(stored(Open, nil)), Question{}, Decision{Action: Hold, Reason: ReasonOpen},
		},
		"its probe is sent": {viewOf(probed), Question{Probe: claimed}, Decision{}},
		"so is one that came late, and the next is claimed": {viewOf(probed), Question{Probe: claimed - 1}, Decision{}},
		"a probe of an opening before waits": {
			viewOf(probed), Question{Probe: epoch.UnixNano() - 1}, Decision{Action: Hold, Reason: ReasonOpen},
		},
		"a probe that met a recovered endpoint is sent": {viewOf(stored(Recovering, nil)), Question{Probe: 41}, Decision{}},
		"the last attempt passes an open circuit":       {viewOf(probed), Question{Last: true}, Decision{}},
		"but no pause": {viewOf(stored(Open, func(i *Item) { i.Paused = true })), Question{Last: true, Probe: claimed},
			Decision{Action: Hold, Reason: ReasonPaused}},
		"an endpoint that was active again but not seen by release is sent its delivery": {
			viewOf(stored(Disabled, nil)), Question{}, Decision{},
		},
		"a disabled endpoint is said to be before anything is held": {viewOf(Item{}), Question{Disabled: true},
			Decision{Action: Hold, Reason: ReasonDisabled, First: Write{Kind: Put, Item: disabled}}},
		"once is enough": {
			viewOf(stored(Disabled, nil)), Question{Disabled: true}, Decision{Action: Hold, Reason: ReasonDisabled},
		},
		"a paused tenant's endpoint says that something is held": {pausedTenant(Item{}), Question{},
			Decision{Action: Hold, Reason: ReasonPaused, First: Write{Kind: Put, Item: held}}},
		"also where it was recovering, which starts anew": {pausedTenant(stored(Recovering, nil)), Question{},
			Decision{Action: Hold, Reason: ReasonPaused, First: Write{Kind: Put, If: 7, Item: restarted}}},
		"a life that ended under a pause ends": {viewOf(stored(None, func(i *Item) { i.Paused = true })),
			Question{DiesAt: now}, Decision{Action: Ended, Reason: ReasonPaused}},
		"one that ended before it waits for the recovery": {
			viewOf(stored(None, func(i *Item) { i.Paused, i.Changed = true, now })),
			Question{DiesAt: now.Add(-1)}, Decision{Action: Hold, Reason: ReasonPaused}},
		"of two pauses the longer counts": {tenantPausedNow, Question{DiesAt: now.Add(-1)},
			Decision{Action: Ended, Reason: ReasonPaused}},
		"a life that ended while its owner had the endpoint disabled ends": {viewOf(stored(Disabled, nil)),
			Question{Disabled: true, DiesAt: now}, Decision{Action: Ended, Reason: ReasonDisabled}},
		"one that ended before it was seen to be waits": {viewOf(Item{}), Question{Disabled: true, DiesAt: now.Add(-1)},
			Decision{Action: Hold, Reason: ReasonDisabled, First: Write{Kind: Put, Item: disabled}}},
		"what an operator discarded is dropped": {viewOf(discards), Question{StartedAt: epoch.Add(-1)},
			Decision{Action: Dropped, Reason: ReasonDiscarded}},
		"what began since is not": {viewOf(discards), Question{StartedAt: epoch}, Decision{}},
	} {
		t.Run(name, func(t *testing.T) {
			if row.q.StartedAt.IsZero() {
				row.q.StartedAt = epoch
			}
			if diff := cmp.Diff(row.want, row.view.Decide(row.q, now)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// batches hands batches of n failures of distinct deliveries to the endpoint, one every step, and
// returns when it opened and after how many of them.
func batches(w world, n int, step, until time.Duration) (opened time.Duration, count int) {
	for start := w.now; w.now.Sub(start) <= until; w.now = w.now.Add(step) {
		results := failures(n)
		for k := range results {
			results[k].Begun, results[k].DeliveryID = w.now, fmt.Sprint("msg_", count, "_", k)
		}
		w = w.store(w.view.Observe(Default(), results, w.now))
		if count++; w.view.Endpoint.State == Open {
			return w.now.Sub(start), count
		}
	}
	return -1, count
}

func TestView_Observe_opens(t *testing.T) {
	for name, row := range map[string]struct {
		n            int
		step, until  time.Duration
		opened       time.Duration
		afterBatches int
	}{
		"two failures a second, 50 after 24 s: at 30 s": {
			2, time.Second, time.Hour, 30 * time.Second, 31,
		},
		"a failure every 2 s: with the fiftieth": {
			1, 2 * time.Second, time.Hour, 98 * time.Second, 50,
		},
		"a failure every ten seconds: after 5 min": {
			1, 10 * time.Second, time.Hour, 5 * time.Minute, 31,
		},
		"a failure every two minutes: with the fifth, not three after 6 min": {
			1, 2 * time.Minute, time.Hour, 8 * time.Minute, 5,
		},
		"a hundred at once open nothing, and the next only when it has lasted": {
			100, 20 * time.Second, time.Hour, 40 * time.Second, 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			opened, n := batches(newWorld(), row.n, row.step, row.until)
			if opened != row.opened || n != row.afterBatches {
				t.Errorf("open after %s and %d batches, want %s and %d", opened, n, row.opened, row.afterBatches)
			}
		})
	}
}

func TestView_Observe_opensNothingForOneDelivery(t *testing.T) {
	w, writes := newWorld(), 0
	for n := range 10 { // its whole schedule
		w.now = w.now.Add(time.Hour)
		write := w.view.Observe(Default(), []Result{{DeliveryID: "msg_1", Begun: w.now, Status: 500, Retry: n > 0}}, w.now)
		if write.Kind != Nothing {
			writes++
		}
		w = w.store(write)
	}
	if w.view.Endpoint.State != Failing || writes != 3 {
		t.Errorf("%s after %d writes, want failing after 3", w.view.Endpoint.State, writes)
	}
}

func TestView_Observe_aLoneFirstFailureCostsNoWrite(t *testing.T) {
	first := []Result{{DeliveryID: "msg_1", Begun: epoch, Status: 500}}
	if got := viewOf(Item{}).Observe(Default(), first, epoch); got.Kind != Nothing {
		t.Errorf("wrote %+v", got)
	}
	first[0].Retry = true
	if got := viewOf(Item{}).Observe(Default(), first, epoch); got.Kind != Put {
		t.Errorf("wrote %+v for a retry", got)
	}
	first[0].Retry, first[0].Status, first[0].Reason = false, 0, "timeout"
	if got := viewOf(Item{}).Observe(Default(), first, epoch); got.Kind != Put {
		t.Errorf("wrote %+v for one without an answer", got)
	}
}

func TestView_Observe(t *testing.T) {
	now := epoch.Add(10 * time.Minute)
	failing := stored(Failing, func(i *Item) {
		i.Failures, i.FailingSince, i.FailedAt, i.Deliveries = 4, epoch, epoch, []string{"msg_0", "msg_1"}
	})
	run := stored(Recovering, func(i *Item) {
		i.Held, i.Failures, i.FailingSince, i.Probes = true, 4,
			now.Add(-30*time.Second), 3
	})
	claimed := epoch.UnixNano() + 42
	open := stored(Open, func(i *Item) { i.Probe, i.Probes, i.LastStatus = claimed, 2, 503 })
	bad := Result{DeliveryID: "msg_2", Begun: now, Status: 500, Reason: "http_5xx", Retry: true}
	late := bad
	late.Begun = epoch.Add(-time.Second)
	probe := bad
	probe.Probe = claimed
	lateProbe := probe
	lateProbe.Probe--
	oldProbe := probe
	oldProbe.Probe = epoch.UnixNano() - 1
	good := Result{Begun: now, OK: true}
	put := func(from Item, state State, change func(*Item)) Write {
		next := from
		next.Version, next.State = now.UnixNano(), state
		change(&next)
		return Write{Kind: Put, If: 7, Item: next}
	}
	failed := func(i *Item) { i.FailedAt, i.LastStatus, i.LastReason = now, 500, "http_5xx" }
	for name, row := range map[string]struct {
		item    Item
		results []Result
		want    Write
	}{
		"a 2xx of a healthy endpoint writes nothing": {Item{}, []Result{good}, Write{}},
		"a 2xx forgets failures": {
			failing, []Result{good}, Write{Kind: ClearFailing, Item: failing},
		},
		"with failures beside it, too": {
			failing, []Result{bad, good, bad}, Write{Kind: ClearFailing, Item: failing},
		},
		"a 2xx and failures start no run":               {Item{}, []Result{bad, good, bad}, Write{}},
		"a 2xx ends a run of recovering":                {run, []Result{bad, good}, Write{Kind: ClearRun, Item: run}},
		"where there is none, nothing":                  {stored(Recovering, nil), []Result{good}, Write{}},
		"attempts begun before the change count not":    {run, []Result{late, late}, Write{}},
		"in a circuit that is open nothing counts":      {open, []Result{bad, bad}, Write{}},
		"nor does a late 2xx":                           {open, []Result{{OK: true, Begun: epoch.Add(-1)}}, Write{}},
		"what a disabled endpoint answers is no matter": {stored(Disabled, nil), []Result{good, bad}, Write{}},
		"the third delivery's failure opens, after five minutes": {failing, []Result{bad}, put(failing, Open, func(i *Item) {
			failed(i)
			i.Since, i.Changed, i.Held, i.Failures, i.Deliveries = now, now, true, 5, []string{"msg_0", "msg_1", "msg_2"}
			i.NextProbe = now.Add(time.Minute)
		})},
		"failures without a 2xx for 30 s open it again, probes go on where they were": {run, []Result{bad}, put(run, Open,
			func(i *Item) {
				failed(i)
				i.Since, i.Changed, i.Failures, i.Deliveries = now, now, 5, []string{"msg_2"}
				i.NextProbe = now.Add(5 * time.Minute)
			})},
		"a probe's failure is remembered": {open, []Result{probe}, put(open, Open, func(i *Item) {
			i.ProbeFailed, i.LastStatus, i.LastReason = now, 500, "http_5xx"
		})},
		"that of one before the last, too": {open, []Result{lateProbe}, put(open, Open, func(i *Item) {
			i.ProbeFailed, i.LastStatus, i.LastReason = now, 500, "http_5xx"
		})},
		"that of an opening before is not": {open, []Result{oldProbe}, Write{}},
		"a probe's 2xx lets it recover": {open, []Result{{OK: true, Begun: now, Probe: claimed}}, put(open, Recovering,
			func(i *Item) {
				i.Since, i.Changed = now, now
			})},
		"so does a last attempt's": {open, []Result{{OK: true, Begun: now, Last: true}}, put(open, Recovering, func(i *Item) {
			i.Since, i.Changed = now, now
		})},
		"where something is held, a 2xx lets a failing one recover": {
			stored(Failing, func(i *Item) { i.Held = true }), []Result{good},
			put(stored(Failing, nil), Recovering, func(i *Item) { i.Since, i.Changed, i.Held = now, now, true })},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, viewOf(row.item).Observe(Default(), row.results, now)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Whatever the order, an endpoint opens only after a run of failures without a 2xx that is long
// enough by one of the rules, all of them begun after the last change.
func TestView_Observe_neverOpensForLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, run, since := newWorld(), 0, time.Time{}
		for range rapid.IntRange(1, 60).Draw(t, "batches") {
			w.now = w.now.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "s")) * time.Second)
			results := failures(rapid.IntRange(1, 12).Draw(t, "failures"))
			for n := range results {
				results[n].Begun = w.now.Add(-time.Duration(rapid.IntRange(0, 15).Draw(t, "took")) * time.Second)
			}
			if results[0].OK = rapid.IntRange(0, 9).Draw(t, "2xx") == 0; results[0].OK {
				run = 0
			} else {
				if run == 0 {
					since = w.now
				}
				run += len(results)
			}
			w = w.store(w.view.Observe(Default(), results, w.now))
			lasted := w.now.Sub(since)
			if w.view.Endpoint.State != Open {
				continue
			}
			if run < 5 || lasted < 30*time.Second || lasted < 5*time.Minute && run < 50 {
				t.Fatalf("open after %d failures in %s", run, lasted)
			}
			return
		}
	})
}

// What is not written delays no opening: the circuit opens with the same failure as if all were counted.
func TestView_Observe_leavesOutOnlyWhatDecidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, w := Default(), newWorld()
		s.BusyFailures = 1000 // where fewer than three deliveries fail that often, nothing opened before either
		all := Item{State: Failing}
		for n := range 60 {
			w.now = w.now.Add(time.Duration(rapid.IntRange(1, 120).Draw(t, "s")) * time.Second)
			results := []Result{{
				DeliveryID: fmt.Sprint("msg_", rapid.IntRange(0, 4).Draw(t, "delivery")), Begun: w.now, Status: 500, Retry: true,
			}}
			all = all.count(s, results, w.now)
			w = w.store(w.view.Observe(s, results, w.now))
			if opened := w.view.Endpoint.State == Open; opened != s.opens(all, w.now) {
				t.Fatalf("failure %d: open is %t, with all counted %t: %+v", n+1, opened, !opened, all)
			} else if opened {
				return
			}
		}
	})
}

// What began before the item changed counts nothing, also beside failures that do count already.
func TestView_Observe_countsNothingFromBeforeTheChange(t *testing.T) {
	item := stored(Failing, func(i *Item) { // one more would open the circuit
		i.Failures, i.FailingSince, i.FailedAt, i.Deliveries = 60, epoch, epoch, []string{"msg_0", "msg_1", "msg_2"}
	})
	late := Result{DeliveryID: "msg_2", Begun: epoch.Add(-time.Second), Status: 500, Reason: "http_5xx", Retry: true}
	if w := viewOf(item).Observe(Default(), []Result{late}, epoch.Add(10*time.Minute)); w.Kind != Nothing {
		t.Errorf("written: %+v", w)
	}
}

func TestItem_count_namesThreeDeliveries(t *testing.T) {
	now := epoch.Add(time.Minute)
	var results []Result
	for n := range 5 {
		results = append(results, Result{DeliveryID: fmt.Sprint("msg_", n), Begun: now, Status: 500, Retry: true})
	}
	got := stored(Failing, nil).count(Default(), results, now)
	if diff := cmp.Diff([]string{"msg_0", "msg_1", "msg_2"}, got.Deliveries); diff != "" || got.Failures != 5 {
		t.Errorf("%d failures (-want +got)\n%s", got.Failures, diff)
	}
}

// A probe is numbered by its time in nanoseconds: the first may be that of the opening.
func TestItem_probes(t *testing.T) {
	open := stored(Open, nil)
	for number, want := range map[int64]bool{
		0: false, epoch.UnixNano() - 1: false, epoch.UnixNano(): true, epoch.UnixNano() + 1: true,
	} {
		if got := open.probes(number); got != want {
			t.Errorf("%d: %v", number, got)
		}
	}
}
