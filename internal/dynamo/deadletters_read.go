package dynamo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
)

// Get returns a dead letter with its sealed parts, strongly consistent.
func (d *DeadLetters) Get(ctx context.Context, deliveryID string) (r deadletter.Record, found bool, err error) {
	out, err := d.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(d.table), Key: deadLetterKey(deliveryID), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return r, false, fmt.Errorf("reading dead letter: %w", err)
	}
	if len(out.Item) == 0 {
		return r, false, nil
	}
	return deadLetterRecord(out.Item), true, nil
}

// DeadLetterFilter says which dead letters to list: those of an endpoint, those with a
// status, or both. At least one is needed.
type DeadLetterFilter struct {
	EndpointID  string
	Status      deadletter.Status
	OldestFirst bool // by the time of the latest death; default newest first
}

// List returns dead letters without their sealed parts; next is "" after the last page, and
// every page before it is full. The indexes may be a moment behind.
func (d *DeadLetters) List(
	ctx context.Context, f DeadLetterFilter, limit int, cursor string,
) (records []deadletter.Record, next string, err error) {
	query, hash := d.query(f)
	start, err := decodeCursor(cursor, "delivery_id", hash, "died_at")
	if err != nil {
		return nil, "", err
	}
	query.ExclusiveStartKey = start
	query.ProjectionExpression = aws.String(summaryProjection)
	maps.Copy(query.ExpressionAttributeNames, summaryNames)
	for {
		query.Limit = aws.Int32(int32(limit - len(records))) //nolint:gosec // at most 100
		if query.FilterExpression != nil {
			query.Limit = aws.Int32(filteredPage)
		}
		out, err := d.client.Query(ctx, query)
		if err != nil {
			return nil, "", fmt.Errorf("listing dead letters: %w", err)
		}
		for i, item := range out.Items {
			records = append(records, deadLetterRecord(item))
			if len(records) == limit && i+1 < len(out.Items) {
				return records, encodeCursor(pick(item, "delivery_id", hash, "died_at")), nil
			}
		}
		if len(out.LastEvaluatedKey) == 0 || len(records) >= limit {
			return records, encodeCursor(out.LastEvaluatedKey), nil
		}
		query.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// filteredPage is how many items a filtered Query reads at a time: DynamoDB filters after it
// has cut the page, and the wanted ones may be few among many.
const filteredPage = 500

// Count returns how many dead letters have the status, and when the longest dead of them
// last died; zero for none.
func (d *DeadLetters) Count(ctx context.Context, status deadletter.Status) (n int, oldest time.Time, err error) {
	first, _, err := d.List(ctx, DeadLetterFilter{Status: status, OldestFirst: true}, 1, "")
	if err != nil || len(first) == 0 {
		return 0, time.Time{}, err
	}
	query, _ := d.query(DeadLetterFilter{Status: status})
	query.Select = types.SelectCount
	for {
		out, err := d.client.Query(ctx, query)
		if err != nil {
			return 0, time.Time{}, fmt.Errorf("counting dead letters: %w", err)
		}
		n += int(out.Count)
		if len(out.LastEvaluatedKey) == 0 {
			return n, first[0].DiedAt, nil
		}
		query.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// query makes the Query of a filter and names the hash key of its index.
func (d *DeadLetters) query(f DeadLetterFilter) (query *dynamodb.QueryInput, hash string) {
	index, value := "by-endpoint", f.EndpointID
	hash = "endpoint_id"
	if f.EndpointID == "" {
		index, hash, value = "by-status", "status", string(f.Status)
	}
	query = &dynamodb.QueryInput{
		TableName:                 aws.String(d.table),
		IndexName:                 aws.String(index),
		KeyConditionExpression:    aws.String("#" + hash + " = :hash"),
		ExpressionAttributeNames:  map[string]string{"#" + hash: hash},
		ExpressionAttributeValues: map[string]types.AttributeValue{":hash": str(value)},
		ScanIndexForward:          aws.Bool(f.OldestFirst),
	}
	if f.EndpointID != "" && f.Status != "" {
		query.FilterExpression = aws.String("#status = :status")
		query.ExpressionAttributeNames["#status"] = "status"
		query.ExpressionAttributeValues[":status"] = str(string(f.Status))
	}
	return query, hash
}

// summaryAttributes are what both indexes must project: all but the sealed parts, which
// would make every page of an index as heavy as the bodies.
var summaryAttributes = []string{
	"delivery_id", "tenant_id", "endpoint_id", "event_id", "event_type", "status", "reason", "attempts", "last_status",
	"replay", "replay_count", "created_at", "died_at", "updated_at",
}

var summaryNames = func() map[string]string {
	names := map[string]string{}
	for _, name := range summaryAttributes {
		names["#"+name] = name
	}
	return names
}()

var summaryProjection = strings.Join(slices.Sorted(maps.Keys(summaryNames)), ", ")

func deadLetterRecord(item map[string]types.AttributeValue) deadletter.Record {
	r := deadletter.Record{
		Ref:         deliveryRef(item),
		EventType:   getStr(item, "event_type"),
		Status:      deadletter.Status(getStr(item, "status")),
		Reason:      delivery.Reason(getStr(item, "reason")),
		Attempts:    int(getNum(item, "attempts")),
		LastStatus:  int(getNum(item, "last_status")),
		ReplayCount: int(getNum(item, "replay_count")),
		DiedAt:      getTime(item, "died_at"),
		UpdatedAt:   getTime(item, "updated_at"),
		Sealed:      deadletter.Sealed{Body: getBytes(item, "body"), Attributes: getBytes(item, "attributes")},
	}
	if history, ok := item["history"].(*types.AttributeValueMemberL); ok {
		for _, member := range history.Value {
			if entry, ok := member.(*types.AttributeValueMemberM); ok {
				r.Sealed.History = append(r.Sealed.History, deadletter.SealedEntry{
					Replay: int(getNum(entry.Value, "replay")), Sealed: getBytes(entry.Value, "sealed"),
				})
			}
		}
	}
	return r
}
