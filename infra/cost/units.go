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

// consumed are the units that a call to DynamoDB reports, and those that DynamoDB Local leaves out: one for a read of a
// missing item, or half if the read is eventually consistent (Developer Guide, "DynamoDB read and write operations").
func consumed(call, result any) (u usage) {
	units := reported(result)
	switch in := call.(type) {
	case *dynamodb.GetItemInput:
		u[reads] = max(units, least(in.ConsistentRead))
	case *dynamodb.QueryInput:
		u[reads] = max(units, least(in.ConsistentRead))
	case *dynamodb.ScanInput:
		u[reads] = max(units, least(in.ConsistentRead))
	case *dynamodb.BatchGetItemInput:
		u[reads] = units
		out := result.(*dynamodb.BatchGetItemOutput)
		for table, ask := range in.RequestItems {
			missing := len(ask.Keys) - len(out.Responses[table]) - len(out.UnprocessedKeys[table].Keys)
			u[reads] += float64(missing) * least(ask.ConsistentRead)
		}
	default:
		u[writes] = units
	}
	return u
}

func least(consistent *bool) float64 {
	if aws.ToBool(consistent) {
		return 1
	}
	return 0.5
}

func reported(result any) (units float64) {
	field := reflect.ValueOf(result).Elem().FieldByName("ConsumedCapacity")
	if !field.IsValid() {
		return 0
	}
	switch capacity := field.Interface().(type) {
	case *types.ConsumedCapacity:
		if capacity != nil {
			units = aws.ToFloat64(capacity.CapacityUnits)
		}
	case []types.ConsumedCapacity:
		for _, of := range capacity {
			units += aws.ToFloat64(of.CapacityUnits)
		}
	}
	return units
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
