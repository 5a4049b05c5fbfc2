package deliver

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/allowance"
	"github.com/herald-webhooks/herald/internal/delivery"
)

// before is what a process remembers of the batch that it had last of a queue.
type before struct {
	ended time.Time
	wait  time.Duration            // of its deliveries, on average, or of the last ones before that tell theirs
	spent map[string]time.Duration // by tenant: the sum of its attempts' times
}

// waiting is how the deliveries of a batch have waited for a process.
type waiting struct {
	average time.Duration
	late    int // how many waited for longer than beside free processes, and while the batch before was at work
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
	if n == 0 { // nothing is known of its wait: it says neither that waits have ended nor that they begin
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
// It charges only while waits grow. Where they get shorter, processes are fast enough, and what waits is left from
// something that is over: from an attack, or from our own outage.
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
