// Package publish shows how an auth service hands Herald an event.
package publish

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// UserCreated publishes one user.created event. changeID names the change: publishing it
// twice is still one event, and receivers see one wh-id.
func UserCreated(ctx context.Context, client *sqs.Client, queueURL, tenantID, changeID, userID string) error {
	event, err := json.Marshal(map[string]any{
		"id": changeID, "tenant_id": tenantID, "type": "user.created", "data": map[string]any{"userId": userID},
	})
	if err == nil {
		_, err = client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &queueURL, MessageBody: aws.String(string(event))})
	}
	return err
}
