//go:build emulator

package testkit_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/testkit"
)

func TestDropAnswer_performsTheCallAndThrottleDoesNot(t *testing.T) {
	cfg := testkit.Moto(t)
	names := testkit.Tables(t, cfg)
	faults := testkit.NewFaults(cfg)
	once := faults.Config()
	once.RetryMaxAttempts = 1
	for name, test := range map[string]struct {
		fault     testkit.Fault
		performed bool
	}{
		"drop answer": {testkit.DropAnswer(), true},
		"throttle":    {testkit.Throttle(), false},
	} {
		faults.Clear()
		faults.On("PutItem", 0, test.fault)
		if err := put(t, once, names.ApiKeys, name); err == nil {
			t.Errorf("%s: the client got an answer", name)
		}
		got, err := dynamodb.NewFromConfig(cfg).GetItem(t.Context(),
			&dynamodb.GetItemInput{TableName: &names.ApiKeys, Key: item(name)})
		if err != nil || (got.Item != nil) != test.performed {
			t.Errorf("%s: written %v (%v), want %v", name, got.Item != nil, err, test.performed)
		}
	}
}

func TestUnprocessed_itemsAndKeys(t *testing.T) {
	cfg := testkit.Moto(t)
	names := testkit.Tables(t, cfg)
	faults := testkit.NewFaults(cfg)
	client := dynamodb.NewFromConfig(faults.Config())
	var writes []types.WriteRequest
	var reads []map[string]types.AttributeValue
	for i := range 5 {
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item(fmt.Sprint(i))}})
		reads = append(reads, item(fmt.Sprint(i)))
	}
	for _, done := range []int{0, 3} {
		faults.Clear()
		faults.On("BatchWriteItem", 1, testkit.Unprocessed(done))
		wrote, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{names.ApiKeys: writes},
		})
		if err != nil || len(wrote.UnprocessedItems[names.ApiKeys]) != 5-done {
			t.Fatalf("write: %d unprocessed (%v), want %d", len(wrote.UnprocessedItems[names.ApiKeys]), err, 5-done)
		}
	}
	for done, found := range map[int]int{0: 0, 2: 2, 4: 3} {
		faults.Clear()
		faults.On("BatchGetItem", 1, testkit.Unprocessed(done))
		read, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{names.ApiKeys: {Keys: reads, ConsistentRead: aws.Bool(true)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		left := read.UnprocessedKeys[names.ApiKeys]
		if len(left.Keys) != 5-done || !aws.ToBool(left.ConsistentRead) || len(read.Responses[names.ApiKeys]) != found {
			t.Errorf("read: %d unprocessed, %d found, want %d and %d", len(left.Keys), len(read.Responses[names.ApiKeys]),
				5-done, found)
		}
	}
}

func item(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"key_id": &types.AttributeValueMemberS{Value: id}}
}

func put(t *testing.T, cfg aws.Config, table, id string) error {
	t.Helper()
	_, err := dynamodb.NewFromConfig(cfg).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item(id)})
	return err
}
