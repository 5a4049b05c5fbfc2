package retry

import (
	"fmt"
	"math"
	"testing"
	"testing/quick"
	"time"
)

var production = Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9}

func TestProductionSchedule(t *testing.T) {
	want := []time.Duration{5, 20, 80, 320, 1280, 5120, 20480, 43000, 43000}
	var sum time.Duration
	for i, seconds := range want {
		if got := production.Wait(i+1, 0, 0, 0); got != seconds*time.Second {
			t.Errorf("retry %d waits %s, want %s", i+1, got, seconds*time.Second)
		}
		sum += seconds * time.Second
	}
	if sum < 31*time.Hour || sum > 32*time.Hour {
		t.Errorf("the schedule takes %s, want about 31.5 h", sum)
	}
	if production.Exhausted(9) || !production.Exhausted(10) {
		t.Error("nine retries and no more")
	}
}

func TestWaitIsMonotoneNeverEarlyAndCapped(t *testing.T) {
	property := func(base uint16, factor, random float64, n uint8, floor, elapsed uint32) bool {
		s := Schedule{Base: time.Duration(base)*time.Second + time.Second, Factor: 1 + math.Mod(math.Abs(factor), 10), MaxRetries: MaxRetries}
		if math.IsNaN(s.Factor) {
			return true
		}
		random = math.Mod(math.Abs(random), 1)
		k := int(n%MaxRetries) + 1
		fl, el := time.Duration(floor%100_000)*time.Second, time.Duration(elapsed%43_000)*time.Second
		bare := s.Wait(k, 0, 0, 0)
		w := s.Wait(k, random, fl, el)
		left := Cap - el
		return bare <= s.Wait(k+1, 0, 0, 0) && // monotone up to the cap
			s.Wait(k, random, 0, 0) >= bare && // never early
			w >= min(bare, left) && w >= min(fl, left) && // the floor holds within the cap
			w >= 0 && w <= left && // never past the cap since the receive
			float64(s.Wait(k, random, 0, 0)) <= math.Min(float64(bare)*1.2+1, float64(Cap))
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
}

func TestLongestCountsJitterAndCap(t *testing.T) {
	short := Schedule{Base: 10 * time.Second, Factor: 1, MaxRetries: 3}
	if got := short.Longest(); got != 36*time.Second {
		t.Errorf("longest %s, want 36 s", got)
	}
	if got := production.Longest(); got <= 31*time.Hour || got > 35*time.Hour {
		t.Errorf("longest production schedule %s", got)
	}
}

func TestRetryAfter(t *testing.T) {
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

func TestValidateNamesEveryFault(t *testing.T) {
	if err := production.Validate(); err != nil {
		t.Error(err)
	}
	for _, s := range []Schedule{{}, {Base: time.Second, Factor: math.NaN(), MaxRetries: 1}, {Base: time.Second, Factor: 2, MaxRetries: 19}, {Base: 0, Factor: 2, MaxRetries: 3}} {
		if s.Validate() == nil {
			t.Errorf("%+v passes", s)
		}
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

func ExampleSchedule_Wait() {
	for n := 1; n <= production.MaxRetries; n++ {
		fmt.Print(production.Wait(n, 0, 0, 0), " ")
	}
	// Output: 5s 20s 1m20s 5m20s 21m20s 1h25m20s 5h41m20s 11h56m40s 11h56m40s
}
