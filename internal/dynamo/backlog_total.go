package dynamo

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/backlog"
)

// Total is how much waits for all endpoints together.
type Total struct {
	Items   int       // counted: at least so many
	More    bool      // there are more than counted
	NextDue time.Time // due_at of what is due first; zero when nothing waits
}

// Total counts what waits, up to perShard items of each of the 16 parts of the index by due time,
// which is a little behind the table.
func (b *Backlog) Total(ctx context.Context, perShard int) (Total, error) {
	var total Total
	for shard := range backlog.DueShards {
		out, err := b.client.Query(ctx, &dynamodb.QueryInput{
			TableName:                 aws.String(b.table),
			IndexName:                 aws.String("by-due"),
			KeyConditionExpression:    aws.String("due_shard = :shard"),
			ExpressionAttributeValues: attributes{":shard": str(strconv.Itoa(shard))},
			ProjectionExpression:      aws.String("due_at"),
			Limit:                     aws.Int32(int32(perShard)), //nolint:gosec // small
		})
		if err != nil {
			return Total{}, fmt.Errorf("counting what is due in Backlog: %w", err)
		}
		total.Items += len(out.Items)
		total.More = total.More || len(out.LastEvaluatedKey) > 0
		if len(out.Items) == 0 {
			continue
		}
		if first := getTime(out.Items[0], "due_at"); total.NextDue.IsZero() || first.Before(total.NextDue) {
			total.NextDue = first
		}
	}
	return total, nil
}
