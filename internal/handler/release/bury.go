package release

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// burials end the deliveries that were held to the end of their lives: as dead letters where the endpoint
// still cannot take them. All others are sent like everything that is due.
type burials struct {
	h   *Handler
	t   *tally
	out *outlet
	due *due // where more of them come from

	mu    sync.Mutex
	ended []ended
}

// ended is a held item whose life is over. It is read again: bodies would be too much to keep.
type ended struct {
	key      backlog.Key
	endpoint dynamo.EndpointKey
}

// maxEnded bounds the keys in memory. The rest is found again by the next run.
const maxEnded = 50_000

func (b *burials) add(i backlog.Item) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ended) < maxEnded {
		b.ended = append(b.ended, ended{i.Key, endpointOf(i)})
	}
}

func endpointOf(i backlog.Item) dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: i.Message.TenantID, EndpointID: i.EndpointID}
}

func (b *burials) bury(ctx context.Context, until time.Time) (left bool) {
	b.ended = inTurn(b.ended, func(e ended) dynamo.EndpointKey { return e.endpoint })
	for len(b.ended) > 0 && b.h.Now().Before(until) {
		turn := b.ended[:min(len(b.ended), lanes*pageSize)]
		b.ended = b.ended[len(turn):]
		pages := slices.Collect(slices.Chunk(turn, pageSize))
		errs := b.t.each(ctx, "burying", len(pages), func(n int) error { return b.page(ctx, pages[n]) })
		if !slices.Contains(errs, nil) {
			b.ended = nil // for the next run
		}
	}
	return len(b.ended) > 0 || b.due.left()
}

var errRefused = errors.New("nothing of a page was taken")

func (b *burials) page(ctx context.Context, page []ended) error {
	var keys []backlog.Key
	var of []dynamo.EndpointKey
	for _, e := range page {
		if b.out.refuses(e.key.EndpointID, e.key.Shard) {
			continue
		}
		keys = append(keys, e.key)
		if !slices.Contains(of, e.endpoint) {
			of = append(of, e.endpoint)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	found, err := b.h.Backlog.BatchGet(ctx, keys)
	if err != nil {
		return err
	}
	readings, err := b.h.Endpoints.Read(ctx, of, nil)
	if err != nil {
		return err
	}
	var moves []move
	for _, i := range found.Items {
		if m, ok := ending(i, readings[endpointOf(i)], b.h.Now()); ok {
			moves = append(moves, m)
		}
	}
	if len(moves) > 0 && b.out.carry(ctx, moves) == 0 {
		return errRefused
	}
	return nil
}

// ending is the move of an item whose life is over; there is none for one that was changed meanwhile, or
// whose endpoint's circuit could not be read.
func ending(i backlog.Item, r dynamo.Reading, now time.Time) (m move, ok bool) {
	facts := factsOf(r)
	switch {
	case !i.Held, i.DueAt.After(now):
		return m, false
	case facts.Gone:
		return discarded(i, delivery.ReasonEndpointDeleted), true
	case i.Message.Life.StartedAt.Before(facts.DiscardedBefore):
		return discarded(i, delivery.ReasonDiscarded), true
	case facts.Stopped && r.Endpoint.Status == endpoint.Disabled:
		return dead(i, delivery.ReasonEndpointDisabled), true
	case facts.Stopped:
		return dead(i, delivery.ReasonEndpointPaused), true
	case !r.CircuitRead:
		return m, false
	case r.Circuit.State == circuit.Open:
		return dead(i, delivery.ReasonCircuitOpen), true
	}
	return move{kind: kindDue, item: i}, true
}
