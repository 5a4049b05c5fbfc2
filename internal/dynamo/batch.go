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

const (
	maxBatchWrites = 25  // requests of one BatchWriteItem call
	maxBatchReads  = 100 // keys of one BatchGetItem call
)

// maxTries bounds how often a call is made again for the rest of a batch, or for a mark that another operator was
// faster to set.
const maxTries = 6

// ErrUnprocessed is wrapped where DynamoDB left something of a batch call unprocessed again and
// again: it is throttling.
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

// putBatch stores at most 25 items by one BatchWriteItem call, and offers again the rest of it.
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
		if writes = out.UnprocessedItems[t.name]; len(writes) == 0 {
			return nil
		}
	}
	return t.wrap(fmt.Errorf("%d items stay %w", len(writes), ErrUnprocessed))
}

// batchRead is a read of items by their keys.
type batchRead struct {
	types.KeysAndAttributes     // how they are read
	tries                   int // without progress
}

// of is the read of these keys.
func (b batchRead) of(keys []attributes) types.KeysAndAttributes {
	b.Keys = keys
	return b.KeysAndAttributes
}

// consistently is the read of everything that decides.
var consistently = batchRead{types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}, maxTries}

// getBatch reads 100 keys in a call and hands over every item that exists. With an error, left are the keys that were
// not read: the other calls are made all the same.
func (t table) getBatch(
	ctx context.Context, keys []attributes, how batchRead, found func(attributes),
) (left []attributes, err error) {
	for asked := range slices.Chunk(keys, maxBatchReads) {
		unread, failed := t.getCall(ctx, asked, how, found)
		left, err = append(left, unread...), cmp.Or(failed, err)
	}
	return left, err
}

// getCall reads at most 100 keys. One answer has 16 MB at most: tries count only where there is no progress.
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
		if keys = unread; len(keys) > 0 {
			if err := pause(ctx, max(try, 0)); err != nil {
				return keys, t.wrap(err)
			}
		}
	}
	return nil, nil
}
