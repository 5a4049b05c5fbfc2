package retry

import (
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var production = Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9}

// limit repeats Cap as a figure, so that a change of Cap fails here.
const limit = 43_000 * time.Second

func TestSchedule_Wait_properties(t *testing.T) {
	const rounding = time.Millisecond // of floats around twelve hours
	for range 500 {                   // of a hundred waits each
		rapid.Check(t, func(t *rapid.T) {
			s := anySchedule.Draw(t, "schedule")
			n := rapid.IntRange(1, MaxRetries).Draw(t, "n")
			random := rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "random")
			floor := time.Duration(rapid.IntRange(0, 60_000).Draw(t, "Retry-After")) * time.Second
			elapsed := time.Duration(rapid.IntRange(-5_000, 55_000).Draw(t, "elapsed")) * time.Second // below 0: clocks differ
			nominal := float64(s.Base)
			for range n - 1 { // step by step
				nominal = min(nominal*s.Factor, float64(limit))
			}
			jittered := min(time.Duration(nominal*(1+0.2*random)), limit)
			left := max(limit-max(elapsed, 0), 0)
			spread := min(time.Duration(float64(floor)*(1+0.2*random)), limit)
			late := s.Wait(n, random, floor, 0)
			plain, wait, got := s.Wait(n, 0, 0, 0), s.Wait(n, random, 0, 0), s.Wait(n, random, floor, elapsed)
			for property, holds := range map[string]bool{
				"the schedule is valid":                                s.Validate() == nil,
				"without jitter it is the nominal wait":                (plain - time.Duration(nominal)).Abs() <= rounding,
				"the nominal wait never shrinks":                       plain <= s.Wait(n+1, 0, 0, 0),
				"never early":                                          wait >= plain,
				"never early for what is left since the receive":       got >= min(plain, left),
				"jitter adds its share, a fifth at most":               (wait - jittered).Abs() <= rounding,
				"Retry-After holds whatever the jitter":                got >= min(floor, left),
				"Retry-After has the jitter, too":                      (late - max(wait, spread)).Abs() <= rounding,
				"Retry-After below the wait changes nothing":           s.Wait(n, random, wait/2, 0) == wait,
				"never past the cap since the receive, never negative": got >= 0 && got <= left,
				"all of what is left is used":                          s.Wait(n, random, limit+time.Second, elapsed) == left,
			} {
				if !holds {
					t.Errorf("not so: %s; waits %s, nominal %s", property, got, time.Duration(nominal))
				}
			}
		})
	}
}

// The figures are SQS's limits, written out once more.
func TestLimits_areThoseOfSQS(t *testing.T) {
	want := map[string]time.Duration{"Cap": limit, "MaxDelay": 15 * time.Minute}
	if diff := cmp.Diff(want, map[string]time.Duration{"Cap": Cap, "MaxDelay": MaxDelay}); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

func TestAfter(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, " 120 ": 2 * time.Minute, "-5": 0, "1.5": 0, "soon": 0, "+3": 0,
		"43000": Cap, "43001": Cap, "99999999999999999999999999": Cap, "9223372036854775807": Cap,
		"Fri, 01 May 2026 12:00:30 GMT": 30 * time.Second, "Fri, 01 May 2026 11:59:00 GMT": 0,
		"Friday, 01-May-26 12:01:00 GMT": time.Minute, "Fri, 01 May 2099 12:00:00 GMT": Cap, "30, 60": 0,
	} {
		if got := After(header, "", now); got != want {
			t.Errorf("Retry-After %q waits %s, want %s", header, got, want)
		}
	}
}

// A receiver's clock may be wrong: its dates are true of each other, whatever it shows.
func TestAfter_countsADateFromTheAnswersOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(1_700_000_000, 1_900_000_000).Draw(t, "now"), 0)
		shown := now.Add(time.Duration(rapid.IntRange(-400*86400, 400*86400).Draw(t, "clock")) * time.Second).UTC()
		want := time.Duration(rapid.IntRange(0, 43_000).Draw(t, "wait")) * time.Second
		date, header := shown.Format(http.TimeFormat), shown.Add(want).Format(http.TimeFormat)
		if got := After(header, date, now); got != want {
			t.Errorf("Retry-After %q at %q waits %s, want %s", header, date, got, want)
		}
		if got := After("7", date, now); got != 7*time.Second {
			t.Errorf("Retry-After 7 at %q waits %s", date, got)
		}
	})
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, date := range []string{"", "soon", "0", "2026-05-01T11:00:00Z"} {
		if got := After("Fri, 01 May 2026 12:00:30 GMT", date, now); got != 30*time.Second {
			t.Errorf("with the date %q it waits %s", date, got)
		}
	}
}

func TestSchedule_Validate(t *testing.T) {
	const (
		base   = "retry base must be 1 to 43000 seconds"
		factor = "retry factor must be 1 to 100"
		number = "max retries must be 1 to 18"
		long   = "a long wait must be 0 to 900 seconds"
		life   = "a life must last 7 days at most"
	)
	waits := func(longer, most time.Duration) Schedule {
		s := production
		s.Long, s.MaxLife = longer, most
		return s
	}
	for name, row := range map[string]struct {
		s    Schedule
		want string
	}{
		"the defaults":          {production, ""},
		"the least of each":     {Schedule{Base: time.Second, Factor: 1, MaxRetries: 1}, ""},
		"the most of each":      {Schedule{Base: limit, Factor: 100, MaxRetries: 18}, ""},
		"a base below a second": {Schedule{Base: time.Second - 1, Factor: 4, MaxRetries: 9}, base},
		"a base above the cap":  {Schedule{Base: limit + 1, Factor: 4, MaxRetries: 9}, base},
		"a factor that shrinks": {Schedule{Base: time.Second, Factor: 0.99, MaxRetries: 9}, factor},
		"a factor above 100":    {Schedule{Base: time.Second, Factor: 100.1, MaxRetries: 9}, factor},
		"not a number":          {Schedule{Base: time.Second, Factor: math.NaN(), MaxRetries: 9}, factor},
		"no retries":            {Schedule{Base: time.Second, Factor: 4}, number},
		"too many retries":      {Schedule{Base: time.Second, Factor: 4, MaxRetries: 19}, number},
		"nothing set":           {Schedule{}, base + "\n" + factor + "\n" + number},

		"a long wait, and a life of a day": {waits(local.Long, 24*time.Hour), ""},
		"the longest wait and life":        {waits(MaxDelay, MaxLife), ""},
		"a longer one, and a longer life":  {waits(MaxDelay+1, MaxLife+1), long + "\n" + life},
		"a wait and a life below 0":        {waits(-1, -1), long + "\n" + life},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := row.s.Validate(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzAfter(f *testing.F) {
	f.Add("120", "")
	f.Add("Fri, 01 May 2026 12:00:30 GMT", "Fri, 01 May 2026 12:00:00 GMT")
	f.Fuzz(func(t *testing.T, header, date string) {
		if got := After(header, date, time.Unix(1_700_000_000, 0)); got < 0 || got > Cap {
			t.Errorf("%q at %q waits %s", header, date, got)
		}
	})
}

// The default schedule without jitter, which lengthens each wait by a fifth at most.
func ExampleSchedule_Wait() {
	s := Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9}
	fmt.Println("attempt        wait  since the first")
	var wait, sum time.Duration
	for attempt := 1; attempt <= 1+s.MaxRetries; attempt++ {
		if attempt > 1 {
			wait = s.Wait(attempt-1, 0, 0, 0)
		}
		sum += wait
		fmt.Printf("%7d  %10s  %15s\n", attempt, wait, sum)
	}
	// Output:
	// attempt        wait  since the first
	//       1          0s               0s
	//       2          5s               5s
	//       3         20s              25s
	//       4       1m20s            1m45s
	//       5       5m20s             7m5s
	//       6      21m20s           28m25s
	//       7    1h25m20s         1h53m45s
	//       8    5h41m20s          7h35m5s
	//       9   11h56m40s        19h31m45s
	//      10   11h56m40s        31h28m25s
}
