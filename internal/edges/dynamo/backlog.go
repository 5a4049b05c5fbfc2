package dynamo

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
)

// Backlog keeps the deliveries with long waits. A stored item stays until Delete is called with it. A later put under
// its key replaces it, and no item expires.
type Backlog struct{ table }

// NewBacklog returns the store on a table.
func NewBacklog(client *dynamodb.Client, name string) *Backlog { return &Backlog{table{client, name}} }

const (
	// putsAtOnce and deletesAtOnce bound the concurrent calls for one batch.
	putsAtOnce    = 10
	deletesAtOnce = 16

	// backlogVersion is the version of an item's format. A later release wrote any item with another version.
	backlogVersion = 1
)

// ErrPutAgain means that a later put of an item is stored: later than its read, or than the put that is refused.
var ErrPutAgain = errors.New("put again")

// DynamoDB may carry a call out after its caller has given up, and the SDK may have made it twice. Only conditions keep
// a late call from an item that was put since. Package storetest compares them with their rules.
const (
	// putLater is backlog.Item.Replaces as a condition. Times are stored as text that sorts.
	putLater = "attribute_not_exists(stored_at) OR stored_at < :at"

	// putAsRead is backlog.Item.SamePut as a condition.
	putAsRead = "stored_at = :read"
)

// Put stores each item by a PutItem, which needs no right to delete. It returns one error per item. The error is nil
// only if the item is known to be stored: a second try finds its own item, and that is no refusal. An item is refused
// with ErrPutAgain where another that was put at the same time or later is stored.
func (b *Backlog) Put(ctx context.Context, items []backlog.Item) []error {
	return parallel.Each(len(items), putsAtOnce, func(n int) error {
		_, stored, err := b.put(ctx, backlogRowOf(items[n]), condition{putLater, given{":at": items[n].StoredAt}})
		return b.orPutAgain(stored, err)
	})
}

// Delete removes items as they were read. It returns one error per item. A missing item is no error. An item that has
// been put again since then stays, with ErrPutAgain: it may carry a delivery that is nowhere else.
func (b *Backlog) Delete(ctx context.Context, items []backlog.Item) []error {
	return parallel.Each(len(items), deletesAtOnce, func(n int) error {
		when := condition{putAsRead, given{":read": items[n].StoredAt}}
		deleted, err := b.deleteItem(ctx, backlogKey(items[n].Key), when)
		return b.orPutAgain(deleted, err)
	})
}

// orPutAgain is the error of a write under a condition.
func (b *Backlog) orPutAgain(applied bool, err error) error {
	if err == nil && !applied {
		err = b.wrap(ErrPutAgain)
	}
	return err
}

// PutBack changes an item as it was read, which waits for its endpoint: from now on the item waits for its schedule,
// until its DueAt. found is false if the item is gone, or was put again since. PutBack never makes an item.
func (b *Backlog) PutBack(ctx context.Context, item backlog.Item) (found bool, err error) {
	_, found, err = b.updateItem(ctx, backlogKey(item.Key), update{
		expression: "SET due_at = :due, held = :held", condition: putAsRead,
		values: given{":due": item.DueAt, ":held": false, ":read": item.StoredAt},
	})
	return found, err
}

// Page is the result of one call.
type Page struct {
	Items []backlog.Item

	// Unreadable are the items that a later release wrote. This release leaves them alone.
	Unreadable []backlog.Key

	// Unread are the keys that BatchGet could not read, as when their partitions were throttled.
	Unread []backlog.Key

	// Next is the position behind which the next page begins; "" after the last page.
	Next string
}

// add adds an item to the page. One that cannot be read is named by its key, and hides none of the others.
func (p *Page) add(item attributes) {
	i, err := backlogItemOf(item)
	if err != nil {
		p.Unreadable = append(p.Unreadable, backlogKeyOf(item))
		return
	}
	p.Items = append(p.Items, i)
}

// ReadShard returns the items of an endpoint's shard behind a position, the oldest deliveries first. The position ""
// begins with the oldest delivery, and backlog.Before(t) with the deliveries created at t. The read is strongly
// consistent. A page has at most limit items and 1 MB.
func (b *Backlog) ReadShard(ctx context.Context, endpointID string, shard int, after string, limit int) (Page, error) {
	q := query{
		condition: "endpoint_shard = :shard", values: given{":shard": shardName(endpointID, shard)}, limit: limit,
	}
	if after != "" {
		q.condition += " AND #position > :after"
		q.values[":after"] = after
	}
	items, last, err := b.query(ctx, q)
	if err != nil {
		return Page{}, err
	}
	page := Page{Next: getStr(last, "position")}
	for _, item := range items {
		page.add(item)
	}
	return page, nil
}

// Due is one item that is due, as the index knows it.
type Due struct {
	backlog.Key
	TenantID string
	DueAt    time.Time
	// Held tells that the item waits for its endpoint, and that DueAt is the end of its life.
	Held bool
}

// Due returns the keys of the items of one due-shard that are due by then, the earliest first. A page has at most limit
// keys. next is "" after the last page. The index lags a little behind the table: it may lack an item, still have one
// that is gone, or show one as it was before.
func (b *Backlog) Due(
	ctx context.Context, dueShard int, until time.Time, limit int, cursor string,
) (due []Due, next string, err error) {
	items, next, err := b.list(ctx, query{
		index: "by-due", condition: "due_shard = :shard AND due_at <= :until", limit: limit,
		values: given{":shard": strconv.Itoa(dueShard), ":until": until},
	}, cursor)
	for _, item := range items {
		due = append(due, Due{
			Key: backlogKeyOf(item), TenantID: getStr(item, "tenant_id"), DueAt: read[time.Time](item, "due_at"),
			Held: read[bool](item, "held"),
		})
	}
	return due, next, err
}

// BatchGet returns the items with the given keys in no order. Missing items are left out. The reads are strongly
// consistent. With an error, BatchGet returns the items that it could read.
func (b *Backlog) BatchGet(ctx context.Context, keys []backlog.Key) (Page, error) {
	var page Page
	seen := make(map[backlog.Key]bool, len(keys))
	asked := make([]attributes, 0, len(keys))
	for _, key := range keys {
		if !seen[key] {
			seen[key] = true
			asked = append(asked, backlogKey(key))
		}
	}
	left, err := b.getBatch(ctx, asked, consistently, page.add)
	for _, key := range left {
		page.Unread = append(page.Unread, backlogKeyOf(key))
	}
	return page, err
}
