package dynamo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/trace"
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

	// maxCounted bounds the items of an endpoint that are counted. Deliveries spread evenly over the shards, so that
	// maxPerShard, twice a shard's share, is enough of each.
	maxCounted  = 1000
	maxPerShard = 2 * maxCounted / backlog.Shards
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

// Delete removes items as they were read. It returns one error per item. A missing item is no error. One that was put
// again since stays, with ErrPutAgain: it may carry a delivery that is nowhere else.
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

// backlogRow is an item as it is stored. Endpoint, delivery, created_at and replay are parts of its key and not
// repeated, so that most items fit one write unit.
type backlogRow struct {
	Shard    string `dynamodbav:"endpoint_shard"`
	Position string `dynamodbav:"position"`
	Version  int    `dynamodbav:"version"`
	TenantID string `dynamodbav:"tenant_id"`
	EventID  string `dynamodbav:"event_id"`
	Attempts int    `dynamodbav:"attempts"`
	Life     string `dynamodbav:"life"`

	// Body is binary, since the receiver gets the published data byte for byte.
	Body []byte `dynamodbav:"body"`

	StoredAt   time.Time `dynamodbav:"stored_at"`
	DueAt      time.Time `dynamodbav:"due_at"`
	DueShard   string    `dynamodbav:"due_shard"`
	Held       bool      `dynamodbav:"held"`
	OccurredAt time.Time `dynamodbav:"occurred_at,omitempty"`
	NotBefore  time.Time `dynamodbav:"not_before,omitempty"`
	Trace      string    `dynamodbav:"trace,omitempty"` // as a message has it
}

// shardName is the partition of a shard. of is the name of an endpoint or of a list.
func shardName(of string, shard int) string { return of + "#" + strconv.Itoa(shard) }

// backlogKey is the key of an item: its endpoint's shard, and in it the position, which sorts by the time of creation.
func backlogKey(k backlog.Key) attributes {
	return attributes{"endpoint_shard": str(shardName(k.EndpointID, k.Shard)), "position": str(k.Position)}
}

// backlogKeyOf is the reverse of backlogKey. No endpoint id contains '#'.
func backlogKeyOf(item attributes) backlog.Key {
	endpointID, text, _ := strings.Cut(getStr(item, "endpoint_shard"), "#")
	shard, err := strconv.Atoi(text)
	if err != nil {
		return backlog.Key{}
	}
	return backlog.Key{EndpointID: endpointID, Shard: shard, Position: getStr(item, "position")}
}

// backlogRowOf is the row of an item. Delivery id and created_at are a part of the position, and stand nowhere else.
func backlogRowOf(i backlog.Item) backlogRow {
	return backlogRow{
		Shard: shardName(i.EndpointID, i.Shard), Position: i.Position, Version: backlogVersion,
		TenantID: i.Message.TenantID, EventID: i.Message.EventID,
		Attempts: i.Message.Attempts, Life: i.Message.Life.Encode(), Body: i.Message.Body,
		StoredAt: i.StoredAt, DueAt: i.DueAt, DueShard: strconv.Itoa(i.DueShard()), Held: i.Held,
		OccurredAt: i.Message.OccurredAt, NotBefore: i.NotBefore, Trace: i.Message.Trace.XRay(),
	}
}

var errBacklogVersion = errors.New("of another version")

// backlogItemOf is the reverse of backlogRowOf. A row of another version is unreadable, and stays for a later release.
func backlogItemOf(item attributes) (backlog.Item, error) {
	if v := read[int](item, "version"); v != backlogVersion {
		return backlog.Item{}, fmt.Errorf("item %d: %w", v, errBacklogVersion)
	}
	var row backlogRow
	if err := unmarshal(item, &row); err != nil {
		return backlog.Item{}, err
	}
	ref, err := backlog.Parse(row.Position)
	if err != nil {
		return backlog.Item{}, err
	}
	life, err := delivery.DecodeLife(row.Life)
	if err != nil {
		return backlog.Item{}, err
	}
	key := backlogKeyOf(item)
	ref.TenantID = row.TenantID
	ref.EndpointID = key.EndpointID
	ref.EventID = row.EventID
	ref.OccurredAt = row.OccurredAt
	return backlog.Item{
		Key: key,
		Message: delivery.Message{
			Ref: ref, Attempts: row.Attempts, Life: life, Body: row.Body, Trace: trace.ParseXRay(row.Trace),
		},
		StoredAt: row.StoredAt, DueAt: row.DueAt, Held: row.Held, NotBefore: row.NotBefore,
	}, nil
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
}

// Due returns the keys of the items of one due-shard that are due until then, the earliest first. A page has at most
// limit keys. next is "" after the last page. The index is a little behind the table. An item may be missing from it,
// be gone already, or have another time by now.
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

// Waiting counts the items of one endpoint.
type Waiting struct {
	// Items is at most 1,000.
	Items int

	// Held is the number of the items that wait for the endpoint. The others wait for their schedule.
	Held int

	// More says that the endpoint has more items than were counted.
	More bool

	// Oldest is created_at of the oldest delivery; zero without items.
	Oldest time.Time
}

// Count counts the endpoint's items, up to 1,000, by one small Query a shard. People read the result, so the reads are
// eventually consistent.
func (b *Backlog) Count(ctx context.Context, endpointID string) (Waiting, error) {
	var w Waiting
	for shard := range backlog.Shards {
		items, last, err := b.query(ctx, query{
			condition: "endpoint_shard = :shard", values: given{":shard": shardName(endpointID, shard)},
			fields: "#position, held", limit: maxPerShard, behind: true,
		})
		if err != nil {
			return Waiting{}, err
		}
		w.More = w.More || len(last) > 0
		for _, item := range items {
			w.count(item)
		}
	}
	return w, nil
}

// count counts an item, up to the bound. The oldest is found among all, since shards come one after the other.
func (w *Waiting) count(item attributes) {
	ref, err := backlog.Parse(getStr(item, "position"))
	if err == nil && (w.Oldest.IsZero() || ref.CreatedAt.Before(w.Oldest)) {
		w.Oldest = ref.CreatedAt
	}
	if w.Items == maxCounted {
		w.More = true
		return
	}
	w.Items++
	if read[bool](item, "held") {
		w.Held++
	}
}

// Total counts the items of all endpoints together.
type Total struct {
	// Items is the number of counted items: a lower bound if More is set.
	Items int

	// Held is the number of the items that wait for their endpoints. The others wait for their schedules.
	Held int

	// More says that there are more items than were counted.
	More bool

	// NextDue is the earliest due time of an item; zero without items.
	NextDue time.Time

	// By has the counts of each endpoint. They are exact unless More is set.
	By map[string]Waiting
}

// Total counts all items, up to perShard of each of the 16 parts of the index by due time. The index is a little behind
// the table.
func (b *Backlog) Total(ctx context.Context, perShard int) (Total, error) {
	total := Total{By: map[string]Waiting{}}
	for shard := range backlog.DueShards {
		items, last, err := b.query(ctx, query{
			index: "by-due", condition: "due_shard = :shard", values: given{":shard": strconv.Itoa(shard)},
			fields: "endpoint_shard, #position, due_at, held", limit: perShard,
		})
		if err != nil {
			return Total{}, err
		}
		total.Items += len(items)
		total.More = total.More || len(last) > 0
		if len(items) == 0 {
			continue
		}
		for _, item := range items {
			if read[bool](item, "held") {
				total.Held++
			}
			id := backlogKeyOf(item).EndpointID
			one := total.By[id]
			one.count(item)
			total.By[id] = one
		}
		if first := read[time.Time](items[0], "due_at"); total.NextDue.IsZero() || first.Before(total.NextDue) {
			total.NextDue = first
		}
	}
	return total, nil
}
