package testkit

import (
	"strings"

	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const unit = 1024 // bytes of one write unit

func units(of item) int { return (size(of) + unit - 1) / unit }

// ItemSize is DynamoDB's size of an item, in bytes (Developer Guide, "DynamoDB item sizes and formats"), without the
// overhead of each stored item.
func ItemSize(of map[string]dynamotypes.AttributeValue) int { return size(of) }

func size(of item) int {
	bytes := 0
	for name, value := range of {
		bytes += len(name) + valueSize(value)
	}
	return bytes
}

func valueSize(value dynamotypes.AttributeValue) int {
	const container, element = 3, 1
	switch v := value.(type) {
	case *dynamotypes.AttributeValueMemberS:
		return len(v.Value)
	case *dynamotypes.AttributeValueMemberB:
		return len(v.Value)
	case *dynamotypes.AttributeValueMemberN: // a byte for two digits, one more, one for a sign
		return len(strings.Trim(v.Value, "-.0"))/2 + 1 + strings.Count(v.Value, "-") + 1
	case *dynamotypes.AttributeValueMemberL:
		bytes := container
		for _, entry := range v.Value {
			bytes += element + valueSize(entry)
		}
		return bytes
	case *dynamotypes.AttributeValueMemberM:
		return container + element*len(v.Value) + size(v.Value)
	}
	return 1 // a boolean, or null
}
