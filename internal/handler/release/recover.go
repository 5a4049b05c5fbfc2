package release

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/health"
)

// recover sends what waits for endpoints that answer again, each at its pace and all of them within
// the budget of a tick.
func (t *tick) recover(ctx context.Context, until time.Time) (left bool) {
	if !t.shared {
		t.shareQuota(ctx, until)
	}
	return t.goOn(ctx, t.recoveries, until)
}

// shareQuota finds the oldest that each endpoint waits for, and from it how much each may be sent.
// Those for which there is no time get no quota in this tick.
func (t *tick) shareQuota(ctx context.Context, until time.Time) {
	t.shared = true
	paces := make([]int, len(t.recoveries))
	t.each(ctx, "looking for the oldest", len(paces), func(i int) error {
		w := t.recoveries[i]
		if !t.inTime(until) || !w.toOldest(ctx, until) {
			w.through = true
			return nil
		}
		if len(paces) > crowd || w.heavy() {
			w.forget()
		}
		paces[i] = w.to.view.Endpoint.Pace(t.Thresholds, w.oldest, t.Now())
		return nil
	})
	for n, quota := range health.Allot(t.Thresholds.Budget, paces) {
		w := t.recoveries[n]
		if w.quota = quota; quota == 0 {
			w.through = true
		}
	}
}

// toOldest goes on until the next item is one that recovery sends or drops. Nothing before it is
// for recovery in this tick.
func (w *walk) toOldest(ctx context.Context, until time.Time) bool {
	for w.inTime(until) {
		shard := w.front(ctx)
		if shard < 0 {
			return false
		}
		i := w.shards[shard].read[0]
		f := w.to.fate(w.Thresholds, i, w.Now())
		if f.Step == health.SendRecovery || f.Step == health.SendLast || f.Step == health.Drop {
			w.oldest = i.Message.CreatedAt
			return true
		}
		w.found = w.found || i.Held
		w.shards[shard].take()
	}
	return false
}

// close stores how far recovery came, and for which endpoints nothing is held any more. It is done for
// walks that ran out of time, too.
func (t *tick) close(ctx context.Context) {
	walks := slices.Concat(t.recoveries, t.sweeps)
	t.each(ctx, "storing the pace of a recovery", len(walks), func(i int) error { return walks[i].close(ctx) })
}

func (w *walk) close(ctx context.Context) error {
	if w.empty() {
		_, err := w.apply(ctx, w.to, w.to.view.Empty(w.Thresholds, w.to.is, w.from))
		return err
	}
	for range 2 { // when it is refused, it is decided again about the item that is stored
		applied, err := w.apply(ctx, w.to, w.to.view.Released(w.quota, w.sent, w.oldest, w.Now()))
		if applied || err != nil {
			return err
		}
	}
	return nil
}
