package release

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/health"
)

// walk goes through everything that waits for one endpoint, oldest first over all its shards.
type walk struct {
	*tick
	to      *destination
	from    time.Time // before its first read
	shards  [backlog.Shards]stream
	quota   int       // items that recovery may send
	sent    int       // of them
	oldest  time.Time // created_at of the first that it may send
	found   bool      // something is held, or is for recovery to send, or cannot be read
	failed  bool      // a shard could not be read, or refused a delete
	through bool      // nothing more to do in this tick
}

// stream is one shard, read as far as after.
type stream struct {
	read  []backlog.Item // and not yet taken
	after string
	over  bool // there is no further page
}

func (t *tick) newWalk(e *destination) *walk { return &walk{tick: t, to: e, from: t.Now()} }

// crowd is the number of walks above which they keep no pages in memory from one step to the next.
const crowd = 32

// maxKept bounds the bytes of bodies that a walk keeps from one step to the next: a page of every shard
// can be 8 MB.
const maxKept = 2 << 20

// goOn takes every walk on, a page each in turn.
func (t *tick) goOn(ctx context.Context, walks []*walk, until time.Time) (left bool) {
	for t.inTime(until) {
		var under []*walk
		for _, w := range walks {
			if !w.through {
				under = append(under, w)
			}
		}
		if len(under) == 0 {
			return false
		}
		t.each(ctx, "walking through a shard", len(under), func(i int) error {
			if t.inTime(until) {
				under[i].step(ctx)
			}
			if len(under) > crowd || under[i].heavy() {
				under[i].forget()
			}
			return nil
		})
	}
	return true
}

// step looks at the next items.
func (w *walk) step(ctx context.Context) {
	var moves []*move
	for looked := 0; len(moves) < pageSize && looked < keysSize; looked++ {
		shard := w.front(ctx)
		if shard < 0 {
			w.through = true
			break
		}
		if m := w.decide(w.shards[shard].take()); m != nil {
			moves = append(moves, m)
		}
		if w.through {
			break
		}
	}
	if !w.carry(ctx, moves) {
		w.failed, w.through = true, true
	}
	for _, m := range moves {
		if !m.sent && (m.kind == kindRecovery || m.kind == kindLast) {
			w.sent--
		}
	}
}

// decide says what becomes of an item, and notes whether the endpoint can be forgotten.
func (w *walk) decide(i backlog.Item) *move {
	f := w.to.fate(w.Thresholds, i, w.Now())
	sends := f.Step == health.SendRecovery || f.Step == health.SendLast
	w.found = w.found || i.Held || sends || f.Step == health.Drop
	switch {
	case f.Step == health.Drop:
		return &move{item: i, to: w.to, fate: f}
	case !w.to.plan.Recover: // nothing younger is discarded
		w.through = !w.to.is.Gone && i.Message.CreatedAt.After(w.to.discardedBefore())
		return nil
	case !sends:
		return nil
	case w.sent >= w.quota:
		w.through = true
		return nil
	}
	m := &move{item: i, to: w.to, fate: f, kind: kindRecovery, delay: spread(w.Thresholds.Tick, w.sent, w.quota)}
	if f.Step == health.SendLast {
		m.kind, m.item.Message.Life.Last = kindLast, true
	}
	w.sent++
	return m
}

// spread is how long the n-th of so many is delayed, so that they do not all arrive in the same second.
func spread(tick time.Duration, n, of int) time.Duration {
	return tick * time.Duration(n) / time.Duration(max(of, 1))
}

// front is the shard whose first item is the oldest that is left; -1 when nothing is left. A shard that
// refuses is skipped.
func (w *walk) front(ctx context.Context) int {
	front := -1
	for shard := range w.shards {
		if !w.fill(ctx, shard) {
			continue
		}
		if front < 0 || w.shards[shard].read[0].Position < w.shards[front].read[0].Position {
			front = shard
		}
	}
	return front
}

func (s *stream) take() backlog.Item {
	i := s.read[0]
	s.read, s.after = s.read[1:], i.Position
	return i
}

// fill makes sure that the shard's oldest item is in memory, if there is one.
func (w *walk) fill(ctx context.Context, shard int) bool {
	s := &w.shards[shard]
	if w.refuses(backlog.Key{EndpointID: w.to.key.EndpointID, Shard: shard}) {
		w.failed = true
		return false
	}
	for len(s.read) == 0 && !s.over {
		page, err := w.Shards.ReadShard(ctx, w.to.key.EndpointID, shard, s.after, pageSize)
		if err != nil {
			w.fault(ctx, "reading a shard", err)
			w.failed, s.over = true, true
			return false
		}
		w.see(ctx, page)
		w.found = w.found || len(page.Unreadable) > 0
		s.read, s.over = page.Items, page.Next == ""
		if len(s.read) == 0 {
			s.after = page.Next
		}
	}
	return len(s.read) > 0
}

// heavy reports whether what was read and not taken is too much to keep.
func (w *walk) heavy() bool {
	kept := 0
	for _, s := range w.shards {
		for _, i := range s.read {
			kept += len(i.Message.Body)
		}
	}
	return kept > maxKept
}

// forget drops what was read and not taken; it is read again.
func (w *walk) forget() {
	for n := range w.shards {
		if s := &w.shards[n]; len(s.read) > 0 {
			s.read, s.over = nil, false
		}
	}
}

// empty reports whether the walk has seen all that waits, and nothing that needs the endpoint's item.
func (w *walk) empty() bool {
	for _, s := range w.shards {
		if len(s.read) > 0 || !s.over {
			return false
		}
	}
	return !w.found && !w.failed
}
