package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/backlog"
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
