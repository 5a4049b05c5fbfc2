package model

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/rate"
)

// Rates returns the store as the process calls it.
func (p *Process) Rates() Rates { return Rates{p} }

// Rates keeps the slots of endpoints with a limit (dynamo.Rates).
type Rates struct{ *Process }

// RateKey names one moment of an endpoint.
type RateKey struct {
	EndpointID string
	Late       bool
}

const takeSlots = "Take slots"

// Take takes as many slots as are wanted, or as there are.
func (r Rates) Take(ctx context.Context, key dynamo.EndpointKey, a rate.Ask, now time.Time) (rate.Taken, error) {
	m := r.model
	return asked(ctx, r.Process, takeSlots, key.EndpointID, func() rate.Taken {
		k := RateKey{key.EndpointID, a.Late}
		slots := a.Free(m.Rates[k], now)
		if slots == 0 {
			return rate.Taken{Until: m.Rates[k]}
		}
		m.Rates[k] = a.Take(m.Rates[k], now, slots).UTC().Truncate(time.Microsecond)
		return rate.Taken{Slots: slots, First: m.Rates[k].Add(-rate.Time(a.Limit, slots)), Until: m.Rates[k]}
	})
}
