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
)

// Backlog keeps the deliveries that wait for long. An item that was stored stays until it is
// deleted by its own key: no other write removes or replaces it, and none expires.
type Backlog struct{ table }

// NewBacklog returns the store on a table.
func NewBacklog(client *dynamodb.Client, name string) *Backlog { return &Backlog{table{client, name}} }

const (
	putsAtOnce     = 10
	deletesAtOnce  = 16
	backlogVersion = 1                               // the form of an item; one of another is of a later release
	maxCounted     = 1000                            // of an endpoint's items
	maxPerShard    = 2 * maxCounted / backlog.Shards // deliveries spread evenly
)

// Put stores each item by a PutItem, which needs no right to delete. The answer has one error per item,
// nil where it is stored; an item that is not known to be stored has an error.
func (b *Backlog) Put(ctx context.Context, items []backlog.Item) []error {
	return parallel.Each(len(items), putsAtOnce, func(n int) error {
		_, _, err := b.put(ctx, backlogRowOf(items[n]), write{})
		return err
	})
}

// Delete removes the items with the keys, with one error per key. One that is gone already is no error.
func (b *Backlog) Delete(ctx context.Context, keys []backlog.Key) []error {
	return parallel.Each(len(keys), deletesAtOnce, func(n int) error {
		_, err := b.deleteItem(ctx, backlogKey(keys[n]), write{})
		return err
	})
}

// PutBack stores that an item waits until its DueAt for its schedule, and no longer for its endpoint.
// found is false when it is not there any more: nothing is made.
func (b *Backlog) PutBack(ctx context.Context, item backlog.Item) (found bool, err error) {
	_, found, err = b.updateItem(ctx, backlogKey(item.Key), write{
		expression: "SET due_at = :due, held = :held", condition: "attribute_exists(endpoint_shard)",
		values: given{":due": item.DueAt, ":held": false},
	})
	return found, err
}

// backlogRow does not repeat the key: endpoint, delivery, created_at and replay. Most items then fit one
// write unit.
type backlogRow struct {
	Shard      string    `dynamodbav:"endpoint_shard"`
	Position   string    `dynamodbav:"position"`
	Version    int       `dynamodbav:"version"`
	TenantID   string    `dynamodbav:"tenant_id"`
	EventID    string    `dynamodbav:"event_id"`
	Attempts   int       `dynamodbav:"attempts"`
	Life       string    `dynamodbav:"life"`
	Body       []byte    `dynamodbav:"body"` // binary: byte for byte
	StoredAt   time.Time `dynamodbav:"stored_at"`
	DueAt      time.Time `dynamodbav:"due_at"`
	DueShard   string    `dynamodbav:"due_shard"`
	Held       bool      `dynamodbav:"held"`
	OccurredAt time.Time `dynamodbav:"occurred_at,omitempty"`
	NotBefore  time.Time `dynamodbav:"not_before,omitempty"`
}

// shardName is the partition of a shard of what has the name: an endpoint, or a list.
func shardName(of string, shard int) string { return of + "#" + strconv.Itoa(shard) }

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

func backlogRowOf(i backlog.Item) backlogRow {
	return backlogRow{
		Shard: shardName(i.EndpointID, i.Shard), Position: i.Position, Version: backlogVersion,
		TenantID: i.Message.TenantID, EventID: i.Message.EventID,
		Attempts: i.Message.Attempts, Life: i.Message.Life.Encode(), Body: i.Message.Body,
		StoredAt: i.StoredAt, DueAt: i.DueAt, DueShard: strconv.Itoa(i.DueShard()), Held: i.Held,
		OccurredAt: i.Message.OccurredAt, NotBefore: i.NotBefore,
	}
}

var errBacklogVersion = errors.New("of another version")

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
	ref.TenantID, ref.EndpointID, ref.EventID, ref.OccurredAt = row.TenantID, key.EndpointID, row.EventID, row.OccurredAt
	return backlog.Item{
		Key:      key,
		Message:  delivery.Message{Ref: ref, Attempts: row.Attempts, Life: life, Body: row.Body},
		StoredAt: row.StoredAt, DueAt: row.DueAt, Held: row.Held, NotBefore: row.NotBefore,
	}, nil
}

// Page is the result of one call. Items that this release cannot read, because a later one wrote them,
// are named and otherwise left alone.
type Page struct {
	Items      []backlog.Item
	Unreadable []backlog.Key
	Unread     []backlog.Key // of BatchGet alone, with an error: their partitions may be throttled
	Next       string        // where the next page begins; "" after the last
}

func (p *Page) add(item attributes) {
	i, err := backlogItemOf(item)
	if err != nil {
		p.Unreadable = append(p.Unreadable, backlogKeyOf(item))
		return
	}
	p.Items = append(p.Items, i)
}

// ReadShard returns the items of an endpoint's shard behind a position, the oldest deliveries first, strongly
// consistent: "" begins with the oldest, backlog.Before(t) with the deliveries created at t. A page has at most limit
// items and 1 MB.
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

// Due returns the keys of the items of one due-shard that are due until then, earliest first, at most
// limit a page; next is "" after the last one. The index is a little behind the table: an
// item may be missing, or named that is gone or was given another time.
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

// BatchGet returns the items with the given keys, strongly consistent, in no order; missing ones are left out. With an
// error, it returns the ones that it could read.
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

// Waiting is how much waits for one endpoint.
type Waiting struct {
	Items  int       // at most 1,000
	Held   int       // of them, for the endpoint and not for their schedule
	More   bool      // there are more than counted
	Oldest time.Time // created_at of the oldest delivery; zero when nothing waits
}

// Count counts the endpoint's items, up to 1,000, by one small Query a shard. It is for people and not
// strongly consistent.
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

// Total is how much waits for all endpoints together.
type Total struct {
	Items   int                // counted: at least so many
	Held    int                // of them, for their endpoints and not for their schedules
	More    bool               // there are more than counted
	NextDue time.Time          // of the item that is due first; zero when nothing waits
	By      map[string]Waiting // the same by endpoint: exact unless there are more
}

// Total counts all items, up to perShard of each of the 16 parts of the index by due time, which is a
// little behind the table.
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
