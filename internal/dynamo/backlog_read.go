package dynamo

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/backlog"
)

// Page is what one call found. What this release cannot read, because a later one wrote it, is
// named and otherwise left alone.
type Page struct {
	Items      []backlog.Item
	Unreadable []backlog.Key
	Next       string // where the next page begins; "" after the last
}

func (p *Page) add(item attributes) {
	i, err := backlogItemOf(item)
	if err != nil {
		p.Unreadable = append(p.Unreadable, backlogKeyOf(item))
		return
	}
	p.Items = append(p.Items, i)
}

// ReadShard returns the items of an endpoint's shard behind a position, those of the oldest
// deliveries first, strongly consistent: "" begins with the oldest, backlog.Before(t) with the
// deliveries created at t. A page has at most limit items and 1 MB.
func (b *Backlog) ReadShard(ctx context.Context, endpointID string, shard int, after string, limit int) (Page, error) {
	condition, values := "endpoint_shard = :shard", attributes{":shard": shardName(endpointID, shard)}
	if after != "" {
		condition += " AND #position > :after"
		values[":after"] = str(after)
	}
	in := &dynamodb.QueryInput{
		TableName:                 aws.String(b.table),
		KeyConditionExpression:    aws.String(condition),
		ExpressionAttributeValues: values,
		ConsistentRead:            aws.Bool(true),
		Limit:                     aws.Int32(int32(limit)), //nolint:gosec // small
	}
	if after != "" {
		in.ExpressionAttributeNames = map[string]string{"#position": "position"}
	}
	out, err := b.client.Query(ctx, in)
	if err != nil {
		return Page{}, fmt.Errorf("reading a shard of Backlog: %w", err)
	}
	page := Page{Next: getStr(out.LastEvaluatedKey, "position")}
	for _, item := range out.Items {
		page.add(item)
	}
	return page, nil
}

// Due is one item that is due, as the index says: what it was when the index last heard of it.
type Due struct {
	backlog.Key
	DueAt time.Time
}

// Due returns the keys of what is due until then in one due-shard, earliest first, at most
// limit a page; next is "" after the last one. The index is a little behind the table: an
// item may be missing, or named that is gone or was given another time.
func (b *Backlog) Due(
	ctx context.Context, dueShard int, until time.Time, limit int, cursor string,
) (due []Due, next string, err error) {
	start, err := decodeCursor(cursor, "endpoint_shard", "position", "due_shard", "due_at")
	if err != nil {
		return nil, "", err
	}
	out, err := b.client.Query(ctx, &dynamodb.QueryInput{
		TableName:              aws.String(b.table),
		IndexName:              aws.String("by-due"),
		KeyConditionExpression: aws.String("due_shard = :shard AND due_at <= :until"),
		ExpressionAttributeValues: attributes{
			":shard": str(strconv.Itoa(dueShard)), ":until": stamp(until),
		},
		Limit:             aws.Int32(int32(limit)), //nolint:gosec // small
		ExclusiveStartKey: start,
	})
	if err != nil {
		return nil, "", fmt.Errorf("reading what is due in Backlog: %w", err)
	}
	for _, item := range out.Items {
		due = append(due, Due{Key: backlogKeyOf(item), DueAt: getTime(item, "due_at")})
	}
	return due, encodeCursor(out.LastEvaluatedKey), nil
}

// BatchGet returns the items with the given keys, strongly consistent, in no order; those that
// do not exist any more are left out.
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
	if err := batchGet(ctx, b.client, b.table, asked, page.add); err != nil {
		return Page{}, fmt.Errorf("reading items of Backlog: %w", err)
	}
	return page, nil
}

// Waiting is how much waits for one endpoint.
type Waiting struct {
	Items  int       // at most 1,000
	Held   int       // of them, for the endpoint and not for their schedule
	More   bool      // there are more than counted
	Oldest time.Time // created_at of the oldest delivery; zero when nothing waits
}

const (
	maxCounted  = 1000
	maxPerShard = 2 * maxCounted / backlog.Shards // deliveries spread evenly
)

// Count counts what waits for the endpoint, up to 1,000, by one small Query a shard. It shows
// people how things stand and is not strongly consistent.
func (b *Backlog) Count(ctx context.Context, endpointID string) (Waiting, error) {
	var w Waiting
	for shard := range backlog.Shards {
		out, err := b.client.Query(ctx, &dynamodb.QueryInput{
			TableName:                 aws.String(b.table),
			KeyConditionExpression:    aws.String("endpoint_shard = :shard"),
			ExpressionAttributeValues: attributes{":shard": shardName(endpointID, shard)},
			ProjectionExpression:      aws.String("#position, held"),
			ExpressionAttributeNames:  map[string]string{"#position": "position"},
			Select:                    types.SelectSpecificAttributes,
			Limit:                     aws.Int32(maxPerShard),
		})
		if err != nil {
			return Waiting{}, fmt.Errorf("counting in Backlog: %w", err)
		}
		w.More = w.More || len(out.LastEvaluatedKey) > 0
		for _, item := range out.Items {
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
	if getBool(item, "held") {
		w.Held++
	}
}
