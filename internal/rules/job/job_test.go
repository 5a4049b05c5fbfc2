package job

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestProgress_Tally_countsEachIDOnce(t *testing.T) {
	p := Progress{Done: 5, Pages: 2, Refused: map[string]int{"replay_limit": 1}}
	p = p.Begin([]string{"a", "b", "c", "d"}, "next")
	got, page := p.Tally([]Result{
		{ID: "a"}, {ID: "b", Kind: Refused, Reason: "replay_limit"}, {ID: "c", Kind: Again, Reason: "internal"},
		{ID: "a"}, {ID: "stranger"},
	})
	want := Progress{
		Done: 6, Pages: 3, Refused: map[string]int{"replay_limit": 2}, Failed: map[string]int{},
		Pending: []string{"c", "d"}, Tries: 1, Cursor: "next",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-want +got)\n%s", diff)
	}
	wantPage := Page{Number: 3, Done: []string{"a"}, Failures: []Failure{{"b", true, "replay_limit"}}}
	if diff := cmp.Diff(wantPage, page); diff != "" {
		t.Errorf("page (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"replay_limit": 1}, p.Refused); diff != "" {
		t.Errorf("the progress before was changed (-want +got)\n%s", diff)
	}
}

func TestProgress_Tally_givesUpWhatFailsTooOften(t *testing.T) {
	p := Progress{}.Begin([]string{"a", "late"}, "")
	for try := 1; try < MaxTries; try++ {
		var page Page
		p, page = p.Tally([]Result{{ID: "a", Kind: Again, Reason: "internal"}})
		if p.Tries != try || !page.Empty() || p.Pages != 0 {
			t.Fatalf("try %d: %+v, %+v", try, p, page)
		}
	}
	p, page := p.Tally([]Result{{ID: "a", Kind: Again, Reason: "internal"}})
	if diff := cmp.Diff(Page{Number: 1, Failures: []Failure{{"a", false, "internal"}}}, page); diff != "" {
		t.Errorf("page (-want +got)\n%s", diff)
	}
	if p.Failed["internal"] != 1 || len(p.Pending) != 1 || p.Finished() {
		t.Errorf("%+v", p)
	}
	if p, _ = p.Tally([]Result{{ID: "late"}}); !p.Finished() || p.Done != 1 {
		t.Errorf("%+v is not finished", p)
	}
}

// Whatever the results and however often pages are tried, every id ends with one count, on one page.
func TestProgress_forgetsAndRepeatsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Progress
		paged, taken := map[string]int{}, 0
		for n := rapid.IntRange(0, 4).Draw(t, "lists"); !p.Finished(); {
			if len(p.Pending) == 0 {
				ids := rapid.SliceOfNDistinct(rapid.StringN(8, 8, -1), 0, 5, rapid.ID).Draw(t, "ids")
				taken += len(ids)
				cursor := "more"
				if n--; n < 0 {
					cursor = ""
				}
				p = p.Begin(ids, cursor)
			}
			var results []Result
			for _, id := range p.Pending {
				if rapid.Bool().Draw(t, "begun") {
					results = append(results, Result{id, rapid.SampledFrom([]Kind{Succeeded, Refused, Again}).Draw(t, "kind"), "r"})
				}
			}
			var page Page
			p, page = p.Tally(results)
			for _, id := range page.Done {
				paged[id]++
			}
			for _, f := range page.Failures {
				paged[f.ID]++
			}
		}
		sum := 0
		for _, times := range paged {
			sum += times
		}
		if counted := p.Done + Total(p.Refused) + Total(p.Failed); counted != taken || sum != taken {
			t.Fatalf("%d taken up, %d counted, %d on pages", taken, counted, sum)
		}
	})
}

// A run goes on behind the last one. One that begins anew at the head of the queue meets refused events again.
func TestProgress_Sweep_countsTheEventsOfPasses(t *testing.T) {
	begun := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	refused := func(ids ...string) (all []Failure) {
		for _, id := range ids {
			all = append(all, Failure{ID: id, Refused: true})
		}
		return all
	}
	p, page := Progress{}.Sweep(Swept{Begun: begun, Done: 3, Refused: refused("1", "2")})
	p, second := p.Sweep(Swept{Begun: begun.Add(13 * time.Minute), Done: 1, Refused: refused("3")})
	want := Progress{Done: 4, Pages: 2, Refused: map[string]int{ReasonInvalidEvent: 3}, HiddenSince: begun}
	if diff := cmp.Diff(want, p) + cmp.Diff(Page{Number: 1, Failures: refused("1", "2")}, page) +
		cmp.Diff(Page{Number: 2, Failures: refused("3")}, second); diff != "" {
		t.Errorf("on (-want +got)\n%s", diff)
	}
	p, page = p.Sweep(Swept{Begun: begun.Add(14 * time.Minute), Done: 4, Refused: refused("2"), Complete: true})
	want = Progress{
		Done: 8, Pages: 1, Refused: map[string]int{ReasonInvalidEvent: 1}, Listed: true,
		HiddenSince: begun.Add(14 * time.Minute),
	}
	if diff := cmp.Diff(want, p) + cmp.Diff(Page{Number: 1, Failures: refused("2")}, page); diff != "" || !p.Finished() {
		t.Errorf("anew (-want +got)\n%s", diff)
	}
	if none, _ := (Progress{}).Sweep(Swept{Begun: begun, Done: 1}); len(none.Refused) > 0 {
		t.Errorf("%v where none was refused", none.Refused)
	}
	p, page = p.Sweep(Swept{Begun: begun.Add(15 * time.Minute), Refused: make([]Failure, MaxFailures+1)})
	if p.Refused[ReasonInvalidEvent] != MaxFailures+2 || len(page.Failures) != MaxFailures-1 {
		t.Errorf("%v, of which %d more are listed", p.Refused, len(page.Failures))
	}
}

// A pass that broke off may hide events for as long as SQS hides them. Until then, no other job begins.
func TestProgress_MayHide_untilTheEventsOfAPassAreBack(t *testing.T) {
	end := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	broke := Job{ID: "1", Act: Publish, State: Stopped, StartedAt: end, Progress: Progress{}.Passing(end)}
	next := Job{ID: "2", Act: Publish, State: Running, StartedAt: end}
	for after, want := range map[time.Duration]bool{0: true, HideFor - 1: true, HideFor: false} {
		now := end.Add(after)
		if broke.MayHide(now) != want || next.WaitsFor(broke, now) != want || next.MayHide(now) {
			t.Errorf("%s later, events may be hidden: %t, another job waits: %t", after, broke.MayHide(now),
				next.WaitsFor(broke, now))
		}
	}
}

func TestID_isTheTokens(t *testing.T) {
	if a, b := ID("x"), ID("y"); a != ID("x") || a == b || len(a) != len("job_")+26 {
		t.Errorf("%s, %s", a, b)
	}
}

func TestActsAndStates_areClosed(t *testing.T) {
	for _, a := range []Act{Replay, Purge, Publish, Discard} {
		if !a.Valid() {
			t.Errorf("%s is no act", a)
		}
	}
	for _, s := range []State{Running, Stopped, Done} {
		if !s.Valid() {
			t.Errorf("%s is no state", s)
		}
	}
	if Act("delete").Valid() || State("").Valid() {
		t.Error("others are valid")
	}
}
