package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// table makes the calls of the stores to one table. Its errors name the table; the SDK's name the call.
type table struct {
	client *dynamodb.Client
	name   string
}

// wrap names the table of an error.
func (t table) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("table %s: %w", t.name, err)
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// getItem returns the item with the key, strongly consistent; empty where there is none.
func (t table) getItem(ctx context.Context, key attributes) (attributes, error) {
	return t.getFields(ctx, key, "", nil)
}

// getFields is getItem of some attributes only; "" means all.
func (t table) getFields(
	ctx context.Context, key attributes, fields string, names map[string]string,
) (attributes, error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.name, Key: key, ConsistentRead: aws.Bool(true),
		ProjectionExpression: optional(fields), ExpressionAttributeNames: names,
	})
	if err != nil {
		return nil, t.wrap(err)
	}
	return out.Item, nil
}

// write is a write of one item under a condition.
type write struct {
	expression string // of an update
	condition  string
	names      map[string]string
	values     attributes
	blind      bool // asks for no attribute of the item
	terse      bool // asks for the item only where it is refused
}

// answers are the attributes that a write asks for.
func (w write) answers() (written types.ReturnValue, refused types.ReturnValuesOnConditionCheckFailure) {
	switch {
	case w.blind:
		return types.ReturnValueNone, types.ReturnValuesOnConditionCheckFailureNone
	case w.terse:
		return types.ReturnValueNone, types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return types.ReturnValueAllNew, types.ReturnValuesOnConditionCheckFailureAllOld
}

// updateItem changes an item. item is the item after it or, where the condition did not hold, as it is.
func (t table) updateItem(ctx context.Context, key attributes, w write) (item attributes, refused bool, err error) {
	written, refusal := w.answers()
	out, err := t.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &t.name, Key: key,
		UpdateExpression: &w.expression, ConditionExpression: optional(w.condition),
		ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values,
		ReturnValues: written, ReturnValuesOnConditionCheckFailure: refusal,
	})
	if err != nil {
		return t.refused(err)
	}
	return out.Attributes, false, nil
}

// putItem stores an item. Where the condition did not hold and w is terse, was is the item as it is.
func (t table) putItem(ctx context.Context, item attributes, w write) (was attributes, refused bool, err error) {
	in := &dynamodb.PutItemInput{
		TableName: &t.name, Item: item, ConditionExpression: optional(w.condition),
		ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values,
	}
	if w.terse {
		in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	_, err = t.client.PutItem(ctx, in)
	return t.refused(err)
}

// deleteItem deletes an item. Where the condition did not hold, item is the item as it is.
func (t table) deleteItem(ctx context.Context, key attributes, w write) (item attributes, refused bool, err error) {
	_, refusal := w.answers()
	_, err = t.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &t.name, Key: key, ConditionExpression: optional(w.condition),
		ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values,
		ReturnValuesOnConditionCheckFailure: refusal,
	})
	return t.refused(err)
}

// refused tells a condition that did not hold from an error.
func (t table) refused(err error) (item attributes, refused bool, _ error) {
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return failed.Item, true, nil
	}
	return nil, false, t.wrap(err)
}

// query reads a page of a table, strongly consistent, or of an index.
type query struct {
	index     string
	condition string
	filter    string // of the page that the condition cut out
	fields    string // "" means all
	names     map[string]string
	values    attributes
	limit     int
	backwards bool
	behind    bool // the table may be read a little behind
	start     attributes
}

// query returns a page and the key behind which the next one begins.
func (t table) query(ctx context.Context, q query) (items []attributes, last attributes, err error) {
	out, err := t.client.Query(ctx, t.input(q))
	if err != nil {
		return nil, nil, t.wrap(err)
	}
	return out.Items, out.LastEvaluatedKey, nil
}

// count is query of the number of items.
func (t table) count(ctx context.Context, q query) (n int, last attributes, err error) {
	in := t.input(q)
	in.Select = types.SelectCount
	out, err := t.client.Query(ctx, in)
	if err != nil {
		return 0, nil, t.wrap(err)
	}
	return int(out.Count), out.LastEvaluatedKey, nil
}

func (t table) input(q query) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName: &t.name, IndexName: optional(q.index), KeyConditionExpression: &q.condition,
		FilterExpression: optional(q.filter), ProjectionExpression: optional(q.fields),
		ExpressionAttributeNames: q.names, ExpressionAttributeValues: q.values,
		ScanIndexForward: aws.Bool(!q.backwards), ConsistentRead: aws.Bool(q.index == "" && !q.behind),
		ExclusiveStartKey: q.start,
	}
	if q.limit > 0 {
		in.Limit = aws.Int32(int32(q.limit)) //nolint:gosec // small
	}
	return in
}
