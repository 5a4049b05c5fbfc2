package dynamo

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// write is a write of one item under a condition. Where that does not hold, the item is returned as it is; if the item
// has everything that the write sets, the SDK has repeated a call whose answer was lost, and the write was applied.
type write struct {
	condition  string
	values     given
	expression string            // of an update
	row        any               // instead of an expression, a tagged struct
	owned      []string          // the row's attributes that are set or, where it has none, removed
	appends    string            // an owned list, to which the row's is appended
	sets       attributes        // values that an update leaves behind; nil: it removes the attribute
	returns    types.ReturnValue // of an update; "": nothing
}

const asItIs = types.ReturnValuesOnConditionCheckFailureAllOld

func (t table) updateItem(ctx context.Context, key attributes, w write) (item attributes, applied bool, err error) {
	if w, err = w.ofRow(); err != nil {
		return nil, false, err
	}
	in := &dynamodb.UpdateItemInput{
		TableName: &t.name, Key: key,
		UpdateExpression: &w.expression, ConditionExpression: optional(w.condition),
		ExpressionAttributeNames: names(w.expression, w.condition), ExpressionAttributeValues: w.values.encoded(),
		ReturnValues: w.returns, ReturnValuesOnConditionCheckFailure: asItIs,
	}
	out, err := t.client.UpdateItem(ctx, in)
	if err != nil {
		return t.refused(err, w.sets)
	}
	return out.Attributes, true, nil
}

// update is updateItem of an item that is returned as a tagged struct.
func update[T any](ctx context.Context, t table, key attributes, w write) (v T, applied bool, err error) {
	w.returns = types.ReturnValueAllNew
	item, applied, err := t.updateItem(ctx, key, w)
	if err != nil {
		return v, false, err
	}
	v, err = decode[T](item)
	return v, applied && err == nil, err
}

// put stores a tagged struct.
func (t table) put(ctx context.Context, row any, w write) (was attributes, stored bool, err error) {
	item, err := marshal(row)
	if err != nil {
		return nil, false, err
	}
	_, err = t.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &t.name, Item: item, ConditionExpression: optional(w.condition),
		ExpressionAttributeNames: names(w.condition), ExpressionAttributeValues: w.values.encoded(),
		ReturnValuesOnConditionCheckFailure: asItIs,
	})
	return t.refused(err, item)
}

// deleteItem deletes an item. One that is gone counts as deleted.
func (t table) deleteItem(ctx context.Context, key attributes, w write) (deleted bool, err error) {
	_, err = t.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &t.name, Key: key, ConditionExpression: optional(w.condition),
		ExpressionAttributeNames: names(w.condition), ExpressionAttributeValues: w.values.encoded(),
		ReturnValuesOnConditionCheckFailure: asItIs,
	})
	item, _, err := t.refused(err, nil)
	return err == nil && len(item) == 0, err
}

// refused tells a condition that did not hold from an error, and from a write of sets that was applied before.
func (t table) refused(err error, sets attributes) (item attributes, applied bool, _ error) {
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		return nil, err == nil, t.wrap(err)
	}
	for name, value := range sets {
		if !reflect.DeepEqual(failed.Item[name], value) {
			return failed.Item, false, nil
		}
	}
	return failed.Item, len(sets) > 0, nil
}

// ofRow is the write with the expression for its row.
func (w write) ofRow() (write, error) {
	if w.row == nil {
		return w, nil
	}
	item, err := marshal(w.row)
	if err != nil {
		return write{}, err
	}
	values := given{}
	maps.Copy(values, w.values)
	w.values, w.sets = values, attributes{}
	var set, remove []string
	for _, name := range w.owned {
		if w.sets[name] = item[name]; item[name] == nil {
			remove = append(remove, "#"+name)
			continue
		}
		term := ":" + name
		if name == w.appends {
			term = "list_append(#" + name + ", :" + name + ")"
		}
		set = append(set, "#"+name+" = "+term)
		w.values[":"+name] = item[name]
	}
	w.expression = "SET " + strings.Join(set, ", ")
	if len(remove) > 0 {
		w.expression += " REMOVE " + strings.Join(remove, ", ")
	}
	return w, nil
}

// namesOf are the attributes that the tags of a struct name, without some of them.
func namesOf[T any](without ...string) []string {
	skip := map[string]bool{"": true, "-": true}
	for _, name := range without {
		skip[name] = true
	}
	var named []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name, _, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
		if !skip[name] {
			named = append(named, name)
		}
	}
	return named
}
