// Package publish shows how an auth service hands Herald an event.
package publish

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// Publisher publishes events to Herald.
type Publisher struct {
	Client   *sqs.Client
	QueueURL string // of EventsQueue
}

// UserCreated publishes one user.created event. eventID names this event and no other:
// published twice, it still has one wh-id. The tenant is the message group, so that SQS hands
// over the events of quiet tenants first while one has a burst.
func (p Publisher) UserCreated(ctx context.Context, tenantID, eventID, userID string) error {
	event, err := json.Marshal(map[string]any{
		"id": eventID, "tenant_id": tenantID, "type": "user.created", "data": map[string]any{"userId": userID},
	})
	if err == nil {
		_, err = p.Client.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl: &p.QueueURL, MessageBody: aws.String(string(event)), MessageGroupId: &tenantID,
		})
	}
	return err
}
