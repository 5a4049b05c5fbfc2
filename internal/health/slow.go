package health

import (
	"hash/fnv"
	"slices"
	"time"
)

// Queue is where an attempt comes from.
type Queue string

// The queues of deliver.
const (
	DeliveryQueue Queue = "delivery"
	RetryQueue    Queue = "retry"
)

// Note says that attempts to an endpoint hold up a process. It is written a tenth of the attempt
// timeout into an attempt; when the attempts of that batch have ended, it becomes what After says; Until is when
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
	held     map[slot][]string // names of processes, in order
	slow     map[Queue]int     // endpoints
	settings SlowSettings
}

type slot struct {
	queue    Queue
	endpoint string
}

// SlowSettings are of one process.
type SlowSettings struct {
	Self    string        // the process's name
	Limit   int           // as SlowLimit
	Wait    time.Duration // the shortest in Backlog: 1 min
	Longest time.Duration // the longest there: 1 h
	Apart   time.Duration // how far apart processes take the same note for over: two thirds of the attempt timeout
}

// early is how long before its end this process takes a note for over. Notes of a moment in which an
// endpoint held every process end in one moment, too: if all took it for fast again then, it would
// hold all of them again. Of those that try one after the other, the first ones tell the rest.
func (set SlowSettings) early(endpointID string) time.Duration {
	const spread = 0x9E3779B97F4A7C15 // names that differ in their last letter have sums that are near each other
	h := fnv.New64a()
	_, _ = h.Write([]byte(endpointID + "#" + set.Self)) // never fails
	return time.Duration(float64(set.Apart) * float64(h.Sum64()*spread) / (1 << 64))
}

// What an endpoint has held for long is remembered for longer: one that hangs holds every process
// again at the very moment at which the notes on its attempts end, all at once.
const (
	longHeld = 5 // a fifth of the attempt timeout
	remember = 3 // times as long as the process was held
)

// After is what remains of the note when the attempts have ended that it was about, which held the
// process for as long as held says. It remains only where they took long: an answer that was merely
// slow is forgotten at once.
func (n Note) After(held, attemptTimeout time.Duration, now time.Time) (rest Note, remains bool) {
	if held < attemptTimeout/longHeld {
		return Note{}, false
	}
	n.Until = now.Add(remember * held)
	return n, true
}

// NewSlow reads the notes that are not over. Notes of RetryQueue count for both queues: as long as
// retries find the endpoint slow, first attempts need not find it out anew.
func NewSlow(set SlowSettings, notes []Note, now time.Time) Slow {
	s := Slow{held: map[slot][]string{}, slow: map[Queue]int{}, settings: set}
	for _, n := range notes {
		if !n.Until.After(now.Add(set.early(n.EndpointID))) {
			continue
		}
		for _, queue := range n.counts() {
			at := slot{queue, n.EndpointID}
			held := s.held[at]
			if len(held) == 0 {
				s.slow[queue]++
			}
			if i, known := slices.BinarySearch(held, n.Process); !known {
				s.held[at] = slices.Insert(held, i, n.Process)
			}
		}
	}
	return s
}

// counts are the queues for which the note counts.
func (n Note) counts() []Queue {
	if n.Queue == RetryQueue {
		return []Queue{RetryQueue, DeliveryQueue}
	}
	return []Queue{n.Queue}
}

// full reports whether the endpoint holds as many processes of the queue as it may: its share of the
// limit, one at least. The first of them, as many as the share, may go on making attempts whenever they
// are free, so that somebody finds out when the endpoint is fast again, and not everybody at once.
func (s Slow) full(queue Queue, endpointID string) bool {
	held := s.held[slot{queue, endpointID}]
	if len(held) == 0 {
		return false
	}
	share := max(s.settings.Limit/s.slow[queue], 1)
	return len(held) >= share && !slices.Contains(held[:share], s.settings.Self)
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
// since when the delivery has waited for its attempt; in Backlog it waits for as long again, between Wait
// and Longest: it may have waited for a day because nobody received it, which says nothing of the endpoint.
// It is not asked about probes and last attempts.
func (s Slow) Route(queue Queue, endpointID string, waiting, now time.Time) Route {
	switch {
	case !s.full(queue, endpointID):
		return Route{To: Here}
	case queue == DeliveryQueue:
		return Route{To: ToRetryQueue}
	}
	return Route{To: ToBacklog, Due: now.Add(max(min(now.Sub(waiting), s.settings.Longest), s.settings.Wait))}
}
