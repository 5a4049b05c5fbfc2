package release

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// Troubles lists the circuits of all endpoints in trouble, and until when tenants are slow (dynamo.Circuits).
type Troubles interface {
	All(ctx context.Context) (items []circuit.Item, slow map[string]time.Time, err error)
}

// inventory is the work as a run first finds it.
type inventory struct {
	// troubled are the circuits of all endpoints in trouble.
	troubled []circuit.Item
	// slowUntil is, by tenant, the time until which its endpoints are slow.
	slowUntil map[string]time.Time
	// ahead are the shards of the index by due time, each with its first page.
	ahead dueShards
	// blind tells that circuits could not be read, or no shard at all. Then nothing can be said about the work.
	blind bool
	did   counts
}

// takeInventory reads the endpoints in trouble and the first page of each shard of the index by due time, all at the
// same time. A run that finds nothing has made all its calls here.
func takeInventory(ctx context.Context, troubles Troubles, index Index, now, until time.Time) inventory {
	found := inventory{ahead: newDueShards()}
	errs := parallel.Each(backlog.DueShards+1, backlog.DueShards+1, func(n int) (err error) {
		if n < backlog.DueShards {
			found.ahead[n], err = found.ahead[n].read(ctx, index, now, until)
			return err
		}
		found.troubled, found.slowUntil, err = troubles.All(ctx)
		return err
	})
	// A run that sees some shards works on those. Without circuits it sends due deliveries, and says that it is blind.
	unread := 0
	for n, err := range errs[:backlog.DueShards] {
		if err != nil {
			found.ahead[n].ended = true
			unread++
		}
	}
	found.blind = errs[backlog.DueShards] != nil || unread == backlog.DueShards
	found.did = failed("looking for work", errs...)
	return found
}
