package release

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// Ends removes leases, circuits and numbers of tenants that a table need no longer keep (dynamo.Circuits).
type Ends interface {
	Clear(ctx context.Context, i circuit.Item) (applied bool, err error)
	Remove(ctx context.Context, i circuit.Item) (applied bool, err error)
	ForgetSlow(ctx context.Context, tenantID string, until time.Time) error
}

// conclusions are the writes that end a run: results of searches, and notices to owners.
type conclusions struct {
	circuits circuitWriter
	ends     Ends
	owners   teller
	settings circuit.Settings
	now      func() time.Time
}

// forgetAfter is how long the number of a tenant is kept that is slow no more.
const forgetAfter = 24 * time.Hour

// conclude stores the results of searches, removes tenants' numbers that have long passed, and then puts pending
// notices on the bus: an owner's notices keep back no result.
func (c conclusions) conclude(
	ctx context.Context, all []trouble, searches []*search, slowUntil map[string]time.Time,
) counts {
	// Of an endpoint that needed no search, everything is seen.
	found := make(map[dynamo.EndpointKey]finding, len(all))
	for _, t := range all {
		found[t.key] = finding{empty: true}
	}
	for _, s := range searches {
		found[s.key] = s.finding
	}
	var passed []string
	for tenantID, until := range slowUntil {
		if c.now().Sub(until) >= forgetAfter {
			passed = append(passed, tenantID)
		}
	}
	return inSteps(
		step{"storing the result of a search", len(all), func(n int) (counts, error) {
			return counts{}, c.storeResult(ctx, all[n], found[all[n].key])
		}},
		step{"forgetting a slow tenant", len(passed), func(n int) (counts, error) {
			return counts{}, c.ends.ForgetSlow(ctx, passed[n], slowUntil[passed[n]])
		}},
		step{"telling owners", len(all), func(n int) (counts, error) {
			return c.owners.tell(ctx, all[n])
		}},
	)
}

// storeResult stores the result of one search. A search that had no time to end has no result but the pace of its
// recovery.
func (c conclusions) storeResult(ctx context.Context, t trouble, f finding) error {
	now := c.now()
	switch {
	case f.empty:
		return c.finish(ctx, t, f.began)
	case f.held:
		// Something waits for an endpoint that may take it: a recovery begins.
		return c.circuits.change(ctx, t.plan.Item, func(i circuit.Item) (circuit.Item, bool) {
			return i.Found(c.settings, t.facts, now)
		})
	case f.rated && t.plan.Item.State == circuit.Recovering:
		// The oldest that is left waits for its rate alone: the recovery is over.
		return c.close(ctx, t.plan.Item)
	case f.quota > 0 && !f.oldest.IsZero():
		// The recovery, or the pace of a limit, goes on in the next run from where it is.
		return c.circuits.change(ctx, t.plan.Item, func(i circuit.Item) (circuit.Item, bool) {
			return i.Paced(f.quota, f.oldest, c.now()), i.State == circuit.Recovering || i.Paces(t.facts)
		})
	}
	return nil
}

// finish carries out the write that ends a run for an endpoint with nothing held. searched is the moment before the
// first read of its shards.
func (c conclusions) finish(ctx context.Context, t trouble, searched time.Time) (err error) {
	was := t.plan.Item
	switch was.Empty(c.settings, t.facts, searched, c.now()) {
	case circuit.Keep:
	case circuit.Close:
		err = c.close(ctx, was)
	case circuit.Unpace:
		err = c.circuits.change(ctx, was, func(i circuit.Item) (circuit.Item, bool) {
			return i.Unpaced(c.now()), i.Pacing()
		})
	case circuit.Clear:
		_, err = c.ends.Clear(ctx, was)
	case circuit.Remove:
		_, err = c.ends.Remove(ctx, was)
	}
	return err
}

// close stores the state none. An attempt that has failed since may have opened the circuit again. That is kept.
func (c conclusions) close(ctx context.Context, was circuit.Item) error {
	return c.circuits.change(ctx, was, func(i circuit.Item) (circuit.Item, bool) {
		return i.Closed(c.now()), i.State == was.State
	})
}
