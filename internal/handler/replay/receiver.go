package replay

import (
	"context"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/operator"
)

// receiver is the endpoint of dead letters. The zero receiver takes all of them.
type receiver struct {
	endpoint endpoint.Endpoint

	// Why the endpoint takes no delivery at all, "" when it takes some.
	closed string
}

// refusal says why the endpoint does not receive a delivery of the type, "" when it does. The type is the body's: the
// seal binds it to the record.
func (r receiver) refusal(eventType string) string {
	if r.closed == "" && r.endpoint.Unsubscribed(eventType) {
		return reasonUnsubscribed
	}
	return r.closed
}

// endpointOf is the key of a dead letter's endpoint.
func endpointOf(d deadletter.Record) dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: d.TenantID, EndpointID: d.EndpointID}
}

// readReceiver reads an endpoint as the receiver of dead letters.
func readReceiver(ctx context.Context, endpoints Endpoints, key dynamo.EndpointKey) (receiver, error) {
	e, found, err := endpoints.Get(ctx, key.TenantID, key.EndpointID)
	if operator.Unreadable(err) {
		return receiver{closed: reasonEndpointUnreadable}, nil
	}
	if err != nil {
		return receiver{}, err
	}
	r := receiver{endpoint: e}
	switch {
	case !found || e.Status == endpoint.Deleted:
		r.closed = reasonEndpointDeleted
	case e.Status != endpoint.Active:
		r.closed = reasonEndpointDisabled
	}
	return r, nil
}
