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

// burials end deliveries whose schedule is used up, because DeadLetterQueue refused them before, and deliveries held
// to the end of their lives: as dead letters where the endpoint still cannot take them. All others are sent like due
// ones.
type burials struct {
	h   *Handler
	t   *tally
	out *outlet
	due *due // brings more of them

	mu    sync.Mutex
	ended []dynamo.Due // to be read again: bodies would be too much to keep
}

// maxEnded bounds the keys in memory. The rest is found again by the next run.
const maxEnded = 50_000

func (b *burials) add(i backlog.Item) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ended) < maxEnded {
		b.ended = append(b.ended, dynamo.Due{Key: i.Key, TenantID: i.Message.TenantID})
	}
}

func endpointOf(i backlog.Item) dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: i.Message.TenantID, EndpointID: i.EndpointID}
}

func (b *burials) bury(ctx context.Context, until time.Time) (left bool) {
	b.ended = inTurn(b.ended, ownerOf)
	stuck := false // nothing of a page of the last turn could be deleted
	for len(b.ended) > 0 && b.h.Now().Before(until) {
		turn := b.ended[:min(len(b.ended), lanes*sizeOf(stuck))]
		b.ended = b.ended[len(turn):]
		pages := slices.Collect(slices.Chunk(turn, sizeOf(stuck)))
		stays := make([]bool, len(pages))
		errs := b.t.each(ctx, "burying", len(pages), func(n int) (err error) {
			stays[n], err = b.page(ctx, pages[n])
			return err
		})
		if !slices.Contains(errs, nil) {
			b.ended = nil // for the next run
		}
		stuck = slices.Contains(stays, true)
	}
	return len(b.ended) > 0 || b.due.left()
}

var errRefused = errors.New("nothing of a page was taken")

// page buries a page of items. stuck says that nothing of it could be deleted.
func (b *burials) page(ctx context.Context, page []dynamo.Due) (stuck bool, err error) {
	stuck, refused, err := b.out.page(ctx, page, false, func(found dynamo.Page) (moves []move, err error) {
		var of []dynamo.EndpointKey
		for _, i := range found.Items {
			if key := endpointOf(i); !slices.Contains(of, key) {
				of = append(of, key)
			}
		}
		readings, err := b.h.Endpoints.Read(ctx, of, nil)
		if err != nil {
			return nil, err
		}
		for _, i := range found.Items {
			if m, ok := b.ending(i, readings[endpointOf(i)]); ok {
				moves = append(moves, m)
			}
		}
		return moves, nil
	})
	if refused {
		err = errRefused
	}
	return stuck && err == nil, err
}

// ending is the move of an item whose delivery is over; there is none for one that was changed meanwhile,
// or whose endpoint or circuit could not be read.
func (b *burials) ending(i backlog.Item, r dynamo.Reading) (m move, ok bool) {
	facts, now := factsOf(r), b.h.Now()
	switch {
	case i.Message.Attempts >= b.h.Schedule.Last():
		return dead(i, i.Message.Life.Reason), true
	case !i.Held, i.DueAt.After(now), r.Err != nil:
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
