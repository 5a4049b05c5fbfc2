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
	putsAtOnce    = 10
	deletesAtOnce = 16
)

// Put stores each item by a PutItem, which needs no right to delete. The answer has one error per item,
// nil where it is stored; an item that is not known to be stored has an error.
func (b *Backlog) Put(ctx context.Context, items []backlog.Item) []error {
	return parallel.Each(len(items), putsAtOnce, func(n int) error {
		_, _, err := b.put(ctx, backlogRowOf(items[n]), write{})
		return err
	})
}

// Delete removes the items with the keys. One that is gone already is no error. The answer has one error
// per key.
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

// backlogVersion is the form of an item. An item of another one is of a later release.
const backlogVersion = 1

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
