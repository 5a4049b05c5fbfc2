package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
)

// ErasedTables names the tables that keep something of a tenant.
type ErasedTables struct {
	APIKeys, Endpoints, EndpointHealth, Backlog, Deliveries, DeadLetters, Jobs string
}

// Erasure finds and deletes all items of a tenant, kind by kind. Tables without an index by tenant are scanned, several
// parts at once. A scan is slow, but erasures are rare, and an index would cost something with every write. The scans
// are eventually consistent, which halves their price. They may miss an item that was written moments ago. A consistent
// scan could miss such an item as well, if it was written to a part that the scan had passed.
type Erasure struct{ kinds []erased }

// erased is one kind of items.
type erased struct {
	name string
	table
	query

	// of returns the values of the query for a tenant.
	of func(tenantID string) given

	// key lists the attributes of an item's key.
	key string

	// parts deletes other items that are found through the item alone.
	parts func(t table, ctx context.Context, item attributes) error
}

// NewErasure returns the erasure of the tables. API keys go first, so that they make nothing new. Endpoints go next, so
// that deliveries in progress end by themselves.
func NewErasure(client *dynamodb.Client, t ErasedTables) *Erasure {
	at := func(name string) table { return table{client, name} }
	tenant := func(id string) given { return given{":tenant": id} }
	marks := func(id string) given { return tenant(marksPartition + id) }
	byTenant := query{index: "by-tenant", condition: isTenant, limit: erasedAtOnce}
	live := query{condition: allOfTenant, limit: erasedAtOnce}
	counts := query{condition: isTenant + " AND endpoint_id = :counts"}
	said := query{condition: isTenant + " AND begins_with(endpoint_id, :about)", limit: erasedAtOnce}
	about := func(id string) given { return given{":tenant": id, ":about": aboutPrefix} }
	scan, selected := query{scan: true, behind: true, filter: isTenant}, query{scan: true, behind: true}
	selected.filter = "#selector." + isTenant
	const row, health, delivery = "tenant_id, endpoint_id", "#scope, #name", "delivery_id"
	return &Erasure{[]erased{
		{"api_keys", at(t.APIKeys), byTenant, tenant, "key_id", nil},
		{"endpoints", at(t.Endpoints), live, ofTenant, row, nil},
		{"endpoint_counts", at(t.Endpoints), counts, ofTenant, row, nil},
		{"about_endpoints", at(t.Endpoints), said, about, row, nil},
		{"marks", at(t.Endpoints), query{condition: isTenant}, marks, row, nil},
		{"health", at(t.EndpointHealth), scan, tenant, health, nil},
		{"backlog", at(t.Backlog), scan, tenant, "endpoint_shard, #position", nil},
		{"deliveries", at(t.Deliveries), scan, tenant, delivery, nil},
		{"dead_letters", at(t.DeadLetters), byTenant, tenant, delivery, nil},
		{"jobs", at(t.Jobs), selected, tenant, "job_id, part", table.deletePages},
	}}
}

// isTenant selects the items of a tenant.
const isTenant = "tenant_id = :tenant"

// erasedAtOnce is the size of a page from an index.
const erasedAtOnce = 500

// Page counts the items on a page of one kind and, unless it is a dry run, deletes them. from is "" for the first
// page. next is the start of the page after it, and "" after the last page of the last kind. A missing item is no
// error, so that the caller may repeat a page.
func (e *Erasure) Page(
	ctx context.Context, tenantID, from string, dryRun bool,
) (kind string, count int, next string, err error) {
	kind, start, _ := strings.Cut(cmp.Or(from, e.kinds[0].name), " ")
	n := slices.IndexFunc(e.kinds, func(k erased) bool { return k.name == kind })
	if n < 0 {
		// Another release made the cursor.
		return "", 0, "", ErrCursor
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

// page returns the keys of the items on a page of the kind. next is the start of the page after it; "" after the last.
func (k erased) page(ctx context.Context, tenantID, start string) (items []attributes, next string, err error) {
	q := k.query
	q.fields, q.values = k.key, k.of(tenantID)
	if !q.scan {
		return k.list(ctx, q, start)
	}
	from, err := parseSegments(start)
	if err != nil {
		return nil, "", err
	}
	items, left, err := k.scanPage(ctx, q, from)
	return items, left.String(), err
}

// delete deletes an item. Its parts go first, since they could not be found without it.
func (k erased) delete(ctx context.Context, item attributes) error {
	if k.parts != nil {
		if err := k.parts(k.table, ctx, item); err != nil {
			return err
		}
	}
	_, err := k.deleteItem(ctx, item, condition{})
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
		if _, err := t.deleteItem(ctx, page, condition{}); err != nil {
			return err
		}
	}
	return nil
}
