package deliver

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/allowance"
	"github.com/herald-webhooks/herald/internal/delivery"
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
func (b before) waits(posts []sight, late time.Duration, now time.Time) (w waiting) {
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

// due is the moment from which a process could have received the delivery, where the message tells it. A first attempt
// tells it, and so does the first receive of a retry that was sent ahead of its time, which SQS rounds up to a second.
// Everything else may have waited for another reason: for a visibility timeout, a recovery, or a job.
func (t task) due() (at time.Time, tells bool) {
	ahead := t.message.Life.DueAt.After(t.sentAt)
	switch {
	case t.receives > 1, len(t.records) > 1, t.message.Replay > 0, !t.message.Life.Probe.IsZero():
		return at, false
	case t.from == delivery.RetryQueue:
		return t.message.Life.DueAt.Add(time.Second), ahead
	}
	return t.sentAt, t.from == delivery.DeliveryQueue && t.firstTime()
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

// chargeBefore charges the tenants of the batch before for their time there, by the share of this batch that waited. It
// returns how this batch waited.
//
// It charges only while waits grow. When waits get shorter, the processes are fast enough, and the waiting deliveries
// are left from an event that is over, such as an attack or an outage of our own.
func (h *Handler) chargeBefore(ctx context.Context, posts []sight) waiting {
	now, b := h.Now(), h.memory.take(posts[0].from)
	w := b.waits(posts, h.Rules.Allowance.Late, now)
	if w.late == 0 || w.average <= b.wait {
		return w
	}
	due := make([]charge, 0, len(b.spent))
	for tenant, spent := range b.spent {
		share := allowance.Share(spent, w.late, len(posts))
		due = append(due, h.memory.accounts.waited(h.Rules.Allowance, tenant, share, now))
	}
	h.charge(ctx, due)
	return w
}
