package release

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// maxEnded bounds the keys in memory, of a lane. The rest is found again by the next run.
const maxEnded = 50_000 / backlog.DueShards

// end notes a delivery that its lane has found to be over: its schedule is used up, because DeadLetterQueue refused it
// before, or it was held to the end of its life.
func (d *due) end(i backlog.Item, shard int) {
	if l := &d.over[shard]; len(l.keys) < maxEnded {
		l.keys = append(l.keys, dynamo.Due{Key: i.Key, TenantID: i.Message.TenantID, DueAt: i.DueAt})
	}
}

// bury ends deliveries that are over: as dead letters where the schedule is used up or the endpoint still cannot take
// them. All others are sent like due ones.
func (d *due) bury(ctx context.Context, until time.Time) bool {
	for n := range d.over {
		d.over[n].keys = inTurn(d.over[n].keys, ownerOf)
	}
	d.goOn(ctx, "burying", until, &d.over, d.endings)
	return left(d.over) || left(d.lanes)
}

// endings are the moves of items whose deliveries are over.
func (d *due) endings(ctx context.Context, _ int, found dynamo.Page) (moves []move, err error) {
	var of []dynamo.EndpointKey
	for _, i := range found.Items {
		if key := endpointOf(i); !slices.Contains(of, key) {
			of = append(of, key)
		}
	}
	readings, err := d.h.Endpoints.Read(ctx, of, nil)
	if err != nil {
		return nil, err
	}
	for _, i := range found.Items {
		reading := readings[endpointOf(i)]
		if m, ok := d.ending(i, reading); ok {
			moves = append(moves, m)
		} else if reading.Err != nil {
			d.t.fault(ctx, "burying", reading.Err)
			d.out.refuse(i.Key)
		}
	}
	return moves, nil
}

func endpointOf(i backlog.Item) dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: i.Message.TenantID, EndpointID: i.EndpointID}
}

// ending is the move of an item whose delivery is over; there is none for one that was changed meanwhile,
// or whose endpoint or circuit could not be read.
func (d *due) ending(i backlog.Item, r dynamo.Reading) (m move, ok bool) {
	now := d.h.Now()
	facts := factsOf(r, now)
	switch {
	case r.Err == nil && unsubscribed(i, r.Endpoint):
		return discarded(i, delivery.ReasonUnsubscribed), true
	case i.Message.Attempts >= d.h.Schedule.Last():
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
