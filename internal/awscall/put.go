package awscall

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/go-json-experiment/json/jsontext"
)

// Item is an item of a table that has only texts and numbers.
type Item []Attribute

// Attribute is one of them: a text, or a number as text.
type Attribute struct {
	Name, Value string
	Number      bool
}

// Map is the item as the SDK has it.
func (i Item) Map() map[string]types.AttributeValue {
	all := make(map[string]types.AttributeValue, len(i))
	for _, a := range i {
		if a.Number {
			all[a.Name] = &types.AttributeValueMemberN{Value: a.Value}
		} else {
			all[a.Name] = &types.AttributeValueMemberS{Value: a.Value}
		}
	}
	return all
}

// PutItems writes up to 25 items of one table by BatchWriteItem. It says the same as BatchWriteItem of
// their Maps, without making them: those, and their encoding, were a tenth of a delivery's CPU time and half of
// the memory it allocated.
func (d *DynamoDB) PutItems(ctx context.Context, table string, items []Item) (*dynamodb.BatchWriteItemOutput, error) {
	if d.service.custom {
		return d.Client.BatchWriteItem(ctx, puts(table, items))
	}
	out := &dynamodb.BatchWriteItemOutput{}
	r, err := d.encodePuts(ctx, table, items)
	if err == nil {
		err = d.service.retries.run(ctx, func() error { return d.service.try(ctx, batchWriteItem, r, out) })
	}
	if err != nil {
		return nil, &smithy.OperationError{ServiceID: d.service.id, OperationName: batchWriteItem.ID().Name, Err: err}
	}
	return out, nil
}

func puts(table string, items []Item) *dynamodb.BatchWriteItemInput {
	writes := make([]types.WriteRequest, len(items))
	for i, item := range items {
		writes[i].PutRequest = &types.PutRequest{Item: item.Map()}
	}
	return &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}}
}

var (
	putTarget   = []string{"DynamoDB_20120810.BatchWriteItem"}
	contentType = []string{"application/x-amz-json-1.0"}
)

func (d *DynamoDB) encodePuts(ctx context.Context, table string, items []Item) (request, error) {
	body, err := appendPuts(make([]byte, 0, 64+len(table)+sizeOf(items)), table, items)
	if err != nil {
		return request{}, fmt.Errorf("encoding: %w", err)
	}
	header := make(http.Header, 8)
	header["X-Amz-Target"], header["Content-Type"] = putTarget, contentType
	return d.service.request(ctx, header, bytes.NewReader(body))
}

// sizeOf is what the items take, unless something in them has to be escaped.
func sizeOf(items []Item) (n int) {
	const perItem, perAttribute = len(`{"PutRequest":{"Item":{}}},`), len(`"":{"S":""},`)
	for _, item := range items {
		n += perItem
		for _, a := range item {
			n += perAttribute + len(a.Name) + len(a.Value)
		}
	}
	return n
}

// appendPuts appends the request (DynamoDB API Reference, BatchWriteItem).
func appendPuts(b []byte, table string, items []Item) (_ []byte, err error) {
	b = append(b, `{"RequestItems":{`...)
	if b, err = jsontext.AppendQuote(b, table); err != nil {
		return nil, err
	}
	b = append(b, `:[`...)
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"PutRequest":{"Item":{`...)
		for j, a := range item {
			if j > 0 {
				b = append(b, ',')
			}
			if b, err = a.append(b); err != nil {
				return nil, err
			}
		}
		b = append(b, `}}}`...)
	}
	return append(b, `]}}`...), nil
}

func (a Attribute) append(b []byte) (_ []byte, err error) {
	if b, err = jsontext.AppendQuote(b, a.Name); err != nil {
		return nil, err
	}
	if a.Number {
		b = append(b, `:{"N":`...)
	} else {
		b = append(b, `:{"S":`...)
	}
	if b, err = jsontext.AppendQuote(b, a.Value); err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	return append(b, '}'), nil
}
