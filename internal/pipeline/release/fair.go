package release

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
)

// work is one kind of work. It goes on until the time given or until nothing is left, and returns its counts and
// whether something is left.
type work func(ctx context.Context, until time.Time) (did counts, left bool)

// share gives each kind of work an equal part of the time until then, and notes the counts of each part. Time that one
// kind does not use is shared again among the unfinished ones.
func share(ctx context.Context, now func() time.Time, until time.Time, note func(counts), kinds ...work) {
	for len(kinds) > 0 && now().Before(until) {
		var unfinished []work
		for n, kind := range kinds {
			part := until.Sub(now()) / time.Duration(len(kinds)-n)
			did, left := kind(ctx, now().Add(part))
			note(did)
			if left {
				unfinished = append(unfinished, kind)
			}
		}
		kinds = unfinished
	}
}

// inTurn orders things so that tenants take turns, and the endpoints of each tenant take turns within them. The things
// of one endpoint keep their order.
func inTurn[T any](all []T, of func(T) dynamo.EndpointKey) []T {
	var tenants [][]T
	for _, ofTenant := range grouped(all, func(one T) string { return of(one).TenantID }) {
		tenants = append(tenants, merged(grouped(ofTenant, func(one T) string { return of(one).EndpointID })))
	}
	return merged(tenants)
}

// grouped returns a list for each name, in the order of their first items.
func grouped[T any](all []T, name func(T) string) [][]T {
	var groups [][]T
	index := map[string]int{}
	for _, one := range all {
		n, known := index[name(one)]
		if !known {
			n = len(groups)
			index[name(one)] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], one)
	}
	return groups
}

// merged takes the first of each list, then the second of each, and so on.
func merged[T any](lists [][]T) (all []T) {
	for n := 0; len(lists) > 0; n++ {
		var longer [][]T
		for _, list := range lists {
			if n < len(list) {
				all = append(all, list[n])
				longer = append(longer, list)
			}
		}
		lists = longer
	}
	return all
}
