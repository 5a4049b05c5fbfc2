package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	maxBatchWrites = 25  // requests of one BatchWriteItem call
	maxBatchReads  = 100 // keys of one BatchGetItem call
)

// ErrUnprocessed is wrapped where DynamoDB left something of a batch call unprocessed again and
// again: it is throttling.
var ErrUnprocessed = errors.New("unprocessed")

type batchWriter interface {
	BatchWriteItem(
		context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options),
	) (*dynamodb.BatchWriteItemOutput, error)
}

// batchWrite makes one BatchWriteItem call, of at most 25 requests, and offers again what it left
// unprocessed. With an error, left is what is not known to be written.
func batchWrite(
	ctx context.Context, client batchWriter, table string, writes []types.WriteRequest,
) (left []types.WriteRequest, err error) {
	left = writes
	for try := range maxTries {
		if try > 0 {
			if err := pause(ctx, try-1); err != nil {
				return left, err
			}
		}
		out, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{table: left},
		})
		if err != nil {
			return left, err
		}
		if left = out.UnprocessedItems[table]; len(left) == 0 {
			return nil, nil
		}
	}
	return left, fmt.Errorf("%d items stay %w", len(left), ErrUnprocessed)
}

type batchReader interface {
	BatchGetItem(
		context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options),
	) (*dynamodb.BatchGetItemOutput, error)
}

type itemUpdater interface {
	UpdateItem(
		context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options),
	) (*dynamodb.UpdateItemOutput, error)
}

// batchGet reads the keys of one table, 100 in a call, strongly consistent, and hands over every
// item that exists. A call answers 16 MB at most: tries count only where there is no progress.
func batchGet(
	ctx context.Context, client batchReader, table string, keys []attributes, found func(attributes),
) error {
	for len(keys) > 0 {
		n := min(len(keys), maxBatchReads)
		if err := batchGetCall(ctx, client, table, keys[:n], found); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

func batchGetCall(
	ctx context.Context, client batchReader, table string, keys []attributes, found func(attributes),
) error {
	consistent := true
	for try := 0; try < maxTries; try++ {
		out, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys, ConsistentRead: &consistent}},
		})
		if err != nil {
			return err
		}
		for _, item := range out.Responses[table] {
			found(item)
		}
		left := out.UnprocessedKeys[table].Keys
		if len(left) == 0 {
			return nil
		}
		if len(left) < len(keys) {
			try = -1
		}
		keys = left
		if err := pause(ctx, max(try, 0)); err != nil {
			return err
		}
	}
	return fmt.Errorf("%d keys stay %w", len(keys), ErrUnprocessed)
}
