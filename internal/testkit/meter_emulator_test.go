//go:build emulator

package testkit_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit"
)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func TestMeter_Units(t *testing.T) {
	cfg := testkit.Moto(t)
	table := testkit.Tables(t, cfg).Backlog
	var client *dynamodb.Client // of each step
	key := map[string]types.AttributeValue{"endpoint_shard": text("e#0"), "position": text("p")}
	item := func(due, body string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{
			"endpoint_shard": text("e#0"), "position": text("p"), "due_shard": text("0"), "due_at": text(due),
			"body": text(body),
		}
	}
	put := func(due, body, condition string) error {
		in := &dynamodb.PutItemInput{TableName: &table, Item: item(due, body)}
		if condition != "" {
			in.ConditionExpression = &condition
		}
		_, err := client.PutItem(t.Context(), in)
		return err
	}
	kb := strings.Repeat("x", 1024)
	for _, step := range []struct {
		name        string
		call        func() error
		table, want int // units of the table, and of its index of keys
	}{
		{"a new item of two kilobytes", func() error { return put("1", kb, "") }, 2, 1},
		{"one attribute outside the index", func() error { return put("1", "x", "") }, 2, 0},
		{"another key of the index", func() error { return put("2", "x", "") }, 1, 2},
		{"a refused write", func() error {
			if put("3", "x", "attribute_not_exists(position)") == nil {
				t.Error("the write was not refused")
			}
			return nil
		}, 1, 0},
		{"an update that leaves the index", func() error {
			_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: &table, Key: key, UpdateExpression: aws.String("REMOVE due_at"),
			})
			return err
		}, 1, 1},
		{"a batch", func() error {
			_, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{table: {{PutRequest: &types.PutRequest{Item: item("1", kb+kb)}}}},
			})
			return err
		}, 3, 1},
		{"a removal", func() error {
			_, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: key})
			return err
		}, 3, 1},
		{"a removal of nothing", func() error {
			_, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: key})
			return err
		}, 1, 0},
		{"a read", func() error {
			_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key})
			return err
		}, 0, 0},
	} {
		meter := testkit.NewMeter(t, cfg)
		client = dynamodb.NewFromConfig(meter.Config())
		if err := step.call(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		want := map[string]int{}
		if step.table > 0 {
			want[table] = step.table
		}
		if step.want > 0 {
			want[table+"/by-due"] = step.want
		}
		if diff := cmp.Diff(want, meter.Units()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", step.name, diff)
		}
	}
}

func TestMeter_Reads(t *testing.T) {
	cfg := testkit.Moto(t)
	meter, table := testkit.NewMeter(t, cfg), testkit.Tables(t, cfg).EndpointHealth
	client := dynamodb.NewFromConfig(meter.Config())
	keyOf := func(name string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"scope": text("s"), "name": text(name)}
	}
	for _, name := range []string{"a", "b", "c"} {
		item := keyOf(name)
		item["filler"] = text(strings.Repeat("x", 3000))
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	get := func(name string, consistent bool) error {
		in := &dynamodb.GetItemInput{TableName: &table, Key: keyOf(name), ConsistentRead: &consistent}
		_, err := client.GetItem(t.Context(), in)
		return err
	}
	filtered := aws.String("#name = :nobody")
	nobody := map[string]types.AttributeValue{":s": text("s"), ":nobody": text("n")}
	total := 0.0
	for _, step := range []struct {
		name string
		call func() error
		want float64
	}{
		{"strongly consistent", func() error { return get("a", true) }, 1},
		{"not", func() error { return get("a", false) }, 0.5},
		{"what is not there", func() error { return get("z", true) }, 1},
		{"a batch is billed by item", func() error {
			keys := []map[string]types.AttributeValue{keyOf("a"), keyOf("b"), keyOf("z")}
			_, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys, ConsistentRead: aws.Bool(true)}},
			})
			return err
		}, 3},
		{"a query by the sum before its filter", func() error {
			_, err := client.Query(t.Context(), &dynamodb.QueryInput{
				TableName: &table, KeyConditionExpression: aws.String("#scope = :s"),
				FilterExpression:         aws.String("filler = :nobody"),
				ExpressionAttributeNames: map[string]string{"#scope": "scope"}, ExpressionAttributeValues: nobody,
			})
			return err
		}, 1.5},
		{"a scan, likewise", func() error {
			_, err := client.Scan(t.Context(), &dynamodb.ScanInput{
				TableName: &table, FilterExpression: filtered, ConsistentRead: aws.Bool(true),
				ExpressionAttributeNames:  map[string]string{"#name": "name"},
				ExpressionAttributeValues: map[string]types.AttributeValue{":nobody": text("n")},
			})
			return err
		}, 3},
	} {
		if err := step.call(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		total += step.want
		if diff := cmp.Diff(map[string]float64{table: total}, meter.Reads()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", step.name, diff)
		}
	}
}
