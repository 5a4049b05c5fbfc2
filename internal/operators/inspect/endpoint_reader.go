package inspect

import (
	"context"
	"errors"
	"slices"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// errUnread fails a look: an endpoint without its circuit would be shown as healthy.
var errUnread = errors.New("the circuits of some endpoints could not be read")

// endpointReader reads many endpoints at a time, strongly consistent.
type endpointReader struct{ readings Readings }

// read reads endpoints with their tenants' marks and circuits. An endpoint without a row has nothing but names.
func (r endpointReader) read(ctx context.Context, keys []dynamo.EndpointKey) ([]invoke.Found, error) {
	readings, err := r.readings.Read(ctx, keys, nil)
	if err != nil {
		return nil, err
	}
	found := make([]invoke.Found, len(keys))
	for n, key := range keys {
		row := readings[key]
		switch {
		case row.Err != nil && !errors.Is(row.Err, endpoint.ErrUnreadable):
			return nil, row.Err
		case row.Err == nil && !row.CircuitRead:
			return nil, errUnread
		case row.Err != nil || !row.Found:
			row.Endpoint = endpoint.Endpoint{TenantID: key.TenantID, ID: key.EndpointID, Status: endpoint.Deleted}
		}
		found[n] = invoke.Found{
			Endpoint: row.Endpoint, Tenant: row.Tenant, Circuit: row.Circuit, Unreadable: row.Err != nil,
		}
	}
	return found, nil
}

// named reads endpoints, and has them by id. Keys without an id are left out.
func (r endpointReader) named(ctx context.Context, keys []dynamo.EndpointKey) (map[string]invoke.Found, error) {
	named := map[string]invoke.Found{}
	keys = slices.DeleteFunc(keys, func(k dynamo.EndpointKey) bool { return k.EndpointID == "" })
	found, err := r.read(ctx, keys)
	for _, f := range found {
		named[f.Endpoint.ID] = f
	}
	return named, err
}
