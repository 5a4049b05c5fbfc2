package health

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAllot(t *testing.T) {
	for name, row := range map[string]struct {
		budget      int
		wants, want []int
	}{
		"a quarter each":                 {18_000, []int{9_000, 9_000, 9_000, 9_000}, []int{4_500, 4_500, 4_500, 4_500}},
		"what one does not need goes on": {18_000, []int{0, 100, 17_000, 9_000}, []int{0, 100, 8_950, 8_950}},
		"less than asked for in all":     {18_000, []int{1, 2, 3}, []int{1, 2, 3}},
		"fewer than there are":           {2, []int{5, 5, 5}, []int{1, 1, 0}},
		"nothing for nobody":             {10, nil, []int{}},
		"nobody gets less than nothing":  {10, []int{-3, 4}, []int{0, 4}},
		"no budget":                      {0, []int{4}, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, Allot(row.budget, row.wants)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAllot_isFairAndWastesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.IntRange(0, 5_000).Draw(t, "budget")
		wants := rapid.SliceOfN(rapid.IntRange(0, 2_000), 0, 30).Draw(t, "wants")
		given, sum, wanted := Allot(budget, wants), 0, 0
		for n := range wants {
			if given[n] < 0 || given[n] > wants[n] {
				t.Fatalf("%d of %d", given[n], wants[n])
			}
			for other := range wants { // nobody who went short has less than another, but for one
				if given[n] < wants[n] && given[other] > given[n]+1 {
					t.Fatalf("%v of %v", given, wants)
				}
			}
			sum, wanted = sum+given[n], wanted+wants[n]
		}
		if sum != min(budget, wanted) {
			t.Fatalf("%d of %d given, %d wanted", sum, budget, wanted)
		}
	})
}

func TestSlow_Route(t *testing.T) {
	set := SlowSettings{Self: "self", Limit: SlowLimit(50), Wait: time.Minute, Longest: time.Hour}
	notes := func(queue Queue, endpoint string, processes ...string) (all []Note) {
		for _, process := range processes {
			all = append(all, Note{endpoint, queue, process, epoch.Add(time.Second)})
		}
		return all
	}
	five := notes(DeliveryQueue, "slow", "1", "2", "3", "4", "5")
	retries := notes(RetryQueue, "slow", "1", "2", "3", "4", "5")
	over := notes(DeliveryQueue, "slow", "1", "2", "3", "4", "5")
	over[0].Until = epoch
	for name, row := range map[string]struct {
		notes   []Note
		queue   Queue
		waiting time.Time
		want    Route
	}{
		"nobody is slow":         {nil, DeliveryQueue, epoch, Route{}},
		"four of five processes": {five[:4], DeliveryQueue, epoch, Route{}},
		"five":                   {five, DeliveryQueue, epoch, Route{To: ToRetryQueue}},
		"a note that is over":    {over, DeliveryQueue, epoch, Route{}},
		"a process twice":        {append(five[:4:4], five[0]), DeliveryQueue, epoch, Route{}},
		"one of five itself": {
			append(five[:4:4], notes(DeliveryQueue, "slow", "self")...), DeliveryQueue, epoch, Route{},
		},
		"the sixth itself": {
			append(five[:5:5], notes(DeliveryQueue, "slow", "self")...), DeliveryQueue, epoch, Route{To: ToRetryQueue},
		},
		"retries found it slow":      {retries, DeliveryQueue, epoch, Route{To: ToRetryQueue}},
		"first attempts found it so": {five, RetryQueue, epoch, Route{}},
		"a process of both queues": {
			append(five[:4:4], notes(RetryQueue, "slow", "1")...), DeliveryQueue, epoch, Route{},
		},
		"another endpoint's": {
			notes(DeliveryQueue, "other", "1", "2", "3", "4", "5"), DeliveryQueue, epoch, Route{},
		},
		"three endpoints share: one each": {
			append(notes(DeliveryQueue, "a", "1"), append(notes(DeliveryQueue, "b", "2"), notes(DeliveryQueue, "slow",
				"3")...)...),
			DeliveryQueue, epoch, Route{To: ToRetryQueue},
		},
		"two endpoints share: two of two": {
			append(notes(DeliveryQueue, "a", "1"), notes(DeliveryQueue, "slow", "2")...), DeliveryQueue, epoch, Route{},
		},
		"on RetryQueue: a minute at least": {
			retries, RetryQueue, epoch.Add(-time.Second), Route{ToBacklog, epoch.Add(time.Minute)},
		},
		"as long as it has waited": {
			retries, RetryQueue, epoch.Add(-59 * time.Minute), Route{ToBacklog, epoch.Add(59 * time.Minute)},
		},
		"an hour at most": {
			retries, RetryQueue, epoch.Add(-26 * time.Hour), Route{ToBacklog, epoch.Add(time.Hour)},
		},
		"a minute at least, also before it is due": {
			retries, RetryQueue, epoch.Add(time.Hour), Route{ToBacklog, epoch.Add(time.Minute)},
		},
		"below the limit on RetryQueue": {retries[:4], RetryQueue, epoch.Add(-time.Hour), Route{}},
		"six endpoints: no less than one": {
			append(notes(DeliveryQueue, "slow", "1"), sixOthers()...), DeliveryQueue, epoch, Route{To: ToRetryQueue},
		},
		"but none that holds nothing": {sixOthers(), DeliveryQueue, epoch, Route{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := NewSlow(set, row.notes, epoch).Route(row.queue, "slow", row.waiting, epoch)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Fifty processes do not take an endpoint for fast again in one moment, and none does before its time.
func TestNewSlow_processesTakeANoteForOverOneAfterTheOther(t *testing.T) {
	const apart = 10 * time.Second
	notes := []Note{{"slow", DeliveryQueue, "another", epoch}}
	var seconds [11]int // by how many seconds before the note's end
	for n := range 50 {
		set := SlowSettings{Self: strconv.Itoa(n), Limit: 2, Wait: time.Minute, Apart: apart}
		fast := func(early time.Duration) bool {
			return len(NewSlow(set, notes, epoch.Add(-early)).held) == 0
		}
		if fast(apart) || !fast(0) {
			t.Errorf("process %d: fast at the end %v, and %s before it %v", n, fast(0), apart, fast(apart))
		}
		for second := range seconds {
			if fast(time.Duration(second) * time.Second) {
				seconds[second]++
			}
		}
	}
	for second := 1; second < len(seconds); second++ {
		if changed := seconds[second-1] - seconds[second]; changed > 10 {
			t.Errorf("%d of 50 processes change their mind in the same second", changed)
		}
	}
}

func TestNote_After(t *testing.T) {
	note := Note{"slow", RetryQueue, "1", epoch}
	for name, row := range map[string]struct {
		held    time.Duration
		rest    Note
		remains bool
	}{
		"an answer that was merely slow": {3*time.Second - 1, Note{}, false},
		"one that took long":             {3 * time.Second, Note{"slow", RetryQueue, "1", epoch.Add(9 * time.Second)}, true},
		"none": {
			15 * time.Second, Note{"slow", RetryQueue, "1", epoch.Add(45 * time.Second)}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			rest, remains := note.After(row.held, 15*time.Second, epoch)
			if diff := cmp.Diff(row.rest, rest); diff != "" || remains != row.remains {
				t.Errorf("remains %v (-want +got)\n%s", remains, diff)
			}
		})
	}
}

func sixOthers() (all []Note) {
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		all = append(all, Note{name, DeliveryQueue, name, epoch.Add(time.Second)})
	}
	return all
}

func TestSlowLimit(t *testing.T) {
	for concurrency, want := range map[int]int{2: 2, 10: 2, 29: 2, 30: 3, 50: 5, 1000: 100} {
		if got := SlowLimit(concurrency); got != want {
			t.Errorf("%d concurrent invocations: %d, want %d", concurrency, got, want)
		}
	}
}

// What a slow endpoint puts off waits for a minute to an hour, however late it is, and the longer, the later it is.
func TestSlow_Route_putsOffWithinBounds(t *testing.T) {
	set := SlowSettings{Self: "self", Limit: 1, Wait: time.Minute, Longest: time.Hour}
	slow := NewSlow(set, []Note{{"slow", RetryQueue, "another", epoch.Add(time.Second)}}, epoch)
	rapid.Check(t, func(t *rapid.T) {
		late := time.Duration(rapid.Int64Range(-int64(8*24*time.Hour), int64(15*24*time.Hour)).Draw(t, "late"))
		later := late + time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "more"))
		wait := func(late time.Duration) time.Duration {
			route := slow.Route(RetryQueue, "slow", epoch.Add(-late), epoch)
			if put := route.Due.Sub(epoch); route.To != ToBacklog || put < time.Minute || put > time.Hour {
				t.Fatalf("%s late: way %d, for %s", late, route.To, put)
			}
			return route.Due.Sub(epoch)
		}
		if wait(later) < wait(late) {
			t.Fatalf("%s late waits for %s, %s late for %s", late, wait(late), later, wait(later))
		}
		if late > time.Minute && late < time.Hour && wait(late) != late {
			t.Fatalf("%s late waits for %s", late, wait(late))
		}
	})
}

// More notes never let an attempt start that fewer did not, and an endpoint without a note is
// never held up.
func TestSlow_Route_isMonotone(t *testing.T) {
	note := rapid.Custom(func(t *rapid.T) Note {
		return Note{
			EndpointID: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "endpoint"),
			Queue:      rapid.SampledFrom([]Queue{DeliveryQueue, RetryQueue}).Draw(t, "queue"),
			Process:    rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6"}).Draw(t, "process"),
			Until:      epoch.Add(time.Duration(rapid.IntRange(-2, 20).Draw(t, "s")) * time.Second),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		notes := rapid.SliceOf(note).Draw(t, "notes")
		set := SlowSettings{Limit: 5, Wait: time.Minute}
		slow := NewSlow(set, notes, epoch)
		if got := slow.Route(DeliveryQueue, "healthy", epoch, epoch); got.To != Here {
			t.Fatalf("a healthy endpoint goes to %d", got.To)
		}
		more := NewSlow(set, append(notes, note.Draw(t, "more")), epoch)
		for _, id := range []string{"a", "b", "c"} {
			if slow.full(DeliveryQueue, id) && !more.full(DeliveryQueue, id) {
				t.Fatalf("%s starts again", id)
			}
		}
	})
}
