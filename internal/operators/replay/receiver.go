package replay

import (
	"context"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// receiver is the endpoint of dead letters. The zero receiver takes all of them.
type receiver struct {
	// gate is without marks and circuit, which refuse nothing: a delivery waits for them with the others. It is nil where
	// the endpoint was not read.
	gate *endpoint.Gate

	// Why the endpoint was not read, "" where no letter asks for it.
	closed string
}

// refusal says why the endpoint does not receive a delivery of the type, "" when it does. The type is the body's: the
// seal binds it to the record. A replay begins a life, so the last life ends nothing.
func (r receiver) refusal(eventType string) string {
	if r.gate == nil {
		return r.closed
	}
	switch r.gate.Admits(endpoint.Delivery{EventType: []byte(eventType), Places: 1}) {
	case endpoint.Gone:
		return api.ReasonEndpointDeleted
	case endpoint.Unsubscribed:
		return api.ReasonUnsubscribed
	case endpoint.DisabledByOwner:
		return api.ReasonEndpointDisabled
	default:
		return ""
	}
}

// endpointOf is the key of a dead letter's endpoint.
func endpointOf(d deadletter.Record) dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: d.TenantID, EndpointID: d.EndpointID}
}

// readReceiver reads an endpoint as the receiver of dead letters.
func readReceiver(ctx context.Context, endpoints Endpoints, key dynamo.EndpointKey) (receiver, error) {
	e, found, err := endpoints.Get(ctx, key.TenantID, key.EndpointID)
	if invoke.Unreadable(err) {
		return receiver{closed: api.ReasonEndpointUnreadable}, nil
	}
	if err != nil {
		return receiver{}, err
	}
	return receiver{gate: &endpoint.Gate{Endpoint: e, Found: found}}, nil
}
