package awscall_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/awscall"
)

type putInput struct {
	table string
	items []awscall.Item
}

// asBatchWrite is what PutItems stands for.
func (p *putInput) asBatchWrite() *dynamodb.BatchWriteItemInput {
	writes := make([]types.WriteRequest, len(p.items))
	for i, item := range p.items {
		writes[i].PutRequest = &types.PutRequest{Item: item.Map()}
	}
	return &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{p.table: writes}}
}

func ofPutItems(tables *awscall.DynamoDB) calls[putInput, dynamodb.BatchWriteItemOutput] {
	return calls[putInput, dynamodb.BatchWriteItemOutput]{
		sdk: func(ctx context.Context, in *putInput) (*dynamodb.BatchWriteItemOutput, error) {
			return tables.Client.BatchWriteItem(ctx, in.asBatchWrite())
		},
		ours: func(ctx context.Context, in *putInput) (*dynamodb.BatchWriteItemOutput, error) {
			return tables.PutItems(ctx, in.table, in.items)
		},
	}
}

func TestDynamoDB_PutItems_asksWhatTheSDKAsks(t *testing.T) {
	f := newFakeAWS(t)
	tables, _ := clients(t, f.config())
	attribute := rapid.Custom(func(t *rapid.T) awscall.Attribute {
		return awscall.Attribute{
			Name: rapid.String().Draw(t, "name"), Value: rapid.String().Draw(t, "value"), Number: rapid.Bool().Draw(t, "number"),
		}
	})
	item := rapid.SliceOfNDistinct(attribute, 1, 4, func(a awscall.Attribute) string { return a.Name })
	rapid.Check(t, func(r *rapid.T) {
		var items []awscall.Item
		for _, attributes := range rapid.SliceOfN(item, 1, 3).Draw(r, "items") {
			items = append(items, attributes)
		}
		in := &putInput{rapid.StringN(1, 9, -1).Draw(r, "table"), items}
		agree(r, f, in, ok("{}"), ofPutItems(tables))
	})
}

var one = putInput{table: "T", items: []awscall.Item{{{Name: "id", Value: "1"}, {Name: "n", Value: "2", Number: true}}}}

func TestDynamoDB_PutItems_answersAndFailsAsTheSDKDoes(t *testing.T) {
	const left = `{"UnprocessedItems":{"T":[{"PutRequest":{"Item":{"id":{"S":"1"},"n":{"N":"2"}}}}]}}`
	for name, answers := range failures(left) {
		t.Run(name, func(t *testing.T) {
			f := newFakeAWS(t)
			tables, _ := clients(t, f.config())
			agree(t, f, &one, answers, ofPutItems(tables))
		})
	}
}

func TestDynamoDB_PutItems_refusesWhatIsNoText(t *testing.T) {
	f := newFakeAWS(t)
	tables, _ := clients(t, f.config())
	for name, in := range map[string]putInput{
		"a table":     {"T\xff", one.items},
		"a name":      {"T", []awscall.Item{{{Name: "id\xff", Value: "1"}}}},
		"a value":     {"T", []awscall.Item{{{Name: "id", Value: "1\xff"}}}},
		"a later one": {"T", []awscall.Item{one.items[0], {{Name: "id", Value: "1\xff"}}}},
	} {
		out, err := tables.PutItems(t.Context(), in.table, in.items)
		if err == nil || !strings.Contains(err.Error(), "BatchWriteItem") || out != nil {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
	if asked := f.plays(nil); len(asked) != 0 {
		t.Errorf("asked for %v", asked)
	}
}

func TestDynamoDB_PutItems_leavesAConfigurationWithMiddlewareToTheSDK(t *testing.T) {
	seen := 0
	cfg := newFakeAWS(t).config()
	cfg.HTTPClient = &kept{}
	cfg.APIOptions = append(cfg.APIOptions, func(*middleware.Stack) error { seen++; return nil })
	if _, err := awscall.NewDynamoDB(cfg).PutItems(t.Context(), one.table, one.items); err != nil || seen != 1 {
		t.Errorf("seen %d times; %v", seen, err)
	}
}
