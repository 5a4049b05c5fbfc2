package replay

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/operators/jobs"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// foreseePurge foresees a purge, which asks no endpoint.
func foreseePurge(r run) jobs.Forecast {
	return func(_ context.Context, letters []deadletter.Record) ([]string, error) {
		refusals := make([]string, len(letters))
		for i, d := range letters {
			refusals[i] = refusePurge(r, d)
		}
		return refusals, nil
	}
}

// foreseeReplay foresees a replay. Endpoints are kept from page to page: thousands of letters may have the same one.
func foreseeReplay(endpoints Endpoints, r run) jobs.Forecast {
	receivers := map[dynamo.EndpointKey]receiver{}
	return func(ctx context.Context, letters []deadletter.Record) ([]string, error) {
		found, err := newReceivers(ctx, endpoints, r, letters, receivers)
		if err != nil {
			return nil, err
		}
		maps.Copy(receivers, found)
		refusals := make([]string, len(letters))
		for i, d := range letters {
			refusals[i] = cmp.Or(refuseReplay(r, d), receivers[endpointOf(d)].refusal(d.EventType))
		}
		return refusals, nil
	}
}

// newReceivers reads the endpoints of dead letters that nothing else refuses, without those that are known. It reads
// each endpoint once, some at a time, until one cannot be read.
func newReceivers(
	ctx context.Context, endpoints Endpoints, r run, letters []deadletter.Record, known map[dynamo.EndpointKey]receiver,
) (map[dynamo.EndpointKey]receiver, error) {
	asked := map[dynamo.EndpointKey]bool{}
	for _, d := range letters {
		_, judged := known[endpointOf(d)]
		if !judged && refuseReplay(r, d) == "" {
			asked[endpointOf(d)] = true
		}
	}
	found := map[dynamo.EndpointKey]receiver{}
	keys := slices.Collect(maps.Keys(asked))
	for some := range slices.Chunk(keys, chunk) {
		read := make([]receiver, len(some))
		errs := parallel.Each(len(some), chunk, func(i int) (err error) {
			read[i], err = readReceiver(ctx, endpoints, some[i])
			return err
		})
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
		for i, key := range some {
			found[key] = read[i]
		}
	}
	return found, nil
}
