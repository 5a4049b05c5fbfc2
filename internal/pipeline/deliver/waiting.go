package deliver

import (
	"time"
)

// before is the memory of the last batch of a queue.
type before struct {
	ended time.Time

	// wait is the average wait of its deliveries. If they tell no waits, it is the wait of an earlier batch.
	wait time.Duration

	// spent is the sum of the attempts' times, by tenant.
	spent map[string]time.Duration
}

// waiting is the wait of a batch's deliveries for a process.
type waiting struct {
	average time.Duration

	// late counts the deliveries that waited longer than they do while processes are free, and that waited while the batch
	// before was at work.
	late int
}

// waits measures a batch that was received.
func (b before) waits(posts []candidate, late time.Duration, now time.Time) (w waiting) {
	n := 0
	for _, s := range posts {
		due, tells := s.due()
		if !tells {
			continue
		}
		n++
		wait := now.Sub(due)
		w.average += wait
		if wait > late && due.Before(b.ended) {
			w.late++
		}
	}
	if n == 0 {
		// The batch tells no wait. That means neither that waits have ended nor that they begin.
		return waiting{average: b.wait}
	}
	w.average /= time.Duration(n)
	return w
}

// spentBy measures a batch that has ended.
func spentBy(ends []end) map[string]time.Duration {
	spent := map[string]time.Duration{}
	for _, e := range ends {
		if e.posted() {
			spent[e.message.TenantID] += e.ended.Sub(e.begun)
		}
	}
	return spent
}
