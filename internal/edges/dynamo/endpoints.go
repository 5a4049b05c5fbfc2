package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Endpoints keeps the tenants' endpoints, and the operators' marks on them. Every read is strongly consistent: a change
// holds for everything that starts after the change was answered.
//
// A tenant's partition has its live endpoints by their ids. It also has rows that fanout neither reads nor pays for:
// deleted#ID, a deleted endpoint with its expires_at; #about#ID, the contact and metadata of one; and #counts, how
// many endpoints are live and how many URLs were set, so that two that are set at once are checked one after the
// other. The partition marks#TENANT has the operators' marks, which webhooks cannot write. The index by-endpoint has
// each id with its public keys.
//
// The attribute about says whether an endpoint has a row of contact and metadata (y, n). An older version drops the
// attribute from what it writes, and the row is looked for.
type Endpoints struct {
	table

	// fields are the attributes that Get and List ask for.
	fields Fields

	// kept is the time for which deleted endpoints are kept; 0 keeps them for ever.
	kept time.Duration

	// most is how many live endpoints a tenant may have.
	most int
}

// NewEndpoints returns the store on a table.
func NewEndpoints(client *dynamodb.Client, name string) *Endpoints {
	return &Endpoints{table: table{client, name}, most: endpoint.MaxLive}
}

// KeepDeleted returns the store with another life for deleted endpoints. With a life of 0 they never expire.
func (s *Endpoints) KeepDeleted(life time.Duration) *Endpoints {
	with := *s
	with.kept = life
	return &with
}

// Most returns the store with another bound of a tenant's live endpoints than [endpoint.MaxLive]. A lower one leaves
// those that there are.
func (s *Endpoints) Most(live int) *Endpoints {
	with := *s
	with.most = live
	return &with
}

// Fields are the attributes of endpoints that are asked for, "" all: most functions' roles allow nothing sealed. An
// endpoint that was read in part cannot be written back.
type Fields string

// Keys tell which endpoints there are, and which are deleted. Deciding are also the fields that decide about an
// endpoint, Named also those by which its owner knows it, and Shown also where its tokens come from: all that operators
// may see.
const (
	Keys     Fields = "tenant_id, endpoint_id"
	Deciding        = Keys + ", #status, events, created_at, updated_at, deleted_at, secret_rotated_at, rate_limit, " +
		"site, sited_at"
	Named = Deciding + ", #url, description, previous_until"
	Shown = Named + ", oauth2"
)

// Only returns the store with these fields for Get and List.
func (s *Endpoints) Only(fields Fields) *Endpoints {
	with := *s
	with.fields = fields
	return &with
}

// EndpointKey names one endpoint.
type EndpointKey struct{ TenantID, EndpointID string }

const (
	// countsKey is the sort key of the row that counts a tenant's live endpoints.
	countsKey = "#counts"

	deletedPrefix = "deleted#"

	// allOfTenant selects all rows of a tenant behind the row of the counts: no endpoint's key begins with '#'.
	allOfTenant = "tenant_id = :tenant AND endpoint_id > :counts"
)

func (k EndpointKey) item() attributes {
	return attributes{"tenant_id": str(k.TenantID), "endpoint_id": str(k.EndpointID)}
}

// deleted is the key of the endpoint while it is deleted.
func (k EndpointKey) deleted() EndpointKey {
	return EndpointKey{k.TenantID, deletedPrefix + k.EndpointID}
}

// ofTenant has the values of allOfTenant.
func ofTenant(tenantID string) given {
	return given{":tenant": tenantID, ":counts": countsKey}
}

// Get returns one endpoint of the tenant, in any status. It reads the key of a live endpoint twice, since the endpoint
// may be restored between the reads.
func (s *Endpoints) Get(ctx context.Context, tenantID, endpointID string) (e endpoint.Endpoint, found bool, err error) {
	live := EndpointKey{tenantID, endpointID}
	for _, key := range []EndpointKey{live, live.deleted(), live} {
		row, err := s.getItem(ctx, key.item(), string(s.fields))
		if err != nil {
			return e, false, err
		}
		if len(row) > 0 {
			e, err = endpointOf(row)
			return e, err == nil, err
		}
	}
	return e, false, nil
}

// Subscriptions returns the ids and events of the tenant's active endpoints.
func (s *Endpoints) Subscriptions(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	all, err := s.under(ctx, tenantID, endpoint.IDPrefix, "tenant_id, endpoint_id, #status, events")
	return slices.DeleteFunc(all, func(e endpoint.Endpoint) bool { return e.Status != endpoint.Active }), err
}

// Live returns the tenant's endpoints that are not deleted, the oldest first. It treats unreadable rows as List does.
func (s *Endpoints) Live(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	return s.under(ctx, tenantID, endpoint.IDPrefix, string(s.fields))
}

// Deleted is Live for deleted endpoints.
func (s *Endpoints) Deleted(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	return s.under(ctx, tenantID, deletedPrefix, string(s.fields))
}

// List returns all endpoints of the tenant, the oldest first, deleted ones included. If a row is unreadable, List
// returns endpoint.ErrUnreadable together with the other endpoints.
func (s *Endpoints) List(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	return s.all(ctx, query{condition: allOfTenant, values: ofTenant(tenantID), fields: string(s.fields)})
}

// under returns fields of the tenant's live or deleted endpoints. The prefix of their keys tells these apart.
func (s *Endpoints) under(ctx context.Context, tenantID, prefix, fields string) ([]endpoint.Endpoint, error) {
	return s.all(ctx, query{
		condition: isTenant + " AND begins_with(endpoint_id, :prefix)",
		values:    given{":tenant": tenantID, ":prefix": prefix}, fields: fields,
	})
}

// all returns the endpoints that can be read, by id. The error names each that cannot, so that one bad row does not
// hide the others of its tenant.
func (s *Endpoints) all(ctx context.Context, q query) (found []endpoint.Endpoint, err error) {
	rows, err := s.queryAll(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		e, failed := endpointOf(row)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		found = append(found, e)
	}
	slices.SortFunc(found, func(a, b endpoint.Endpoint) int { return cmp.Compare(a.ID, b.ID) })
	return found, err
}

// byEndpoint is the index of everything in the table by endpoint_id, with public keys and nothing else.
const byEndpoint = "by-endpoint"

// Published returns the public keys of a live endpoint, and the time until which the one before is in use. It is a
// little behind. The id is that of the row's key: no attribute makes one endpoint's keys another's.
func (s *Endpoints) Published(ctx context.Context, endpointID string) (e endpoint.Endpoint, found bool, err error) {
	if !strings.HasPrefix(endpointID, endpoint.IDPrefix) { // a row of each tenant, such as its counts
		return e, false, nil
	}
	rows, err := s.queryAll(ctx, query{
		index: byEndpoint, condition: "endpoint_id = :endpoint", values: given{":endpoint": endpointID},
		fields: "tenant_id, endpoint_id, public_key, previous_key, previous_until",
	})
	if err != nil {
		return e, false, err
	}
	rows = slices.DeleteFunc(rows, func(row attributes) bool {
		return strings.HasPrefix(getStr(row, "tenant_id"), marksPartition) // a row that control may write is no endpoint
	})
	if len(rows) > 1 {
		return e, false, unreadable(fmt.Errorf("%d tenants have %s", len(rows), endpointID))
	}
	for _, row := range rows {
		e, err = endpointOf(row)
	}
	return e, len(rows) > 0 && err == nil, err
}

// endpointOf reads a row under either key.
func endpointOf(row attributes) (e endpoint.Endpoint, err error) {
	if err := unmarshal(row, &e); err != nil {
		return endpoint.Endpoint{}, unreadable(err)
	}
	id, deleted := strings.CutPrefix(e.ID, deletedPrefix)
	e.ID = id
	if deleted {
		// A read of keys has no status.
		e.Status = endpoint.Deleted
	}
	return e, nil
}

// unreadable marks the fault of a row, which stays, so that callers tell it from a fault of a call, which passes.
func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", endpoint.ErrUnreadable, err)
}
