package model

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/rate"
	"github.com/herald-webhooks/herald/internal/testkit/storetest"
)

// ratesLike is a store of slots that breaks one promise.
type ratesLike struct {
	storetest.Rates
	m                                  *Model
	all, believes, shares, free, lists bool
	refuses                            bool
}

func (r ratesLike) Take(
	ctx context.Context, key dynamo.EndpointKey, a rate.Ask, now time.Time,
) (rate.Taken, error) {
	if r.refuses && now.Nanosecond()%1000 > 0 {
		return rate.Taken{}, errAWS
	}
	before := r.m.Rates[RateKey{key.EndpointID, a.Late}]
	switch {
	case r.believes && !a.Seen.IsZero():
		r.m.Rates[RateKey{key.EndpointID, a.Late}] = a.Seen
	case r.shares:
		key.EndpointID, a.Late = "webhook_1", false
	}
	taken, err := r.Rates.Take(ctx, key, a, now)
	switch {
	case r.free && err != nil:
		r.m.Rates[RateKey{key.EndpointID, a.Late}] = before
	case r.all:
		taken.Slots = a.Want
	case r.lists:
		r.m.Circuits[key.EndpointID] = circuit.Item{EndpointID: key.EndpointID}
	}
	return taken, err
}

func untaken(m *Model) { clear(m.Rates) }

func likeRates(r ratesLike) mutant {
	return func(b storetest.Backend, m *Model) storetest.Backend {
		r.m, r.Rates = m, b.Rates
		b.Rates = r
		return b
	}
}

var rateMutants = map[string]mutant{
	"slots of one moment add up":                                          behind(takeSlots, untaken),
	"as many slots are taken as there are, whatever the limit was before": likeRates(ratesLike{all: true}),
	"what the asker has seen decides nothing":                             likeRates(ratesLike{believes: true}),
	"clocks are finer than the moments that are stored":                   likeRates(ratesLike{refuses: true}),
	"endpoints share no slots, and neither do the late ones of one":       likeRates(ratesLike{shares: true}),
	"a lost answer gives no slot twice":                                   likeRates(ratesLike{free: true}),
	"slots are no trouble":                                                likeRates(ratesLike{lists: true}),
}
