package inspect

import (
	"context"
	"errors"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
)

// maxDueShard is how many items a count of everything reads in each part of Backlog's index.
const maxDueShard = 1000

// fewCounted are endpoints that are cheaper counted one by one than together.
const fewCounted = 2

// waitingCounter counts waiting deliveries, in Backlog and up to a bound.
type waitingCounter struct{ backlog Backlog }

// total counts the deliveries of all endpoints.
func (c waitingCounter) total(ctx context.Context) (dynamo.Total, error) {
	return c.backlog.Total(ctx, maxDueShard)
}

// of counts each endpoint's waiting deliveries: together while the index has all, otherwise one by one.
func (c waitingCounter) of(ctx context.Context, found []invoke.Found) (map[string]dynamo.Waiting, error) {
	// One read of the index tells of all endpoints, as long as it reaches its end.
	if len(found) > fewCounted {
		total, err := c.total(ctx)
		if err != nil || !total.More {
			return total.By, err
		}
	}
	counted := make([]dynamo.Waiting, len(found))
	errs := parallel.Each(len(found), sideBySide, func(n int) (err error) {
		counted[n], err = c.backlog.Count(ctx, found[n].Endpoint.ID)
		return err
	})
	waiting := make(map[string]dynamo.Waiting, len(found))
	for n, f := range found {
		waiting[f.Endpoint.ID] = counted[n]
	}
	return waiting, errors.Join(errs...)
}
