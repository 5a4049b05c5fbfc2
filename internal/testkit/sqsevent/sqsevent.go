// Package sqsevent makes messages as Lambda hands them to a function.
//
// It promises never to change a message that it is given. It never calls AWS.
package sqsevent

import (
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// Of returns a message that was received from the queue with this ARN.
func Of(m types.Message, queueARN string) events.SQSMessage {
	return events.SQSMessage{
		MessageId: aws.ToString(m.MessageId), ReceiptHandle: aws.ToString(m.ReceiptHandle), Body: aws.ToString(m.Body),
		Attributes: m.Attributes, MessageAttributes: Attributes(m.MessageAttributes), EventSourceARN: queueARN,
	}
}

// Attributes returns message attributes that were sent.
func Attributes(sent map[string]types.MessageAttributeValue) map[string]events.SQSMessageAttribute {
	received := make(map[string]events.SQSMessageAttribute, len(sent))
	for name, a := range sent {
		received[name] = events.SQSMessageAttribute{
			StringValue: a.StringValue, BinaryValue: a.BinaryValue, DataType: aws.ToString(a.DataType),
			StringListValues: []string{}, BinaryListValues: [][]byte{},
		}
	}
	return received
}

// System returns SQS's own attributes of a message that was received so many times.
func System(sentAt time.Time, receives int) map[string]string {
	return map[string]string{
		"ApproximateReceiveCount": strconv.Itoa(receives), "SentTimestamp": strconv.FormatInt(sentAt.UnixMilli(), 10),
	}
}

// Traced returns the system attribute of a message that was sent with a trace, and none without.
func Traced(c trace.Context) map[string]string {
	if c.IsZero() {
		return nil
	}
	return map[string]string{string(types.MessageSystemAttributeNameAWSTraceHeader): c.XRay()}
}

// With returns the message with a text attribute added or replaced.
func With(m events.SQSMessage, name, value string) events.SQSMessage {
	attributes := maps.Clone(m.MessageAttributes)
	attributes[name] = events.SQSMessageAttribute{StringValue: &value, DataType: "String"}
	m.MessageAttributes = attributes
	return m
}

// Received returns the message as of its n-th receive.
func Received(m events.SQSMessage, n int) events.SQSMessage {
	system := maps.Clone(m.Attributes)
	if system == nil {
		system = map[string]string{}
	}
	system["ApproximateReceiveCount"] = strconv.Itoa(n)
	m.Attributes = system
	return m
}
