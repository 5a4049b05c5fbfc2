package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// HangingClient is the part of the DynamoDB client that Hanging calls.
type HangingClient interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Hanging is what the processes of deliver tell each other about endpoints that hold them
// up: one short-lived item per endpoint and process, in the Deliveries table since deliver may
// write there. Losing an item costs time, never a delivery.
type Hanging struct {
	client HangingClient
	table  string
}

// NewHanging returns the store on the Deliveries table.
func NewHanging(client HangingClient, table string) *Hanging {
	return &Hanging{client: client, table: table}
}

// hangingGroup takes the place of an endpoint id in the by-endpoint index. No endpoint id
// contains '#'.
const hangingGroup = "#hanging"

// Mark says that the endpoint holds up the process holder.
func (h *Hanging) Mark(ctx context.Context, endpointID, holder string, now time.Time) error {
	_, err := h.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(h.table),
		Item: map[string]types.AttributeValue{
			"delivery_id":      str("hanging#" + endpointID + "#" + holder),
			"open_endpoint_id": str(hangingGroup),
			"endpoint_id":      str(endpointID),
			"updated_at":       stamp(now),
			"expires_at":       num(now.Add(time.Hour).Unix()),
		},
	})
	if err != nil {
		return fmt.Errorf("marking a hanging endpoint: %w", err)
	}
	return nil
}

// Since returns, for each endpoint marked after since, by how many processes. A thousand
// marks are enough to act upon: what the first page does not hold is left out.
func (h *Hanging) Since(ctx context.Context, since time.Time) (map[string]int, error) {
	out, err := h.client.Query(ctx, &dynamodb.QueryInput{
		TableName:              aws.String(h.table),
		IndexName:              aws.String("by-endpoint"),
		KeyConditionExpression: aws.String("open_endpoint_id = :group AND updated_at > :since"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":group": str(hangingGroup), ":since": stamp(since),
		},
		ScanIndexForward: aws.Bool(false),
		Limit:            aws.Int32(1000),
	})
	if err != nil {
		return nil, fmt.Errorf("reading hanging endpoints: %w", err)
	}
	holders := make(map[string]int, len(out.Items))
	for _, item := range out.Items {
		holders[getStr(item, "endpoint_id")]++
	}
	return holders, nil
}
