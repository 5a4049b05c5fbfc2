package release

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/parallel"
)

// search is the work for one endpoint in trouble, and goes through everything that waits for it, oldest first over its
// eight shards.
type search struct {
	key      dynamo.EndpointKey
	facts    circuit.Facts
	plan     circuit.Plan // its Item is stored
	endpoint endpoint.Endpoint

	began  time.Time // before its first read
	shards [backlog.Shards]stream
	quota  int       // items that a recovery may send
	sent   int       // of them
	oldest time.Time // created_at of the first that it may send; zero: none was met
	held   bool      // something was met that goes on being held
	failed bool      // a shard could not be read, or something refused to be moved
	over   bool      // nothing more to do in this run
}

// stream is one shard, read as far as after.
type stream struct {
	read  []backlog.Item // and not yet taken
	after string
	last  bool // there is no further page
}

// complete reports whether the search has seen everything, and nothing is left that it has to move.
func (s *search) complete() bool {
	for _, shard := range s.shards {
		if len(shard.read) > 0 || !shard.last {
			return false
		}
	}
	return !s.failed
}

// forget drops the pages in memory. They are read again.
func (s *search) forget() {
	for n := range s.shards {
		if len(s.shards[n].read) > 0 {
			s.shards[n].read, s.shards[n].last = nil, false
		}
	}
}

func (s *stream) take() {
	s.after = s.read[0].Position
	s.read = s.read[1:]
}

// walker takes searches on.
type walker struct {
	h   *Handler
	t   *tally
	out *outlet
}

// stride is the number of pages that a search sends before others have their turn.
const stride = 4

// goOn takes searches on in turn until all are over, or until the time given. Where there are more of them
// than lanes, none keeps pages in memory while it is not its turn, and none does for other kinds of work.
func (w *walker) goOn(ctx context.Context, searches []*search, until time.Time) (left bool) {
	for under := unfinished(searches); len(under) > 0; under = unfinished(under) {
		if !w.h.Now().Before(until) {
			for _, s := range under {
				s.forget()
			}
			return true
		}
		errs := parallel.Each(len(under), lanes, func(n int) error {
			for pages := 0; pages < stride && !under[n].over && w.h.Now().Before(until); pages++ {
				w.advance(ctx, under[n])
			}
			if len(under) > lanes {
				under[n].forget()
			}
			return nil
		})
		for n, err := range errs {
			if err != nil {
				under[n].failed, under[n].over = true, true
				w.t.fault(ctx, "searching", err)
			}
		}
	}
	return false
}

func unfinished(searches []*search) (under []*search) {
	for _, s := range searches {
		if !s.over {
			under = append(under, s)
		}
	}
	return under
}

// advance moves the next items, at most a page of them.
func (w *walker) advance(ctx context.Context, s *search) {
	if s.began.IsZero() {
		s.began = w.h.Now()
	}
	var moves []move
	for looked := 0; !s.over && len(moves) < pageSize && looked < pageSize; looked++ {
		if m, moved := w.next(ctx, s); moved {
			moves = append(moves, m)
		}
	}
	done, refused := w.out.carry(ctx, moves)
	s.failed = s.failed || done < len(moves)
	s.over = s.over || refused
}

// owns reports whether an item is of the tenant that the search has read. An endpoint is found through its circuit, and
// the circuit names the tenant: where that is not the item's own, the facts say nothing about the item.
func (s *search) owns(i backlog.Item) bool { return i.Message.TenantID == s.key.TenantID }

// errForeign is a fault: the circuit or the item was not written by an honest process.
var errForeign = errors.New("a delivery of another tenant waits for the endpoint")

// leave passes over an item that the search may not move. It stays, and so does the circuit that leads to it.
func (w *walker) leave(ctx context.Context, s *search, i backlog.Item) {
	s.failed = true
	w.t.fault(ctx, "comparing tenants", fmt.Errorf("%w: %s of %s, by its circuit, and %s",
		errForeign, s.key.EndpointID, s.key.TenantID, i.Message.TenantID))
}

// next takes the next item, unless the quota is used up.
func (w *walker) next(ctx context.Context, s *search) (m move, moved bool) {
	shard, found := w.front(ctx, s)
	if !found {
		s.over = true
		return m, false
	}
	item := s.shards[shard].read[0]
	if !s.owns(item) {
		s.shards[shard].take()
		w.leave(ctx, s, item)
		return m, false
	}
	verdict := s.plan.Item.Verdict(s.facts, item.Waiting(w.h.Schedule), w.h.Now())
	switch {
	case verdict != circuit.Drop && unsubscribed(item, s.endpoint):
		s.shards[shard].take()
		return discarded(item, delivery.ReasonUnsubscribed), true
	case verdict == circuit.Send:
		if s.oldest.IsZero() {
			s.oldest = item.Message.CreatedAt
		}
		if s.sent >= s.quota {
			s.over = true
			return m, false
		}
	}
	s.shards[shard].take()
	return w.move(s, item, verdict)
}

// unsubscribed reports whether the endpoint's owner no longer asks for the event.
func unsubscribed(i backlog.Item, e endpoint.Endpoint) bool {
	name, err := i.Message.EventType()
	return err == nil && e.Live() && e.Unsubscribed(name)
}

// move is the move that the verdict on an item asks for. A search that sends nothing ends at the first
// held item behind which nothing can have been discarded.
func (w *walker) move(s *search, i backlog.Item, v circuit.Verdict) (m move, moved bool) {
	switch v {
	case circuit.Send:
		s.sent++
		return move{kind: kindRecovery, item: i, delay: spread(w.h.Settings.Run, s.sent-1, s.quota)}, true
	case circuit.PutBack:
		return move{kind: kindPutBack, item: i}, true
	case circuit.Drop:
		if s.facts.Gone {
			return discarded(i, delivery.ReasonEndpointDeleted), true
		}
		return discarded(i, delivery.ReasonDiscarded), true
	case circuit.Leave:
		s.held = s.held || i.Held
		s.over = s.held && !s.facts.Gone && i.Message.CreatedAt.After(s.facts.DiscardedBefore)
	}
	return m, false
}

// spread is the delay of the n-th of so many, so that they do not all arrive in the same second.
func spread(run time.Duration, n, of int) time.Duration {
	return run * time.Duration(n) / time.Duration(max(of, 1))
}

// front is the shard whose next item is the oldest of all. Shards that refuse are skipped.
func (w *walker) front(ctx context.Context, s *search) (front int, found bool) {
	for shard := range s.shards {
		if !w.fill(ctx, s, shard) {
			continue
		}
		if !found || s.shards[shard].read[0].Position < s.shards[front].read[0].Position {
			front, found = shard, true
		}
	}
	return front, found
}

var errUnreadable = errors.New("an item is of another version")

// fill reads on, so that the shard's next item is in memory if there is one.
func (w *walker) fill(ctx context.Context, s *search, shard int) bool {
	at := &s.shards[shard]
	if w.out.refuses(s.key.EndpointID, shard) {
		return false
	}
	for len(at.read) == 0 && !at.last {
		page, err := w.h.Backlog.ReadShard(ctx, s.key.EndpointID, shard, at.after, pageSize)
		if err != nil {
			w.t.fault(ctx, "reading a shard", err)
			s.failed, at.last = true, true
			return false
		}
		w.t.see(ctx, page)
		s.failed = s.failed || len(page.Unreadable) > 0
		at.read, at.last = page.Items, page.Next == ""
		if len(at.read) == 0 {
			at.after = page.Next
		}
	}
	return len(at.read) > 0
}
