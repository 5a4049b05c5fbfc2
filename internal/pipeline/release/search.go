package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

// search goes through everything that waits for one endpoint in trouble, oldest first. It drops discarded items, and
// sends as many items of a recovery as its quota allows. It is changed in this file alone, and goes on where it was
// when its kind of work has its turn again.
type search struct {
	trouble
	finding
	waiting oldestFirst
	// sent is how much of its quota a recovery has used, and spent tells that there is more to send than the quota.
	sent  int
	spent bool
	// until is the moment of the endpoint's limit, as it was last seen.
	until time.Time
	// stayed tells that an item is still there which the search had to move.
	stayed bool
	// over tells that there is nothing more to do in this run.
	over bool
}

// finding is the result of a search so far.
type finding struct {
	// began is a moment before the first read of the endpoint's shards; zero: there was no read.
	began time.Time
	// held tells that an item was met which goes on being held.
	held bool
	// empty tells that everything was seen, and that nothing is held or still to be moved.
	empty bool
	// quota is the number of items that a recovery may send, and oldest is created_at of the first of them. Oldest is
	// zero where none was met. Rated tells that it waited for its rate.
	quota  int
	oldest time.Time
	rated  bool
}

// searchesFor begins a search for each trouble that is chosen.
func searchesFor(all []trouble, chosen func(circuit.Plan) bool) (searches []*search) {
	for _, t := range all {
		if chosen(t.plan) {
			searches = append(searches, &search{trouble: t, waiting: oldestFirst{endpointID: t.key.EndpointID}})
		}
	}
	return searches
}

// allow gives a recovery its quota. A search that has stopped at the first item that it may send continues with that
// item.
func (s *search) allow(quota int) {
	s.quota = quota
	s.over = quota == 0
	s.spent = false
}

// sweeps search where no recovery does: for items to drop, and for held items of an endpoint that could take them, so
// that a recovery begins.
type sweeps struct {
	searcher searcher
	searches []*search
}

// goOn takes the searches on.
func (s *sweeps) goOn(ctx context.Context, until time.Time) (did counts, left bool) {
	return s.searcher.goOn(ctx, s.searches, until)
}

// searcher takes searches on.
type searcher struct {
	shards   Shards
	mover    *mover
	schedule retry.Schedule
	slots    slots
	// run is the time from one run to the next, over which a recovery spreads its messages.
	run time.Duration
	now func() time.Time
}

// stride is the number of pages that a search sends before others have their turn.
const stride = 4

// goOn takes searches on in turn until all are over, or until the time given. Where there are more of them than are
// read at once, none keeps pages in memory while it is not its turn, and none does for other kinds of work.
func (w searcher) goOn(ctx context.Context, searches []*search, until time.Time) (did counts, left bool) {
	for under := unfinished(searches); len(under) > 0; {
		if !w.now().Before(until) {
			for _, s := range under {
				s.waiting.forget()
			}
			return did, true
		}
		turn, later := nextTurn(under)
		dids := make([]counts, len(turn))
		errs := parallel.Each(len(turn), atOnce, func(n int) error {
			for pages := 0; pages < stride && !turn[n].over && w.now().Before(until); pages++ {
				dids[n] = dids[n].plus(w.advance(ctx, turn[n]))
			}
			if len(under) > atOnce || turn[n].over && len(searches) > atOnce {
				turn[n].waiting.forget()
			}
			return nil
		})
		for n, err := range errs {
			if err != nil { // a bug: the rest is for the next run
				turn[n].empty = false
				turn[n].over = true
			}
		}
		did = did.plus(dids...).plus(failed("searching", errs...))
		under = slices.Concat(later, unfinished(turn))
	}
	return did, false
}

// nextTurn takes the next searches off a list: as many of each tenant, so that one with a single endpoint does not wait
// for all those of a tenant with many. Places that are then left are filled, which keeps nobody waiting.
func nextTurn(under []*search) (turn, later []*search) {
	tenants := grouped(under, func(s *search) string { return s.key.TenantID })
	each := (atOnce + len(tenants) - 1) / len(tenants)
	for _, ofTenant := range tenants {
		n := min(each, len(ofTenant))
		turn = append(turn, ofTenant[:n]...)
		later = append(later, ofTenant[n:]...)
	}
	places := min(max(atOnce-len(turn), 0), len(later))
	return append(turn, later[:places]...), later[places:]
}

// unfinished are the searches that are not over.
func unfinished(searches []*search) (under []*search) {
	for _, s := range searches {
		if !s.over {
			under = append(under, s)
		}
	}
	return under
}

// advance moves the next items, at most a page of them.
func (w searcher) advance(ctx context.Context, s *search) (did counts) {
	if s.began.IsZero() {
		s.began = w.now()
	}
	var transfers []transfer
	for looked := 0; !s.over && len(transfers) < pageSize && looked < pageSize; looked++ {
		first := s.waiting.look(ctx, w.shards, w.mover)
		did = did.plus(first.did)
		next, err := w.next(s, first)
		transfers = append(transfers, next...)
		did = did.plus(failed("comparing tenants", err))
	}
	given, until, err := w.slots.give(ctx, s.trouble, transfers, s.until)
	s.until = until
	// An item that could not be moved waits for the next run, which then must still find the circuit that leads to it.
	c := w.mover.carry(ctx, given)
	s.stayed = s.stayed || c.done < len(transfers)
	if len(given) < len(transfers) || c.refused {
		s.over = true
		s.spent = false
	}
	s.empty = !s.held && !s.stayed && s.waiting.complete()
	return did.plus(c.did, failed("taking slots", err))
}

// errForeign is a fault: the circuit or the item was not written by an honest process.
var errForeign = errors.New("a delivery of another tenant waits for the endpoint")

// next decides on the first item, and returns a transfer if the item is to be moved. An item of another tenant stays,
// and so does the circuit that leads to it. An item beyond the quota is not taken, and is the first of the next run.
func (w searcher) next(s *search, first front) ([]transfer, error) {
	if !first.found {
		s.over = true
		return nil, nil
	}
	item := first.item
	if !s.owns(item) {
		s.waiting.take(first)
		s.stayed = true
		return nil, fmt.Errorf("%w: %s of %s, by its circuit, and %s",
			errForeign, s.key.EndpointID, s.key.TenantID, item.Message.TenantID)
	}
	answer := s.admits(item, w.schedule)
	if answer.Drops() && !s.mayBeRestored(item, answer) {
		s.waiting.take(first)
		return []transfer{discarded(item, answer.Reason())}, nil
	}
	verdict := circuit.Leave
	if answer == endpoint.Free {
		verdict = s.plan.Item.Verdict(s.facts, item.Waiting(w.schedule), w.now())
	}
	if verdict == circuit.Send && !w.mayBeSent(s, item) {
		return nil, nil
	}
	s.waiting.take(first)
	return w.transfer(s, item, verdict), nil
}

// mayBeRestored reports whether the endpoint may be back: no life begins while it is gone, and this one began after it
// was read. The next run decides about the item.
func (s *search) mayBeRestored(i backlog.Item, a endpoint.Admission) bool {
	return a == endpoint.Gone && !i.Message.Life.StartedAt.Before(s.asked)
}

// mayBeSent reports whether the quota allows one more item. A search that has used it up is over.
func (w searcher) mayBeSent(s *search, i backlog.Item) bool {
	if s.oldest.IsZero() {
		s.oldest = i.Message.CreatedAt
		s.rated = i.Waiting(w.schedule).Rated && s.facts.Limit > 0
	}
	if s.sent >= s.quota {
		s.over = true
		s.spent = true
		return false
	}
	s.sent++
	return true
}

// transfer is the transfer that the verdict on an item asks for; nil: none. A search that sends nothing ends at the
// first held item behind which nothing can have been discarded.
func (w searcher) transfer(s *search, i backlog.Item, v circuit.Verdict) []transfer {
	switch v {
	case circuit.Send:
		if s.rated || s.plan.Item.State != circuit.Recovering {
			return []transfer{{kind: kindPaced, item: i}}
		}
		return []transfer{{kind: kindRecovery, item: i, delay: spread(w.run, s.sent-1, s.quota)}}
	case circuit.PutBack:
		return []transfer{{kind: kindPutBack, item: i}}
	case circuit.Leave:
		// Items are in the order of their age, so a younger item than the last one discarded has none behind it.
		s.held = s.held || i.Held
		s.over = s.held && !s.facts.Gone && i.Message.CreatedAt.After(s.facts.DiscardedBefore)
	}
	return nil
}

// spread is the delay of the n-th of so many messages, so that they do not all arrive in the same second.
func spread(run time.Duration, n, of int) time.Duration {
	return run * time.Duration(n) / time.Duration(max(of, 1))
}
