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

// erased is a kind of items, and the query for a tenant's.
type erased struct {
	name string
	table
	query
	key    []string // of the items
	cursor []string // the attributes of a key at which a page ends
}

// NewErasure returns the erasure of the tables. API keys go first, so that nothing new is made with them, endpoints
// next, so that deliveries in progress end by themselves.
func NewErasure(client *dynamodb.Client, t ErasedTables) *Erasure {
	at := func(name string) table { return table{client, name} }
	byTenant := query{index: "by-tenant", condition: "tenant_id = :tenant", limit: erasedAtOnce}
	scan := query{filter: "tenant_id = :tenant"}
	rows := []string{"tenant_id", "endpoint_id"}
	return &Erasure{[]erased{
		{"api_keys", at(t.APIKeys), byTenant, []string{"key_id"}, []string{"tenant_id", "key_id"}},
		{"endpoints", at(t.Endpoints), query{condition: allOfTenant, limit: erasedAtOnce}, rows, rows},
		{"endpoint_counts", at(t.Endpoints), query{condition: countsOfTenant}, rows, rows},
		{erasedMarks, at(t.Endpoints), query{condition: "tenant_id = :tenant"}, rows, rows},
		scanned("health", at(t.EndpointHealth), scan, "scope", "name"),
		scanned("backlog", at(t.Backlog), scan, "endpoint_shard", "position"),
		scanned("deliveries", at(t.Deliveries), scan, "delivery_id"),
		{
			"dead_letters", at(t.DeadLetters), byTenant, []string{"delivery_id"},
			[]string{"tenant_id", "died_at", "delivery_id"},
		},
		scanned(erasedJobs, at(t.Jobs), query{filter: "#selector.tenant_id = :tenant"}, "job_id", "part"),
	}}
}

func scanned(name string, t table, q query, key ...string) erased {
	return erased{name, t, q, key, key}
}

// The kinds that are found or deleted otherwise than the rest.
const (
	erasedMarks = "marks"
	erasedJobs  = "jobs"
)

const countsOfTenant = "tenant_id = :tenant AND endpoint_id = :counts"

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
	q.fields = "#" + strings.Join(k.key, ", #")
	q.values = attributes{":tenant": str(tenantID)}
	switch {
	case k.name == erasedMarks:
		q.values[":tenant"] = str(marksPartition + tenantID)
	case strings.Contains(q.condition, ":counts"):
		q.values[":counts"] = str(countsKey)
	}
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
		ExpressionAttributeNames: names(q.filter, q.fields), ExpressionAttributeValues: q.values,
		ConsistentRead: aws.Bool(true), ExclusiveStartKey: q.start,
	})
	if err != nil {
		return nil, nil, t.wrap(err)
	}
	return out.Items, out.LastEvaluatedKey, nil
}

// delete deletes an item; of a job, the pages of its results first, since the job alone names the tenant.
func (k erased) delete(ctx context.Context, item attributes) error {
	if k.name == erasedJobs {
		if err := k.deletePages(ctx, getStr(item, "job_id")); err != nil {
			return err
		}
	}
	_, _, err := k.deleteItem(ctx, item, write{})
	return err
}

func (k erased) deletePages(ctx context.Context, id string) error {
	q := query{
		condition: "job_id = :id AND begins_with(part, :page)", fields: "job_id, part",
		values: attributes{":id": str(id), ":page": str(pagePart)},
	}
	for {
		pages, last, err := k.table.query(ctx, q)
		if err != nil {
			return err
		}
		for _, page := range pages {
			if _, _, err := k.deleteItem(ctx, page, write{}); err != nil {
				return err
			}
		}
		if q.start = last; len(last) == 0 {
			return nil
		}
	}
}
