package dynamo

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/endpoint"
)

// Endpoints keeps the tenants' endpoints. Every read is strongly consistent: a change holds
// for everything that starts after it was answered. Owners' attributes and operators' marks share a row, and
// no write of the ones touches the others: every write is an UpdateItem, or the removal of a row without marks.
//
// An endpoint has its id as its key. When it is deleted without marks it moves to a key of its own, where
// fanout does not meet it; with marks it stays, so that they hold again after it was restored.
type Endpoints struct {
	table
	fields string            // of Get and List; "": all
	names  map[string]string // placeholders in fields
	kept   time.Duration     // how long deleted endpoints are; 0: for ever
}

// NewEndpoints returns the store on a table.
func NewEndpoints(client *dynamodb.Client, name string) *Endpoints {
	return &Endpoints{table: table{client, name}}
}

// KeepDeleted returns the store whose deleted endpoints expire after so long; 0: never.
func (s *Endpoints) KeepDeleted(life time.Duration) *Endpoints {
	with := *s
	with.kept = life
	return &with
}

// statusAttributes decide about an endpoint; shownAttributes may be seen by operators, too. status and
// url are words of DynamoDB's own.
const (
	statusAttributes = "tenant_id, endpoint_id, #status, created_at, updated_at, deleted_at, secret_rotated_at, " +
		markAttributes
	shownAttributes = statusAttributes + ", #url, description, events"
	markAttributes  = "paused_at, paused_by, pause_reason, resumed_at, discarded_before, released_at"
)

// WithoutSecrets returns the store whose Get and List ask for nothing that is sealed, as the roles
// of functions for operators demand. What it returns cannot be written back.
func (s *Endpoints) WithoutSecrets() *Endpoints {
	with := *s
	with.fields, with.names = shownAttributes, map[string]string{"#status": "status", "#url": "url"}
	return &with
}

// StatusOnly returns the store whose Get and List ask for what decides about an endpoint: neither its URL
// nor what is sealed. What it returns cannot be written back.
func (s *Endpoints) StatusOnly() *Endpoints {
	with := *s
	with.fields, with.names = statusAttributes, map[string]string{"#status": "status"}
	return &with
}

// EndpointKey names one endpoint, or with StopsKey the row of the tenant's marks.
type EndpointKey struct{ TenantID, EndpointID string }

const (
	// StopsKey is the sort key of the row that bears a tenant's marks. No endpoint id starts with '#'.
	StopsKey = "#stops"
	// countsKey is the sort key of the row that counts a tenant's live endpoints.
	countsKey     = "#counts"
	deletedPrefix = "deleted#"
)

func (k EndpointKey) item() attributes {
	return attributes{"tenant_id": str(k.TenantID), "endpoint_id": str(k.EndpointID)}
}

// deleted is the key of a deleted endpoint without marks.
func (k EndpointKey) deleted() EndpointKey {
	return EndpointKey{k.TenantID, deletedPrefix + k.EndpointID}
}

// Get returns one endpoint of the tenant, whatever its status.
func (s *Endpoints) Get(ctx context.Context, tenantID, endpointID string) (e endpoint.Endpoint, found bool, err error) {
	_, e, found, err = s.find(ctx, EndpointKey{tenantID, endpointID})
	return e, found, err
}

// find returns an endpoint and the key that it has. It looks at the first key again, since the endpoint
// may be restored between the reads.
func (s *Endpoints) find(
	ctx context.Context, live EndpointKey,
) (key EndpointKey, e endpoint.Endpoint, found bool, err error) {
	for _, key := range []EndpointKey{live, live.deleted(), live} {
		row, err := s.getFields(ctx, key.item(), s.fields, s.names)
		if err != nil {
			return key, e, false, err
		}
		if len(row) > 0 {
			e, err = endpointOf(row)
			return key, e, err == nil, err
		}
	}
	return live, e, false, nil
}

// Subscriptions returns the ids and events of the tenant's active endpoints.
func (s *Endpoints) Subscriptions(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	all, err := s.all(ctx, query{
		condition: "tenant_id = :tenant AND begins_with(endpoint_id, :prefix)",
		values:    attributes{":tenant": str(tenantID), ":prefix": str(endpoint.IDPrefix)},
		fields:    "tenant_id, endpoint_id, #status, events", names: map[string]string{"#status": "status"},
	})
	return slices.DeleteFunc(all, func(e endpoint.Endpoint) bool { return e.Status != endpoint.Active }), err
}

// List returns all of the tenant's endpoints, oldest first, deleted ones included.
func (s *Endpoints) List(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	return s.all(ctx, query{
		condition: "tenant_id = :tenant AND endpoint_id > :stops", // counts sort before
		values:    attributes{":tenant": str(tenantID), ":stops": str(StopsKey)}, fields: s.fields, names: s.names,
	})
}

func (s *Endpoints) all(ctx context.Context, q query) (found []endpoint.Endpoint, err error) {
	for {
		rows, last, err := s.query(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			e, err := endpointOf(row)
			if err != nil {
				return nil, err
			}
			found = append(found, e)
		}
		if q.start = last; len(last) == 0 {
			break
		}
	}
	slices.SortFunc(found, func(a, b endpoint.Endpoint) int { return cmp.Compare(a.ID, b.ID) })
	return found, nil
}

// endpointOf reads a row under either key.
func endpointOf(row attributes) (e endpoint.Endpoint, err error) {
	if err := unmarshal(row, &e); err != nil {
		return endpoint.Endpoint{}, err
	}
	e.ID = strings.TrimPrefix(e.ID, deletedPrefix)
	e.Marks, err = marksOf(row)
	return e, err
}

func marksOf(row attributes) (m endpoint.Marks, err error) {
	err = unmarshal(row, &m)
	return m, err
}
