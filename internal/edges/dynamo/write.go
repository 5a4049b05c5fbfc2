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

// condition decides whether an item is written. The zero condition allows every write. A refused write changes nothing
// and returns the stored item.
type condition struct {
	holds  string
	values given
}

// update is a change of one item by an expression, under a condition.
type update struct {
	expression string
	condition  string

	// values are the values of both expressions.
	values given

	// leaves are the attributes after the update; nil stands for a removed one. The SDK repeats a call if its answer is
	// lost, and DynamoDB may then refuse the second call because the first one was applied. A refused update of an item
	// with all these attributes therefore counts as applied. Without leaves, it counts as refused.
	leaves attributes

	// returns selects the attributes in the answer to an applied update; "" selects none.
	returns types.ReturnValue
}

// row is a change of one item to the attributes of a tagged struct. Attributes outside of owned stay unchanged.
type row struct {
	from any

	// owned are the attributes that the row writes. An owned attribute that from lacks is removed.
	owned []string

	// appends names an owned list. The elements in from are appended to the stored list.
	appends string

	condition
	returns types.ReturnValue
}

const asItIs = types.ReturnValuesOnConditionCheckFailureAllOld

// updateItem makes an update. It returns the attributes that u.returns selects or, if applied is false, the stored
// item.
func (t table) updateItem(ctx context.Context, key attributes, u update) (item attributes, applied bool, err error) {
	out, err := t.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &t.name, Key: key,
		UpdateExpression: &u.expression, ConditionExpression: optional(u.condition),
		ExpressionAttributeNames: names(u.expression, u.condition), ExpressionAttributeValues: u.values.encoded(),
		ReturnValues: u.returns, ReturnValuesOnConditionCheckFailure: asItIs,
	})
	if err == nil {
		return out.Attributes, true, nil
	}
	stored, refused := storedBehind(err)
	if !refused {
		return nil, false, t.wrap(err)
	}
	return stored, has(stored, u.leaves), nil
}

// updateRow is updateItem for a row.
func (t table) updateRow(ctx context.Context, key attributes, r row) (item attributes, applied bool, err error) {
	u, err := r.update()
	if err != nil {
		return nil, false, err
	}
	return t.updateItem(ctx, key, u)
}

// updateAs is updateItem for an item that is returned as a tagged struct.
func updateAs[T any](ctx context.Context, t table, key attributes, u update) (v T, applied bool, err error) {
	u.returns = types.ReturnValueAllNew
	item, applied, err := t.updateItem(ctx, key, u)
	if err != nil {
		return v, false, err
	}
	v, err = decode[T](item)
	return v, applied && err == nil, err
}

// put stores a tagged struct in place of any item with its key. If stored is false, was is the item that stands there.
func (t table) put(ctx context.Context, v any, when condition) (was attributes, stored bool, err error) {
	item, err := marshal(v)
	if err != nil {
		return nil, false, err
	}
	_, err = t.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &t.name, Item: item, ConditionExpression: optional(when.holds),
		ExpressionAttributeNames: names(when.holds), ExpressionAttributeValues: when.values.encoded(),
		ReturnValuesOnConditionCheckFailure: asItIs,
	})
	if err == nil {
		return nil, true, nil
	}
	was, refused := storedBehind(err)
	if !refused {
		return nil, false, t.wrap(err)
	}
	return was, has(was, item), nil
}

// deleteItem deletes an item. A missing item counts as deleted.
func (t table) deleteItem(ctx context.Context, key attributes, when condition) (deleted bool, err error) {
	_, err = t.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &t.name, Key: key, ConditionExpression: optional(when.holds),
		ExpressionAttributeNames: names(when.holds), ExpressionAttributeValues: when.values.encoded(),
		ReturnValuesOnConditionCheckFailure: asItIs,
	})
	if err == nil {
		return true, nil
	}
	stored, refused := storedBehind(err)
	if !refused {
		return false, t.wrap(err)
	}
	return len(stored) == 0, nil
}

// storedBehind returns the item that did not meet the condition of a write. refused is false for every other error.
func storedBehind(err error) (stored attributes, refused bool) {
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		return nil, false
	}
	return failed.Item, true
}

// has reports whether an item has all these attributes. It is false for none.
func has(item, wanted attributes) bool {
	for name, value := range wanted {
		if !reflect.DeepEqual(item[name], value) {
			return false
		}
	}
	return len(wanted) > 0
}

// update is the row's expression.
func (r row) update() (update, error) {
	item, err := marshal(r.from)
	if err != nil {
		return update{}, err
	}
	u := update{condition: r.holds, values: given{}, leaves: attributes{}, returns: r.returns}
	maps.Copy(u.values, r.values)
	var set, remove []string
	for _, name := range r.owned {
		u.leaves[name] = item[name]
		if item[name] == nil {
			remove = append(remove, "#"+name)
			continue
		}
		term := ":" + name
		if name == r.appends {
			term = "list_append(#" + name + ", :" + name + ")"
		}
		set = append(set, "#"+name+" = "+term)
		u.values[":"+name] = item[name]
	}
	u.expression = "SET " + strings.Join(set, ", ")
	if len(remove) > 0 {
		u.expression += " REMOVE " + strings.Join(remove, ", ")
	}
	return u, nil
}

// namesOf are the attributes in the tags of a struct, without some of them.
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
