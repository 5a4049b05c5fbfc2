package release

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/retry"
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

// ending is the transfer of one item, by the answer of its endpoint's gate. There is none where the item's life still
// goes on, because it has changed since it was found, and none where endpoint or circuit could not be read.
func (b burials) ending(i backlog.Item, r dynamo.Reading) (end transfer, ends bool) {
	asked := endpoint.DeliveryOf(&i.Message, b.schedule)
	// An item that waited for its rate to the end of its life gets no last attempt: that would exceed the limit.
	asked.NoSlot = i.Waiting(b.schedule).Rated
	if r.Err != nil {
		// Nothing is known of the endpoint. A schedule that is used up ends by itself.
		return dead(i, i.Message.Life.Reason), asked.Over()
	}
	answer := r.Admits(asked)
	lives := !i.Held || i.DueAt.After(b.now())
	switch {
	case answer.Drops():
		return discarded(i, answer.Reason()), true
	case answer == endpoint.PlacesUsed:
		return dead(i, i.Message.Life.Reason), true
	case lives, answer == endpoint.Free && !r.CircuitRead:
		return end, false
	case answer == endpoint.Free:
		return transfer{kind: kindDue, item: i}, true
	}
	return dead(i, answer.Reason()), true
}
