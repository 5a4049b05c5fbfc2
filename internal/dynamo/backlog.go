package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/backlog"
)

// BacklogClient is the part of the DynamoDB client that Backlog calls.
type BacklogClient interface {
	batchWriter
	batchReader
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	itemUpdater
}

// Backlog keeps the deliveries that wait for long. An item that was stored stays until it is
// deleted by its own key: no other write removes or replaces it, and none expires.
type Backlog struct {
	client BacklogClient
	table  string
}

// NewBacklog returns the store on table.
func NewBacklog(client BacklogClient, table string) *Backlog {
	return &Backlog{client: client, table: table}
}

// Put stores items, 25 in a call: two write units for one that with its attributes is not larger
// than 1 KB. The answer has one error per item, nil where it is stored; what is not known to be
// stored has an error.
func (b *Backlog) Put(ctx context.Context, items []backlog.Item) []error {
	writes := make([]keyedWrite, len(items))
	for n, i := range items {
		item := backlogItem(i)
		writes[n] = keyedWrite{
			key:   i.Key,
			write: types.WriteRequest{PutRequest: &types.PutRequest{Item: item}},
			size:  itemSize(item),
		}
	}
	return b.write(ctx, "storing in Backlog", writes)
}

// Delete removes the items with the keys, 25 in a call. One that is not there any more is no
// error. The answer has one error per key.
func (b *Backlog) Delete(ctx context.Context, keys []backlog.Key) []error {
	writes := make([]keyedWrite, len(keys))
	for n, key := range keys {
		writes[n] = keyedWrite{
			key:   key,
			write: types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: backlogKey(key)}},
		}
	}
	return b.write(ctx, "deleting from Backlog", writes)
}

// maxItemSize is the largest item DynamoDB takes: 400 KB, names included. A call of 25 such items
// stays below its other limit, 16 MB.
const maxItemSize = 400 << 10

// ErrTooLarge is wrapped for an item that DynamoDB would refuse, and the whole call with it.
var ErrTooLarge = errors.New("larger than 400 KB")

type keyedWrite struct {
	key   backlog.Key
	write types.WriteRequest
	size  int
}

// write offers every key once, since DynamoDB refuses calls that name one twice.
func (b *Backlog) write(ctx context.Context, doing string, writes []keyedWrite) []error {
	failed := map[backlog.Key]error{}
	offered := make(map[backlog.Key]bool, len(writes))
	batch := make([]types.WriteRequest, 0, min(len(writes), maxBatchWrites))
	offer := func() {
		left, err := batchWrite(ctx, b.client, b.table, batch)
		for _, request := range left {
			failed[requestKey(request)] = fmt.Errorf("%s: %w", doing, err)
		}
		batch = batch[:0]
	}
	for _, w := range writes {
		if w.size > maxItemSize {
			failed[w.key] = fmt.Errorf("%s: %w", doing, ErrTooLarge)
			continue
		}
		if offered[w.key] {
			continue
		}
		offered[w.key] = true
		if batch = append(batch, w.write); len(batch) == maxBatchWrites {
			offer()
		}
	}
	if len(batch) > 0 {
		offer()
	}
	errs := make([]error, len(writes))
	for n, w := range writes {
		errs[n] = failed[w.key]
	}
	return errs
}

func requestKey(request types.WriteRequest) backlog.Key {
	if request.PutRequest != nil {
		return backlogKeyOf(request.PutRequest.Item)
	}
	if request.DeleteRequest != nil {
		return backlogKeyOf(request.DeleteRequest.Key)
	}
	return backlog.Key{}
}

// Redate changes when an item is due, and whether it is held. found is false when it is not
// there any more: nothing is made.
func (b *Backlog) Redate(ctx context.Context, key backlog.Key, due time.Time, held bool) (found bool, err error) {
	_, err = b.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           aws.String(b.table),
		Key:                 backlogKey(key),
		UpdateExpression:    aws.String("SET due_at = :due, held = :held"),
		ConditionExpression: aws.String("attribute_exists(endpoint_shard)"),
		ExpressionAttributeValues: attributes{
			":due": stamp(backlog.Ceil(due)), ":held": boolean(held),
		},
	})
	return conditionHeld("changing an item of Backlog", err)
}
