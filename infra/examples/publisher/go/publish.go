// Package publish shows how an auth service hands Herald an event.
package publish

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// UserCreated publishes one user.created event. The same changeID published twice is one
// event: receivers see one wh-id.
func UserCreated(ctx context.Context, client *sqs.Client, queueURL, tenantID, userID, changeID string) error {
	event, err := json.Marshal(map[string]any{
		"id": changeID, "tenant_id": tenantID, "type": "user.created",
		"occurred_at": time.Now().UTC().Format(time.RFC3339), "data": map[string]any{"userId": userID},
	})
	if err == nil {
		_, err = client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &queueURL, MessageBody: aws.String(string(event))})
	}
	if err != nil {
		return fmt.Errorf("publishing user.created: %w", err)
	}
	return nil
}
