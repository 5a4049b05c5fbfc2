package awsmodel

import (
	"strconv"
	"time"

	"github.com/herald-webhooks/herald/internal/queue"
)

// Received is what Lambda hands over of a message, but for the ids of message and receipt.
func Received(o queue.Outgoing, from string, sentAt time.Time, receives int) queue.Record {
	r := queue.Record{
		Body: []byte(o.Body), EventSourceARN: from,
		Attributes: queue.System{
			ReceiveCount: strconv.Itoa(receives), SentAt: strconv.FormatInt(sentAt.UnixMilli(), 10),
		},
	}
	for name, a := range o.Attributes {
		r.MessageAttributes.Set(queue.Attribute{Name: name, StringValue: *a.StringValue, DataType: "String"})
	}
	return r
}

// Whole is what SQS makes of a delay: whole seconds, never early.
func Whole(d time.Duration) time.Duration {
	return (max(d, 0) + time.Second - 1).Truncate(time.Second)
}
