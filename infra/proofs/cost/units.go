package cost

import (
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

const writeUnit = 1024 // bytes

// asking has a call to DynamoDB report its consumption, and says whether it is one.
func asking(in middleware.InitializeInput) (asks middleware.InitializeInput, does bool) {
	call := reflect.New(reflect.TypeOf(in.Parameters).Elem())
	call.Elem().Set(reflect.ValueOf(in.Parameters).Elem())
	ask := call.Elem().FieldByName("ReturnConsumedCapacity")
	if !ask.IsValid() {
		return in, false
	}
	ask.Set(reflect.ValueOf(types.ReturnConsumedCapacityTotal))
	in.Parameters = call.Interface()
	return in, true
}

// units are counts of DynamoDB's, by table.
type units map[string]float64

// of is the usage of units, and says which tables have provisioned capacity.
func (n units) of(onDemand, provisioned kind, tables map[string]bool) (u usage) {
	for table, count := range n {
		if tables[table] {
			u[provisioned] += count
		} else {
			u[onDemand] += count
		}
	}
	return u
}

// consumed are the units that a call to DynamoDB reports, and those that DynamoDB Local leaves out: one for a read of a
// missing item, or half if the read is eventually consistent (Developer Guide, "DynamoDB read and write operations").
// Some tables have provisioned capacity.
func consumed(call, result any, provisioned map[string]bool) usage {
	n := reported(result)
	one := func(table *string, consistent *bool) {
		n[aws.ToString(table)] = max(n[aws.ToString(table)], least(consistent))
	}
	switch in := call.(type) {
	case *dynamodb.GetItemInput:
		one(in.TableName, in.ConsistentRead)
	case *dynamodb.QueryInput:
		one(in.TableName, in.ConsistentRead)
	case *dynamodb.ScanInput:
		one(in.TableName, in.ConsistentRead)
	case *dynamodb.BatchGetItemInput:
		out := result.(*dynamodb.BatchGetItemOutput)
		for table, ask := range in.RequestItems {
			missing := len(ask.Keys) - len(out.Responses[table]) - len(out.UnprocessedKeys[table].Keys)
			n[table] += float64(missing) * least(ask.ConsistentRead)
		}
	default:
		return n.of(writes, provisionedWrites, provisioned)
	}
	return n.of(reads, provisionedReads, provisioned)
}

func least(consistent *bool) float64 {
	if aws.ToBool(consistent) {
		return 1
	}
	return 0.5
}

func reported(result any) units {
	n := units{}
	field := reflect.ValueOf(result).Elem().FieldByName("ConsumedCapacity")
	if !field.IsValid() {
		return n
	}
	var all []types.ConsumedCapacity
	switch capacity := field.Interface().(type) {
	case *types.ConsumedCapacity:
		if capacity != nil {
			all = []types.ConsumedCapacity{*capacity}
		}
	case []types.ConsumedCapacity:
		all = capacity
	}
	for _, of := range all {
		n[aws.ToString(of.TableName)] += aws.ToFloat64(of.CapacityUnits)
	}
	return n
}

type attributes = map[string]types.AttributeValue

// size is DynamoDB's size of an item, in bytes (Developer Guide, "DynamoDB item sizes and formats"), without the
// overhead of each stored item.
func size(of attributes) (bytes int) {
	for name, value := range of {
		bytes += len(name) + valueSize(value)
	}
	return bytes
}

func valueSize(value types.AttributeValue) int {
	const container, element = 3, 1
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN: // a byte for two digits, one more, one for a sign
		return len(strings.Trim(v.Value, "-.0"))/2 + 1 + strings.Count(v.Value, "-") + 1
	case *types.AttributeValueMemberL:
		bytes := container
		for _, entry := range v.Value {
			bytes += element + valueSize(entry)
		}
		return bytes
	case *types.AttributeValueMemberM:
		return container + element*len(v.Value) + size(v.Value)
	}
	return 1 // a boolean, or null
}
