package cost

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestConsumed(t *testing.T) {
	of := func(units float64) *types.ConsumedCapacity { return &types.ConsumedCapacity{CapacityUnits: &units} }
	in := func(table string, units float64) types.ConsumedCapacity {
		return types.ConsumedCapacity{TableName: &table, CapacityUnits: &units}
	}
	three := map[string]types.KeysAndAttributes{"T": {Keys: make([]attributes, 3), ConsistentRead: aws.Bool(true)}}
	write := in("P", 3)
	one := map[string][]attributes{"T": {{}}}
	two := map[string]types.KeysAndAttributes{"T": three["T"], "P": three["T"]}
	for name, row := range map[string]struct {
		call, result any
		want         usage
	}{
		"a write and its index entry": {
			&dynamodb.PutItemInput{}, &dynamodb.PutItemOutput{ConsumedCapacity: of(3)}, usage{writes: 3},
		},
		"a batch of writes to two tables": {
			&dynamodb.BatchWriteItemInput{},
			&dynamodb.BatchWriteItemOutput{ConsumedCapacity: []types.ConsumedCapacity{*of(2), *of(4)}}, usage{writes: 6},
		},
		"a read": {&dynamodb.GetItemInput{}, &dynamodb.GetItemOutput{ConsumedCapacity: of(2.5)}, usage{reads: 2.5}},
		"a query that finds nothing": {
			&dynamodb.QueryInput{}, &dynamodb.QueryOutput{ConsumedCapacity: of(0)}, usage{reads: 0.5},
		},
		"a batch of reads of which one is there": {
			&dynamodb.BatchGetItemInput{RequestItems: three},
			&dynamodb.BatchGetItemOutput{Responses: one, ConsumedCapacity: []types.ConsumedCapacity{*of(2)}}, usage{reads: 4},
		},
		"a batch of reads of which one table has provisioned capacity": {
			&dynamodb.BatchGetItemInput{RequestItems: two},
			&dynamodb.BatchGetItemOutput{ConsumedCapacity: []types.ConsumedCapacity{in("T", 1), in("P", 2)}},
			usage{reads: 1 + 3, provisionedReads: 2 + 3},
		},
		"a write to a table with provisioned capacity": {
			&dynamodb.PutItemInput{}, &dynamodb.PutItemOutput{ConsumedCapacity: &write}, usage{provisionedWrites: 3},
		},
	} {
		if got := consumed(row.call, row.result, map[string]bool{"P": true}); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// The numbers are those of the Developer Guide's rules, counted by hand.
func TestSize(t *testing.T) {
	item := attributes{
		"s": &types.AttributeValueMemberS{Value: "\u00e4b"}, "n": &types.AttributeValueMemberN{Value: "-12345"},
		"b": &types.AttributeValueMemberB{Value: make([]byte, 5)}, "t": &types.AttributeValueMemberBOOL{Value: true},
		"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberS{Value: "abc"}}},
		"m": &types.AttributeValueMemberM{Value: attributes{"k": &types.AttributeValueMemberS{Value: "v"}}},
	}
	if got, want := size(item), 6+3+5+5+1+(3+1+3)+(3+1+2); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}
