package delivery

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/retry"
)

var (
	now      = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	schedule = retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9}
)

// said is all that a place says of a receive, where an attempt was made of it.
type said struct {
	FromRetryQueue, Early, Last, Exhausted bool
	Used                                   int
	Next                                   time.Duration
}

func say(p Place) said {
	return said{
		FromRetryQueue: p.FromRetryQueue(), Early: p.Early(), Last: p.Last(), Exhausted: p.Exhausted(),
		Used: p.Used(true), Next: p.Next(0, 0, 0),
	}
}

func TestPlaceOf(t *testing.T) {
	const hour = time.Hour
	onRetryQueue := func(attempts int, notBefore time.Duration) Message {
		m := Message{Retrying: true, Attempts: attempts}
		if notBefore != 0 {
			m.NotBefore = now.Add(notBefore)
		}
		return m
	}
	received := func(count int, first time.Duration) Receive { return Receive{Count: count, First: now.Add(first)} }
	for name, row := range map[string]struct {
		message Message
		receive Receive
		want    said
	}{
		"the first attempt": {
			Message{}, received(1, 0), said{Used: 1, Next: 5 * time.Second},
		},
		"the first attempt of a replay": {
			Message{Ref: Ref{Replay: 3}}, received(1, 0), said{Used: 1, Next: 5 * time.Second},
		},
		"DeliveryQueue's receives use no places": {
			Message{}, received(40, -hour), said{Used: 1, Next: 5 * time.Second},
		},
		"the first retry": {
			onRetryQueue(1, 0), received(1, 0), said{FromRetryQueue: true, Used: 2, Next: 20 * time.Second},
		},
		"the first retry of what was never POSTed before": {
			onRetryQueue(0, 0), received(1, 0), said{FromRetryQueue: true, Used: 1, Next: 20 * time.Second},
		},
		"the last retry but one": {
			onRetryQueue(1, 0), received(8, -hour), said{FromRetryQueue: true, Used: 9, Next: 43_000 * time.Second},
		},
		"the last retry": {
			onRetryQueue(1, 0), received(9, -hour), said{FromRetryQueue: true, Last: true, Used: 10},
		},
		"received after the last retry": {
			onRetryQueue(1, 0), received(10, -hour), said{FromRetryQueue: true, Last: true, Exhausted: true, Used: 10},
		},
		"received long after the last retry": {
			onRetryQueue(1, 0), received(99, -hour), said{FromRetryQueue: true, Last: true, Exhausted: true, Used: 10},
		},
		"received before its Retry-After is over": {
			onRetryQueue(1, hour), received(1, 0), said{FromRetryQueue: true, Early: true, Used: 1, Next: hour},
		},
		"received again before its Retry-After is over": {
			onRetryQueue(1, hour), received(2, -time.Minute), said{FromRetryQueue: true, Early: true, Used: 2, Next: hour},
		},
		"early by SQS's clock only": {
			onRetryQueue(1, -time.Second), received(1, -2*time.Second), said{FromRetryQueue: true, Early: true, Used: 1},
		},
		"early by our clock only": {
			onRetryQueue(1, time.Second), received(1, time.Second),
			said{FromRetryQueue: true, Early: true, Used: 2, Next: time.Second},
		},
		"the first retry after an early receive": {
			onRetryQueue(1, -hour), received(2, -2*hour), said{FromRetryQueue: true, Used: 2, Next: 20 * time.Second},
		},
		"the last retry after an early receive": {
			onRetryQueue(1, -hour), received(10, -2*hour), said{FromRetryQueue: true, Last: true, Used: 10},
		},
		"the first retry at the end of its Retry-After": {
			onRetryQueue(1, 0), received(1, 0), said{FromRetryQueue: true, Used: 2, Next: 20 * time.Second},
		},
		"a receive count that SQS does not give": {
			onRetryQueue(1, 0), received(0, 0), said{FromRetryQueue: true, Early: true, Used: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, say(PlaceOf(schedule, row.message, row.receive, now))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// drawn is any message on RetryQueue, of any schedule, received any number of times, before or
// after its Retry-After is over.
func drawn(random *rand.Rand) (retry.Schedule, Message, Receive) {
	s := retry.Schedule{
		Base:       time.Duration(1+random.IntN(60)) * time.Second,
		Factor:     1 + 9*random.Float64(),
		MaxRetries: 1 + random.IntN(retry.MaxRetries),
	}
	m := Message{Retrying: true, Attempts: random.IntN(2)}
	if random.IntN(2) == 0 {
		m.NotBefore = now.Add(time.Duration(random.IntN(7_200)-3_600) * time.Second)
	}
	return s, m, Receive{
		Count: 1 + random.IntN(2*retry.MaxRetries), First: now.Add(-time.Duration(random.IntN(7_200)) * time.Second),
	}
}

func TestPlaceOf_properties(t *testing.T) {
	for name, holds := range map[string]func(retry.Schedule, Message, Receive) bool{
		"nothing is attempted before its Retry-After is over": func(s retry.Schedule, m Message, r Receive) bool {
			return !now.Before(m.NotBefore) || PlaceOf(s, m, r, now).Early()
		},
		"a wait for Retry-After ends when it is over": func(s retry.Schedule, m Message, r Receive) bool {
			p := PlaceOf(s, m, r, now)
			return !p.Early() || p.Next(0.5, 0, 0) == max(m.NotBefore.Sub(now), 0)
		},
		"without a Retry-After nothing is early": func(s retry.Schedule, m Message, r Receive) bool {
			m.NotBefore = time.Time{}
			return !PlaceOf(s, m, r, now).Early()
		},
		"MaxRetries receives are attempts, the last of them its last": func(s retry.Schedule, m Message, r Receive) bool {
			attempts, last := 0, 0
			for r.Count = 1; r.Count <= 2*retry.MaxRetries; r.Count++ {
				p := PlaceOf(s, m, r, now.Add(2*time.Hour)) // its Retry-After is over
				if p.Early() || p.Exhausted() {
					continue
				}
				if attempts++; p.Last() {
					last = attempts
				}
			}
			return attempts == s.MaxRetries && last == attempts
		},
		"another receive uses no fewer places, at most all": func(s retry.Schedule, m Message, r Receive) bool {
			used := PlaceOf(s, m, r, now).Used(true)
			r.Count++
			more := PlaceOf(s, m, r, now).Used(true)
			return used <= more && more <= m.Attempts+s.MaxRetries
		},
		"a receive uses its place whether or not it was an attempt": func(s retry.Schedule, m Message, r Receive) bool {
			p := PlaceOf(s, m, r, now)
			return p.Used(true) == p.Used(false)
		},
		"what is exhausted waits for nothing": func(s retry.Schedule, m Message, r Receive) bool {
			p := PlaceOf(s, m, r, now)
			return p.Early() || !p.Exhausted() || p.Next(0.5, time.Hour, 0) == 0
		},
		"no wait ends later than the cap after the receive": func(s retry.Schedule, m Message, r Receive) bool {
			const elapsed = 1000 * time.Second
			wait := PlaceOf(s, m, r, now).Next(0.9, 50_000*time.Second, elapsed)
			return wait >= 0 && wait <= retry.Cap-elapsed
		},
		"of two receives one goes before the other, or neither": func(s retry.Schedule, m Message, r Receive) bool {
			p, o := PlaceOf(s, m, r, now), PlaceOf(s, m, Receive{Count: 3, First: now}, now)
			return !p.Before(o) || !o.Before(p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2)) // the same cases in every run
			for range 2_000 {
				if s, m, r := drawn(random); !holds(s, m, r) {
					t.Fatalf("%+v of %+v, received %+v at %s: %+v", s, m, r, now, PlaceOf(s, m, r, now))
				}
			}
		})
	}
}

func TestPlace_Used_countsAFirstAttemptOnlyWhereOneWasMade(t *testing.T) {
	p := PlaceOf(schedule, Message{}, Receive{Count: 1}, now)
	if got := [2]int{p.Used(true), p.Used(false)}; got != [2]int{1, 0} {
		t.Errorf("%v places used with and without a POST, want 1 and 0", got)
	}
}

func TestPlace_Next_isTheSchedulesWait(t *testing.T) {
	retries := Message{Retrying: true, Attempts: 1}
	for name, row := range map[string]struct {
		place          Place
		random         float64
		floor, elapsed time.Duration
		want           time.Duration
	}{
		"after the first attempt": {PlaceOf(schedule, Message{}, Receive{Count: 1}, now), 0, 0, 0, 5 * time.Second},
		"after the second retry":  {PlaceOf(schedule, retries, Receive{Count: 2}, now), 0, 0, 0, 80 * time.Second},
		"with jitter":             {PlaceOf(schedule, retries, Receive{Count: 2}, now), 0.5, 0, 0, 88 * time.Second},
		"with a Retry-After":      {PlaceOf(schedule, retries, Receive{Count: 2}, now), 0, time.Hour, 0, time.Hour},
		"cut to what SQS hides a message": {
			PlaceOf(schedule, retries, Receive{Count: 8}, now), 0, 0, time.Hour, 43_000*time.Second - time.Hour,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.place.Next(row.random, row.floor, row.elapsed); got != row.want {
				t.Errorf("waits %s, want %s", got, row.want)
			}
		})
	}
}

func TestPlace_Next_cutsARetryAfterToWhatSQSHidesAMessage(t *testing.T) {
	p := PlaceOf(schedule, Message{Retrying: true, NotBefore: now.Add(retry.Cap)}, Receive{Count: 1, First: now}, now)
	if got, want := p.Next(0, 0, time.Minute), retry.Cap-time.Minute; got != want {
		t.Errorf("waits %s, want %s", got, want)
	}
}

func TestPlace_Before(t *testing.T) {
	early := PlaceOf(schedule, Message{Retrying: true, NotBefore: now.Add(time.Hour)}, Receive{Count: 1, First: now}, now)
	second := PlaceOf(schedule, Message{Retrying: true}, Receive{Count: 2, First: now}, now)
	third := PlaceOf(schedule, Message{Retrying: true}, Receive{Count: 3, First: now}, now)
	for name, row := range map[string]struct {
		p, o Place
		want bool
	}{
		"the one with more tries left":      {second, third, true},
		"the one with fewer":                {third, second, false},
		"alike":                             {second, second, false},
		"one that is due, another is early": {third, early, true},
		"one that is early, another is due": {early, third, false},
		"both early":                        {early, early, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.p.Before(row.o); got != row.want {
				t.Errorf("before: %v, want %v", got, row.want)
			}
		})
	}
}

// A delivery whose receiver never answers, through a schedule of two retries.
func ExamplePlaceOf() {
	short := retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 2}
	show := func(p Place) {
		fmt.Printf(
			"attempt: %-5v  last: %-5v  used: %d  next in %s\n", !p.Exhausted(), p.Last(), p.Used(true), p.Next(0, 0, 0),
		)
	}
	show(PlaceOf(short, Message{}, Receive{Count: 1}, now))
	for count := range 3 {
		show(PlaceOf(short, Message{Retrying: true, Attempts: 1}, Receive{Count: count + 1}, now))
	}
	// Output:
	// attempt: true   last: false  used: 1  next in 5s
	// attempt: true   last: false  used: 2  next in 20s
	// attempt: true   last: true   used: 3  next in 0s
	// attempt: false  last: true   used: 3  next in 0s
}
