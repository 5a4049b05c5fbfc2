package health

import "time"

// Queue is where an attempt comes from.
type Queue string

// The queues of deliver.
const (
	DeliveryQueue Queue = "delivery"
	RetryQueue    Queue = "retry"
)

// Note says that attempts to an endpoint hold up a process. It is written a tenth of the attempt
// timeout into an attempt and removed when the attempts of that batch have ended; Until is when
// they end at the latest.
type Note struct {
	EndpointID string
	Queue      Queue
	Process    string
	Until      time.Time
}

// minSlow is the least number of processes that slow endpoints may hold together: with one, two
// slow answers at a time would be one too many.
const minSlow = 2

// SlowLimit is how many of the concurrent invocations of a queue slow endpoints may hold, all
// together: a tenth.
func SlowLimit(concurrency int) int { return max(minSlow, concurrency/10) }

// Slow is what a process knows of endpoints that hold up others.
type Slow struct {
	held     map[slot]int  // processes
	slow     map[Queue]int // endpoints
	settings SlowSettings
}

type slot struct {
	queue    Queue
	endpoint string
}

// SlowSettings are of one process.
type SlowSettings struct {
	Self  string        // the process's name: its own notes do not count, since their batch is over
	Limit int           // as SlowLimit
	Wait  time.Duration // the shortest in Backlog: 1 min
}

// NewSlow reads the notes that are not over.
func NewSlow(set SlowSettings, notes []Note, now time.Time) Slow {
	type holder struct {
		slot
		process string
	}
	s := Slow{held: map[slot]int{}, slow: map[Queue]int{}, settings: set}
	seen := make(map[holder]bool, len(notes))
	for _, n := range notes {
		at := slot{n.Queue, n.EndpointID}
		who := holder{at, n.Process}
		if !n.Until.After(now) || n.Process == set.Self || seen[who] {
			continue
		}
		seen[who] = true
		if s.held[at]++; s.held[at] == 1 {
			s.slow[n.Queue]++
		}
	}
	return s
}

// full reports whether the endpoint holds as many processes of the queue as it may: its share
// of the limit, one at least.
func (s Slow) full(queue Queue, endpointID string) bool {
	held := s.held[slot{queue, endpointID}]
	return held > 0 && held >= s.settings.Limit/s.slow[queue]
}

// Route is where an attempt is made, or not made now.
type Route struct {
	To  Way
	Due time.Time // of ToBacklog
}

// Way is where an attempt goes.
type Way int

// The ways.
const (
	Here         Way = iota // start the attempt
	ToRetryQueue            // send it there without a wait; it has used no place
	ToBacklog               // put it there, due at Route.Due; it has used no place
)

// Route says whether an attempt to the endpoint may start in this batch of the queue. waiting is
// since when the delivery has waited for its attempt; in Backlog it waits for as long again, and at
// least for Wait. It is not asked about probes and last attempts.
func (s Slow) Route(queue Queue, endpointID string, waiting, now time.Time) Route {
	switch {
	case !s.full(queue, endpointID):
		return Route{To: Here}
	case queue == DeliveryQueue:
		return Route{To: ToRetryQueue}
	}
	return Route{To: ToBacklog, Due: now.Add(max(now.Sub(waiting), s.settings.Wait))}
}
