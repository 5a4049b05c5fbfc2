package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// DynamoDB takes so many requests in one call of BatchWriteItem, and so many keys in one call of BatchGetItem.
const (
	maxBatchWrites = 25
	maxBatchReads  = 100
)

// maxTries bounds the calls for one batch. It also bounds the calls for a mark that other operators change at the same
// time.
const maxTries = 6

// ErrUnprocessed means that DynamoDB left a part of a batch unprocessed at each try: it is throttling.
var ErrUnprocessed = errors.New("unprocessed")

// pause waits before the next try: exponential with full jitter, as AWS asks for batch operations.
func pause(ctx context.Context, try int) error {
	limit := 25 * time.Millisecond << try
	timer := time.NewTimer(rand.N(limit)) //nolint:gosec // jitter
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// putBatch stores at most 25 items by one BatchWriteItem call, and repeats it for unprocessed items.
func (t table) putBatch(ctx context.Context, items []attributes) error {
	writes := make([]types.WriteRequest, len(items))
	for n, item := range items {
		writes[n].PutRequest = &types.PutRequest{Item: item}
	}
	for try := range maxTries {
		if try > 0 {
			if err := pause(ctx, try-1); err != nil {
				return t.wrap(err)
			}
		}
		out, err := t.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{t.name: writes},
		})
		if err != nil {
			return t.wrap(err)
		}
		writes = out.UnprocessedItems[t.name]
		if len(writes) == 0 {
			return nil
		}
	}
	return t.wrap(fmt.Errorf("%d items stay %w", len(writes), ErrUnprocessed))
}

// batchRead is a read of items by their keys.
type batchRead struct {
	// KeysAndAttributes has the consistency and the projection of the read.
	types.KeysAndAttributes

	// tries bounds the calls without progress.
	tries int
}

// of is the read of these keys.
func (b batchRead) of(keys []attributes) types.KeysAndAttributes {
	b.Keys = keys
	return b.KeysAndAttributes
}

// consistently is the read for decisions, which must not be taken on old data.
var consistently = batchRead{types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}, maxTries}

// getBatch reads 100 keys in a call and passes each item to found. After a failed call it makes the remaining calls and
// still returns an error. left are then the unread keys.
func (t table) getBatch(
	ctx context.Context, keys []attributes, how batchRead, found func(attributes),
) (left []attributes, err error) {
	for asked := range slices.Chunk(keys, maxBatchReads) {
		unread, failed := t.getCall(ctx, asked, how, found)
		left, err = append(left, unread...), cmp.Or(failed, err)
	}
	return left, err
}

// getCall reads at most 100 keys. One answer has at most 16 MB, so a large batch needs several calls. Only calls
// without progress count as tries.
func (t table) getCall(
	ctx context.Context, keys []attributes, how batchRead, found func(attributes),
) (left []attributes, err error) {
	for try := 0; len(keys) > 0; try++ {
		if try == how.tries {
			return keys, t.wrap(fmt.Errorf("%d keys stay %w", len(keys), ErrUnprocessed))
		}
		out, err := t.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{t.name: how.of(keys)},
		})
		if err != nil {
			return keys, t.wrap(err)
		}
		for _, item := range out.Responses[t.name] {
			found(item)
		}
		unread := out.UnprocessedKeys[t.name].Keys
		if len(unread) < len(keys) {
			try = -1
		}
		keys = unread
		if len(keys) == 0 {
			break
		}
		if err := pause(ctx, max(try, 0)); err != nil {
			return keys, t.wrap(err)
		}
	}
	return nil, nil
}
