package dynamo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/health"
)

// HealthClient is the part of the DynamoDB client that Health calls.
type HealthClient interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	itemUpdater
	DeleteItem(
		context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options),
	) (*dynamodb.DeleteItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Health keeps what stands between endpoints and their deliveries: one item per endpoint in
// trouble, one per paused tenant, and the notes about slow endpoints. Every write of an item is
// conditional, as health.Write.Apply says.
type Health struct {
	client HealthClient
	table  string
}

// NewHealth returns the store on the table EndpointHealth.
func NewHealth(client HealthClient, table string) *Health {
	return &Health{client: client, table: table}
}

// Apply performs the write. It returns what is stored afterwards, and whether the condition held:
// where it did not, that is the item that stands. The zero item but for its names says that there
// is none. A call that was retried because its answer was lost is not taken for a refusal.
func (h *Health) Apply(ctx context.Context, w health.Write) (stored health.Item, applied bool, err error) {
	none := health.Item{TenantID: w.Item.TenantID, EndpointID: w.Item.EndpointID}
	switch w.Kind {
	case health.Put:
		stored, err = h.put(ctx, w)
	case health.Delete:
		stored, err = none, h.remove(ctx, w, "version = :if", attributes{":if": num(w.If)})
	case health.ClearFailing:
		stored, err = none, h.remove(ctx, w, clearFailing, attributes{":failing": str(string(health.Failing))})
	case health.ClearRun:
		stored, err = h.clearRun(ctx, w)
	case health.Nothing:
		return w.Item, true, nil
	}
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		if len(refused.Item) == 0 {
			return none, false, nil
		}
		return healthItemOf(refused.Item), false, nil
	}
	if err != nil {
		return health.Item{}, false, fmt.Errorf("writing health: %w", err)
	}
	return stored, true, nil
}

const allOld = types.ReturnValuesOnConditionCheckFailureAllOld

// put marks the item with a text of its own, by which it knows it again.
func (h *Health) put(ctx context.Context, w health.Write) (health.Item, error) {
	item, mark := healthItem(w.Item), rand.Text()
	item["written"] = str(mark)
	in := &dynamodb.PutItemInput{
		TableName:                           aws.String(h.table),
		Item:                                item,
		ConditionExpression:                 aws.String("attribute_not_exists(version)"),
		ReturnValuesOnConditionCheckFailure: allOld,
	}
	if w.If != 0 {
		in.ConditionExpression = aws.String("version = :if")
		in.ExpressionAttributeValues = attributes{":if": num(w.If)}
	}
	_, err := h.client.PutItem(ctx, in)
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) && getStr(refused.Item, "written") == mark {
		err = nil
	}
	return healthItemOf(item), err
}

const clearFailing = "#state = :failing AND attribute_not_exists(paused) AND attribute_not_exists(held) AND " +
	"attribute_not_exists(discarded_before)"

func (h *Health) remove(ctx context.Context, w health.Write, condition string, values attributes) error {
	in := &dynamodb.DeleteItemInput{
		TableName:                           aws.String(h.table),
		Key:                                 healthKey(w.Item),
		ConditionExpression:                 aws.String(condition),
		ExpressionAttributeValues:           values,
		ReturnValuesOnConditionCheckFailure: allOld,
	}
	if condition == clearFailing {
		in.ExpressionAttributeNames = map[string]string{"#state": "state"}
	}
	_, err := h.client.DeleteItem(ctx, in)
	return err
}

func (h *Health) clearRun(ctx context.Context, w health.Write) (health.Item, error) {
	out, err := h.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(h.table),
		Key:       healthKey(w.Item),
		UpdateExpression: aws.String(
			"SET version = version + :one REMOVE failures, failing_since, failed_at, deliveries"),
		ConditionExpression:                 aws.String("#state = :recovering"),
		ExpressionAttributeNames:            map[string]string{"#state": "state"},
		ExpressionAttributeValues:           attributes{":one": num(1), ":recovering": str(string(health.Recovering))},
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: allOld,
	})
	if err != nil {
		return health.Item{}, err
	}
	return healthItemOf(out.Attributes), nil
}

// Trouble returns the items of endpoints and tenants, in no order, strongly consistent: about
// limit of them, all with 0. next is "" after the last page.
func (h *Health) Trouble(ctx context.Context, limit int, cursor string) (items []health.Item, next string, err error) {
	start, err := decodeCursor(cursor, "scope", "name")
	if err != nil {
		return nil, "", err
	}
	for {
		in := &dynamodb.ScanInput{
			TableName:                 aws.String(h.table),
			FilterExpression:          aws.String("#name = :health"), // not the notes
			ExpressionAttributeNames:  map[string]string{"#name": "name"},
			ExpressionAttributeValues: attributes{":health": str(healthName)},
			ConsistentRead:            aws.Bool(true),
			ExclusiveStartKey:         start,
		}
		if limit > 0 {
			in.Limit = aws.Int32(int32(limit - len(items))) //nolint:gosec // small
		}
		out, err := h.client.Scan(ctx, in)
		if err != nil {
			return nil, "", fmt.Errorf("looking for trouble: %w", err)
		}
		for _, item := range out.Items {
			items = append(items, healthItemOf(item))
		}
		start = out.LastEvaluatedKey
		if len(start) == 0 || limit > 0 && len(items) >= limit {
			return items, encodeCursor(start), nil
		}
	}
}
