package deliver

import (
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// lastBatches has the last batch of each queue. A batch is forgotten when the next one takes it: its tenants pay for it
// once.
type lastBatches struct {
	mu sync.Mutex
	of map[delivery.Queue]lastBatch
}

// lastBatch is a batch that has ended.
type lastBatch struct {
	ended time.Time

	// wait is the average wait of its deliveries. If they tell no waits, it is the wait of an earlier batch.
	wait time.Duration

	// spent is the sum of the times of attempts and of puts into Backlog, by tenant.
	spent map[string]time.Duration
}

// leave stores a batch that has ended, for the next batch of its queue to take.
func (l *lastBatches) leave(of delivery.Queue, b lastBatch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[delivery.Queue]lastBatch{}
	}
	l.of[of] = b
}

// take returns the last batch of a queue, and forgets it.
func (l *lastBatches) take(of delivery.Queue) lastBatch {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.of[of]
	delete(l.of, of)
	return b
}

// waits are the waits of a batch's deliveries for a process.
type waits struct {
	average time.Duration

	// late counts the deliveries that waited longer than they do while processes are free, and that waited while the last
	// batch was at work.
	late int
}

// waits measures a batch that was received after b.
func (b lastBatch) waits(posts []candidate, late time.Duration, now time.Time) (w waits) {
	n := 0
	for _, c := range posts {
		due, tells := c.due()
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
		return waits{average: b.wait}
	}
	w.average /= time.Duration(n)
	return w
}
