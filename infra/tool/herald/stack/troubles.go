package stack

import (
	"context"
	"errors"
	"slices"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// Troubles are an endpoint's deliveries that wait, and its dead letters: the first of both.
type Troubles struct {
	Open api.DeliveryList
	Dead api.List[api.DeadLetter]

	older bool // a dead letter behind those can be replayed
}

// CanReplay reports whether a dead letter is there to be replayed.
func (t Troubles) CanReplay() bool {
	return t.older ||
		slices.ContainsFunc(t.Dead.Data, func(l api.DeadLetter) bool { return l.Status != deadletter.Replayed })
}

// few is how many of each are shown beside the endpoint.
var few = api.Page{Limit: new(20)}

// ReadTroubles reads an endpoint's troubles. With an error, it returns what was answered before.
func ReadTroubles(ctx context.Context, functions Functions, of api.EndpointRequest) (its Troubles, err error) {
	letters := api.DeadLettersRequest{
		Page: few, Selector: api.Selector{EndpointID: of.EndpointID, TenantID: of.TenantID},
	}
	died, err := Ask(ctx, functions, api.ListDeadLetters, letters)
	if err != nil {
		return its, err
	}
	its.Dead = died.Fields
	if its.Dead.NextCursor != nil && !its.CanReplay() { // the latest were replayed, which older ones may not be
		letters.Status = string(deadletter.Dead)
		older, err := Ask(ctx, functions, api.ListDeadLetters, letters)
		if err != nil {
			return its, err
		}
		its.older = len(older.Fields.Data) > 0
	}
	waiting, err := Ask(ctx, functions, api.ListDeliveries,
		api.DeliveriesRequest{Page: few, EndpointID: of.EndpointID, TenantID: of.TenantID})
	its.Open = waiting.Fields
	return its, err
}

// EndpointOf is the endpoint of a delivery or of a selection. It is nil where nothing names one, and where it cannot be
// read: what it belongs to is shown without it.
func EndpointOf(ctx context.Context, functions Functions, tenantID, endpointID string) (*api.Endpoint, error) {
	if endpointID == "" {
		return nil, nil
	}
	answer, err := Ask(ctx, functions, api.GetEndpoint, api.EndpointRequest{EndpointID: endpointID, TenantID: tenantID})
	if _, refused := errors.AsType[*api.Refusal](err); refused {
		return nil, nil
	}
	return &answer.Fields, err
}
