package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/parallel"
)

// ErasedTables names the tables that keep something of a tenant.
type ErasedTables struct {
	APIKeys, Endpoints, EndpointHealth, Backlog, Deliveries, DeadLetters, Jobs string
}

// Erasure finds and deletes everything that the tables hold of a tenant, kind by kind. Tables without an index by
// tenant are scanned, in parts at once: that is slow, but an erasure is rare, and indexes cost with every write. Scans
// are a moment behind, which halves their price. An item so young may have been written behind them as well.
type Erasure struct{ kinds []erased }

// erased is a kind of items, the query for a tenant's, and the deletion of an item's parts.
type erased struct {
	name string
	table
	query
	of    func(tenantID string) given // the values of the query
	key   string                      // of the items
	parts func(t table, ctx context.Context, item attributes) error
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
	scan, selected := query{scan: true, behind: true, filter: isTenant}, query{scan: true, behind: true}
	selected.filter = "#selector." + isTenant
	const row, health, delivery = "tenant_id, endpoint_id", "#scope, #name", "delivery_id"
	return &Erasure{[]erased{
		{"api_keys", at(t.APIKeys), byTenant, tenant, "key_id", nil},
		{"endpoints", at(t.Endpoints), live, ofTenant, row, nil},
		{"endpoint_counts", at(t.Endpoints), counts, ofTenant, row, nil},
		{"marks", at(t.Endpoints), query{condition: isTenant}, marks, row, nil},
		{"health", at(t.EndpointHealth), scan, tenant, health, nil},
		{"backlog", at(t.Backlog), scan, tenant, "endpoint_shard, #position", nil},
		{"deliveries", at(t.Deliveries), scan, tenant, delivery, nil},
		{"dead_letters", at(t.DeadLetters), byTenant, tenant, delivery, nil},
		{"jobs", at(t.Jobs), selected, tenant, "job_id, part", table.deletePages},
	}}
}

const isTenant = "tenant_id = :tenant"

// erasedAtOnce bounds a page that an index has found.
const erasedAtOnce = 500

// Page counts the items on a page of one kind and, unless it is a dry run, deletes them. place is "" for the first
// page, and next the place of the one after it, "" after the last page of the last kind. An item that is gone is no
// error, so that a page may be asked for again.
func (e *Erasure) Page(
	ctx context.Context, tenantID, place string, dryRun bool,
) (kind string, count int, next string, err error) {
	kind, start, _ := strings.Cut(cmp.Or(place, e.kinds[0].name), " ")
	n := slices.IndexFunc(e.kinds, func(k erased) bool { return k.name == kind })
	if n < 0 {
		return "", 0, "", ErrCursor // of another release
	}
	items, rest, err := e.kinds[n].page(ctx, tenantID, start)
	if err == nil && !dryRun {
		err = errors.Join(parallel.Each(len(items), deletesAtOnce, func(i int) error {
			return e.kinds[n].delete(ctx, items[i])
		})...)
	}
	if err != nil {
		return "", 0, "", fmt.Errorf("erasing %s: %w", kind, err)
	}
	switch {
	case rest != "":
		next = kind + " " + rest
	case n+1 < len(e.kinds):
		next = e.kinds[n+1].name + " "
	}
	return kind, len(items), next, nil
}

// page returns the keys of some items, and the place in the kind where the next page begins, "" after the last.
func (k erased) page(ctx context.Context, tenantID, place string) (items []attributes, next string, err error) {
	q := k.query
	q.fields, q.values = k.key, k.of(tenantID)
	if !q.scan {
		return k.list(ctx, q, place)
	}
	from, err := parseSegments(place)
	if err != nil {
		return nil, "", err
	}
	items, left, err := k.scanPage(ctx, q, from)
	return items, left.String(), err
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
