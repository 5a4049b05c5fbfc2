package dynamo

import (
	"context"
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/circuit"
)

// listedIndex lists endpoints in trouble and tenants that became slow, apart from each other, for operators. Its
// keys never change: it is written when an item is made or removed, and not with each failure.
const listedIndex = "listed"

// The values of its hash key.
const (
	listedEndpoint = "endpoint"
	listedSlow     = "slow"
)

// Trouble names endpoints that have a circuit, in the order of their ids, at most limit of them. It is a little
// behind; next is "" after the last page.
func (c *Circuits) Trouble(ctx context.Context, limit int, cursor string) (keys []EndpointKey, next string, err error) {
	items, next, err := c.list(ctx, listed(listedEndpoint, limit), cursor)
	for _, item := range items {
		if id, ok := scoped(item, endpointScope); ok {
			keys = append(keys, EndpointKey{getStr(item, "tenant_id"), id})
		}
	}
	return keys, next, err
}

// Slow returns the moments slow_until of at most limit tenants that became slow; more says that there are others. It
// is a little behind, and a moment may have passed.
func (c *Circuits) Slow(ctx context.Context, limit int) (slow map[string]time.Time, more bool, err error) {
	items, last, err := c.query(ctx, listed(listedSlow, limit))
	if err != nil {
		return nil, false, err
	}
	var ids []string
	for _, item := range items {
		if id, ok := scoped(item, tenantScope); ok {
			ids = append(ids, id)
		}
	}
	slow, err = c.SlowUntil(ctx, ids)
	return slow, len(last) > 0, err
}

func listed(what string, limit int) query {
	return query{
		index: listedIndex, condition: "listed = :listed", values: given{":listed": what}, limit: limit,
	}
}

var errScope = errors.New("an item of neither an endpoint nor a tenant")

// All returns the circuits that are stored and, by tenant, the moments slow_until, in no order, strongly
// consistent. An item that cannot be read is an error beside all the others.
func (c *Circuits) All(ctx context.Context) (items []circuit.Item, slow map[string]time.Time, err error) {
	slow = map[string]time.Time{}
	var unreadable error
	for q, more := (query{scan: true}), true; more; more = len(q.start) > 0 {
		var found []attributes
		if found, q.start, err = c.query(ctx, q); err != nil {
			return nil, nil, err
		}
		for _, item := range found {
			if id, ok := scoped(item, tenantScope); ok {
				slow[id] = slowUntil(item)
				continue
			}
			id, ok := scoped(item, endpointScope)
			i, err := circuitOf(item, id)
			if !ok {
				err = errScope
			}
			if err != nil {
				unreadable = c.wrap(err)
				continue
			}
			items = append(items, i)
		}
	}
	return items, slow, unreadable
}
