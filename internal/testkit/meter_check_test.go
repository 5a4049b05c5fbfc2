package testkit

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
)

// noted is a test that notes whether it has failed.
type noted struct {
	testing.TB
	failed bool
}

func (n *noted) Errorf(string, ...any) { n.failed = true }

func TestMeter_complainsWhereTheServerSaysOtherwise(t *testing.T) {
	capacity := func(table, index float64) *types.ConsumedCapacity {
		return &types.ConsumedCapacity{
			TableName: aws.String("T"), Table: &types.Capacity{CapacityUnits: &table},
			GlobalSecondaryIndexes: map[string]types.Capacity{"i": {CapacityUnits: &index}},
		}
	}
	for name, row := range map[string]struct {
		check func(m *Meter)
		want  bool
	}{
		"a write and its index entry": {func(m *Meter) {
			m.checkWrites(&dynamodb.PutItemOutput{ConsumedCapacity: capacity(2, 1)}, map[string]int{"T": 5, "U": 1})
		}, false},
		"another index entry": {func(m *Meter) {
			m.checkWrites(&dynamodb.PutItemOutput{ConsumedCapacity: capacity(2, 2)}, map[string]int{"T": 5, "U": 1})
		}, true},
		"a query of an index": {func(m *Meter) {
			m.checkReads(&dynamodb.QueryOutput{ConsumedCapacity: capacity(0, 2)}, []reading{{"T", []int{5000}, 1}})
		}, false},
		"a query that finds nothing": {func(m *Meter) {
			m.checkReads(&dynamodb.QueryOutput{}, []reading{{"T", []int{0}, 1}})
		}, false},
		"an item that is not there": {func(m *Meter) {
			m.checkReads(&dynamodb.GetItemOutput{ConsumedCapacity: capacity(0.5, 0)}, []reading{{"T", []int{0}, 0.5}})
		}, false},
		"a batch of which one is not there": {func(m *Meter) {
			m.checkReads(&dynamodb.BatchGetItemOutput{ConsumedCapacity: []types.ConsumedCapacity{*capacity(1, 0)}},
				[]reading{{"T", []int{100, 0}, 1}})
		}, false},
		"a batch that cost more": {func(m *Meter) {
			m.checkReads(&dynamodb.BatchGetItemOutput{ConsumedCapacity: []types.ConsumedCapacity{*capacity(2, 0)}},
				[]reading{{"T", []int{100, 0}, 1}})
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			verdict := &noted{TB: t}
			row.check(&Meter{t: verdict, units: map[string]int{"T": 7, "T/i": 1, "U": 1}})
			if verdict.failed != row.want {
				t.Errorf("complained: %v, want %v", verdict.failed, row.want)
			}
		})
	}
}

func TestAsking_changesNoCallOfOthers(t *testing.T) {
	in := &dynamodb.PutItemInput{TableName: aws.String("T")}
	want := &dynamodb.PutItemInput{TableName: aws.String("T"), ReturnConsumedCapacity: "INDEXES"}
	if diff := cmp.Diff(want, asking(in), cmp.AllowUnexported(dynamodb.PutItemInput{})); diff != "" ||
		in.ReturnConsumedCapacity != "" {
		t.Errorf("changed: %v (-want +got)\n%s", in.ReturnConsumedCapacity, diff)
	}
}
