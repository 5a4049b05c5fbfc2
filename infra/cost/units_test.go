package cost

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

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
