package dynamo

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/parallel"
)

// ErasedTables names the tables that keep something of a tenant.
type ErasedTables struct {
	APIKeys, Endpoints, EndpointHealth, Backlog, Deliveries, DeadLetters, Jobs string
}

// Erasure finds and deletes everything that the tables hold of a tenant, kind by kind. Tables without an index by
// tenant are scanned: that is slow, but an erasure is rare, and indexes cost with every write.
type Erasure struct{ kinds []erased }

// erased is a kind of items, the query for a tenant's, and the deletion of an item's parts.
type erased struct {
	name string
	table
	query
	of     func(tenantID string) given // the values of the query
	key    []string                    // of the items
	cursor []string                    // the attributes of a key at which a page ends
	parts  func(t table, ctx context.Context, item attributes) error
}

// NewErasure returns the erasure of the tables. API keys go first, so that nothing new is made with them, endpoints
// next, so that deliveries in progress end by themselves.
func NewErasure(client *dynamodb.Client, t ErasedTables) *Erasure {
	at := func(name string) table { return table{client, name} }
	tenant := func(id string) given { return given{":tenant": id} }
	marks := func(id string) given { return tenant(marksPartition + id) }
	byTenant := query{index: "by-tenant", condition: isTenant, limit: erasedAtOnce}
	live := query{condition: allOfTenant, limit: erasedAtOnce}
	counts := query{condition: isTenant + " AND endpoint_id = :counts"}
	scan, selected := query{filter: isTenant}, query{filter: "#selector." + isTenant}
	row, item, part := []string{"tenant_id", "endpoint_id"}, []string{"scope", "name"}, []string{"job_id", "part"}
	place, id := []string{"endpoint_shard", "position"}, []string{"delivery_id"}
	return &Erasure{[]erased{
		{"api_keys", at(t.APIKeys), byTenant, tenant, []string{"key_id"}, []string{"tenant_id", "key_id"}, nil},
		{"endpoints", at(t.Endpoints), live, ofTenant, row, row, nil},
		{"endpoint_counts", at(t.Endpoints), counts, ofTenant, row, row, nil},
		{"marks", at(t.Endpoints), query{condition: isTenant}, marks, row, row, nil},
		{"health", at(t.EndpointHealth), scan, tenant, item, item, nil},
		{"backlog", at(t.Backlog), scan, tenant, place, place, nil},
		{"deliveries", at(t.Deliveries), scan, tenant, id, id, nil},
		{"dead_letters", at(t.DeadLetters), byTenant, tenant, id, []string{"tenant_id", "died_at", "delivery_id"}, nil},
		{"jobs", at(t.Jobs), selected, tenant, part, part, table.deletePages},
	}}
}

const isTenant = "tenant_id = :tenant"

// erasedAtOnce bounds a page that an index has found.
const erasedAtOnce = 500

// Kinds are the names of the kinds, in the order in which they have to be erased.
func (e *Erasure) Kinds() []string {
	names := make([]string, len(e.kinds))
	for n, k := range e.kinds {
		names[n] = k.name
	}
	return names
}

var errKind = errors.New("no such kind of items")

// Page counts the items on a page of a kind and, unless it is a dry run, deletes them. next is "" after the last page.
// An item that is gone is no error, so that a page may be asked for again.
func (e *Erasure) Page(
	ctx context.Context, kind, tenantID, cursor string, dryRun bool,
) (count int, next string, err error) {
	n := slices.IndexFunc(e.kinds, func(k erased) bool { return k.name == kind })
	if n < 0 {
		return 0, "", errKind
	}
	k := e.kinds[n]
	items, last, err := k.page(ctx, tenantID, cursor)
	if err != nil || dryRun {
		return len(items), encodeCursor(last), err
	}
	errs := parallel.Each(len(items), deletesAtOnce, func(n int) error { return k.delete(ctx, items[n]) })
	return len(items), encodeCursor(last), errors.Join(errs...)
}

func (k erased) page(ctx context.Context, tenantID, cursor string) (items []attributes, last attributes, err error) {
	q := k.query
	q.fields, q.values = "#"+strings.Join(k.key, ", #"), k.of(tenantID)
	if q.start, err = decodeCursor(cursor, k.cursor...); err != nil {
		return nil, nil, err
	}
	if q.condition == "" {
		return k.scan(ctx, q)
	}
	return k.table.query(ctx, q)
}

// scan returns a page of the table's items that pass the filter, strongly consistent.
func (t table) scan(ctx context.Context, q query) (items []attributes, last attributes, err error) {
	out, err := t.client.Scan(ctx, &dynamodb.ScanInput{
		TableName: &t.name, FilterExpression: &q.filter, ProjectionExpression: &q.fields,
		ExpressionAttributeNames: names(q.filter, q.fields), ExpressionAttributeValues: q.values.encoded(),
		ConsistentRead: aws.Bool(true), ExclusiveStartKey: q.start,
	})
	if err != nil {
		return nil, nil, t.wrap(err)
	}
	return out.Items, out.LastEvaluatedKey, nil
}

// delete deletes an item, after the parts that are found through it alone.
func (k erased) delete(ctx context.Context, item attributes) error {
	if k.parts != nil {
		if err := k.parts(k.table, ctx, item); err != nil {
			return err
		}
	}
	_, err := k.deleteItem(ctx, item, write{})
	return err
}

// deletePages deletes the pages of a job's results.
func (t table) deletePages(ctx context.Context, job attributes) error {
	q := query{
		condition: "job_id = :id AND begins_with(part, :page)", fields: "job_id, part",
		values: given{":id": job["job_id"], ":page": pagePart},
	}
	pages, err := t.queryAll(ctx, q)
	if err != nil {
		return err
	}
	for _, page := range pages {
		if _, err := t.deleteItem(ctx, page, write{}); err != nil {
			return err
		}
	}
	return nil
}
