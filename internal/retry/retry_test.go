package retry

import (
	"fmt"
	"math"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"
)

var production = Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9}

// limit is Cap in a figure of its own: a Cap that moves fails here.
const limit = 43_000 * time.Second

// draw is one case of the property: all of it within what Validate and Wait ask for.
type draw struct {
	s              Schedule
	n              int
	random         float64 // [0, 1)
	floor, elapsed time.Duration
}

// raw are the numbers of which a draw is made.
type raw struct {
	Base, Factor           uint16
	N                      uint8
	Random, Floor, Elapsed uint32
}

// draw spreads base and factor evenly over their orders of magnitude, or nearly every wait
// would be the cap. elapsed reaches beyond the cap, and below 0: clocks differ.
func (r raw) draw() draw {
	even := func(u uint16) float64 { return float64(u) / math.MaxUint16 }
	return draw{
		s: Schedule{
			Base:       time.Duration(math.Pow(limit.Seconds(), even(r.Base)) * float64(time.Second)),
			Factor:     math.Pow(100, even(r.Factor)),
			MaxRetries: MaxRetries,
		},
		n:       int(r.N)%MaxRetries + 1,
		random:  float64(r.Random) / (1 << 32),
		floor:   time.Duration(r.Floor%60_000) * time.Second,
		elapsed: time.Duration(r.Elapsed%60_000)*time.Second - 5_000*time.Second,
	}
}

// nominal is the wait without jitter, multiplied step by step.
func (d draw) nominal() time.Duration {
	wait := float64(d.s.Base)
	for range d.n - 1 {
		wait = min(wait*d.s.Factor, float64(limit))
	}
	return time.Duration(wait)
}

func TestSchedule_Wait_properties(t *testing.T) {
	const rounding = time.Millisecond // of floats around twelve hours
	cases, belowTheCap, floorCounts := 0, 0, 0
	properties := map[string]func(d draw) bool{
		"the schedule is valid": func(d draw) bool { return d.s.Validate() == nil },
		"without jitter it is the nominal wait": func(d draw) bool {
			return (d.s.Wait(d.n, 0, 0, 0) - d.nominal()).Abs() <= rounding
		},
		"the nominal wait never shrinks": func(d draw) bool {
			return d.s.Wait(d.n, 0, 0, 0) <= d.s.Wait(d.n+1, 0, 0, 0)
		},
		"never early": func(d draw) bool {
			return d.s.Wait(d.n, d.random, 0, 0) >= d.s.Wait(d.n, 0, 0, 0)
		},
		"never early for what is left since the receive": func(d draw) bool {
			return d.s.Wait(d.n, d.random, d.floor, d.elapsed) >= min(d.s.Wait(d.n, 0, 0, 0), left(d.elapsed))
		},
		"jitter adds its share, a fifth at most": func(d draw) bool {
			want := min(time.Duration(float64(d.nominal())*(1+0.2*d.random)), limit)
			return (d.s.Wait(d.n, d.random, 0, 0) - want).Abs() <= rounding
		},
		"Retry-After holds whatever the jitter": func(d draw) bool {
			return d.s.Wait(d.n, d.random, d.floor, d.elapsed) >= min(d.floor, left(d.elapsed))
		},
		"Retry-After below the wait changes nothing": func(d draw) bool {
			wait := d.s.Wait(d.n, d.random, 0, 0)
			return d.s.Wait(d.n, d.random, wait/2, 0) == wait
		},
		"never past the cap since the receive, never negative": func(d draw) bool {
			wait := d.s.Wait(d.n, d.random, d.floor, d.elapsed)
			return wait >= 0 && wait <= left(d.elapsed)
		},
		"all of what is left is used": func(d draw) bool {
			return d.s.Wait(d.n, d.random, limit+time.Second, d.elapsed) == left(d.elapsed)
		},
	}
	for name, property := range properties {
		t.Run(name, func(t *testing.T) {
			err := quick.Check(func(r raw) bool {
				d := r.draw()
				cases++
				if d.nominal() < limit*5/6 {
					belowTheCap++
				}
				if d.floor > d.nominal()*6/5 && d.floor < left(d.elapsed) {
					floorCounts++
				}
				if property(d) {
					return true
				}
				t.Logf("%+v: waits %s, nominal %s", d, d.s.Wait(d.n, d.random, d.floor, d.elapsed), d.nominal())
				return false
			}, &quick.Config{MaxCount: 5_000})
			if err != nil {
				t.Error(err)
			}
		})
	}
	if belowTheCap < cases/10 || floorCounts < cases/50 {
		t.Errorf(
			"of %d cases %d wait for less than the cap and %d for Retry-After: too few to tell", cases, belowTheCap,
			floorCounts,
		)
	}
}

func left(elapsed time.Duration) time.Duration { return max(limit-max(elapsed, 0), 0) }

// What SQS allows, in figures of its own.
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
		if got := After(header, now); got != want {
			t.Errorf("Retry-After %q waits %s, want %s", header, got, want)
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
	f.Add("120")
	f.Add("Fri, 01 May 2026 12:00:30 GMT")
	f.Fuzz(func(t *testing.T, header string) {
		if got := After(header, time.Unix(1_700_000_000, 0)); got < 0 || got > Cap {
			t.Errorf("%q waits %s", header, got)
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
