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
	"github.com/herald-webhooks/herald/internal/retry"
)

// decision is a decision on the items of a page. An item that it does not name stays as it is.
type decision struct {
	transfers []transfer
	// left are items that could not be decided on. Their partitions are left alone.
	left []backlog.Key
	did  counts
}

// burials decide on deliveries that are over: the schedule is used up, or they were held for as long as a delivery
// lives. They become dead letters where the schedule is used up or the endpoint still cannot take them. All others are
// sent like due ones.
type burials struct {
	endpoints Endpoints
	schedule  retry.Schedule
	now       func() time.Time
}

// endings decides on a page of items, for which it reads their endpoints. An item of an endpoint that cannot be read is
// left to the next run.
func (b burials) endings(ctx context.Context, found dynamo.Page) (decided decision, err error) {
	var keys []dynamo.EndpointKey
	for _, i := range found.Items {
		if key := endpointOf(i); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	readings, err := b.endpoints.Read(ctx, keys, nil)
	if err != nil {
		return decided, err
	}
	for _, i := range found.Items {
		reading := readings[endpointOf(i)]
		end, ends := b.ending(i, reading)
		switch {
		case ends:
			decided.transfers = append(decided.transfers, end)
		case reading.Err != nil:
			decided.did = decided.did.plus(failed("burying", reading.Err))
			decided.left = append(decided.left, i.Key)
		}
	}
	return decided, nil
}

// endpointOf is the endpoint of an item, with the tenant that its message names.
func endpointOf(i backlog.Item) dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: i.Message.TenantID, EndpointID: i.EndpointID}
}

// ending is the transfer of one item. The order of the cases matters: an owner's order to discard is stronger than the
// end of a life, and the state of an endpoint is asked only where its row could be read. There is no transfer for an
// item that has changed since it was found, and none where endpoint or circuit could not be read.
func (b burials) ending(i backlog.Item, r dynamo.Reading) (end transfer, ends bool) {
	now := b.now()
	facts := factsOf(r, now)
	switch {
	case r.Err == nil && unsubscribed(i, r.Endpoint):
		return discarded(i, delivery.ReasonUnsubscribed), true
	case i.Message.Attempts >= b.schedule.Last():
		return dead(i, i.Message.Life.Reason), true
	case !i.Held, i.DueAt.After(now), r.Err != nil:
		return end, false
	case facts.Gone:
		return discarded(i, delivery.ReasonEndpointDeleted), true
	case i.Message.Life.StartedAt.Before(facts.DiscardedBefore):
		return discarded(i, delivery.ReasonDiscarded), true
	case facts.Stopped && r.Endpoint.Status == endpoint.Disabled:
		return dead(i, delivery.ReasonEndpointDisabled), true
	case facts.Stopped:
		return dead(i, delivery.ReasonEndpointPaused), true
	case !r.CircuitRead:
		return end, false
	case r.Circuit.State == circuit.Open:
		return dead(i, delivery.ReasonCircuitOpen), true
	}
	return transfer{kind: kindDue, item: i}, true
}
