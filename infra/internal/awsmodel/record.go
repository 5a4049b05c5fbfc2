package awsmodel

import (
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// Received is what Lambda hands over of a message, but for the ids of message and receipt.
func Received(o queue.Outgoing, from string, sentAt time.Time, receives int) events.SQSMessage {
	return events.SQSMessage{
		Body: o.Body, EventSourceARN: from, Attributes: sqsevent.System(sentAt, receives),
		MessageAttributes: sqsevent.Attributes(o.Attributes),
	}
}

// Whole is what SQS makes of a delay: whole seconds, never early.
func Whole(d time.Duration) time.Duration {
	return (max(d, 0) + time.Second - 1).Truncate(time.Second)
}
