package awsmodel

import (
	"strconv"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/queue"
)

// messageOf is a message as a queue keeps it: without ids and receives.
func messageOf(o queue.Outgoing, name string) events.SQSMessage {
	m := events.SQSMessage{
		Body: o.Body, EventSourceARN: name,
		MessageAttributes: make(map[string]events.SQSMessageAttribute, len(o.Attributes)),
	}
	for name, a := range o.Attributes {
		m.MessageAttributes[name] = events.SQSMessageAttribute{StringValue: a.StringValue, DataType: "String"}
	}
	return m
}

// handedOver is the message as Lambda hands it over. The attributes are shared by all receives: handlers only read
// them.
func (s *slot) handedOver(id, receipt string) events.SQSMessage {
	m := s.message
	m.MessageId, m.ReceiptHandle = id, receipt
	m.Attributes = map[string]string{
		"ApproximateReceiveCount": strconv.Itoa(s.receives),
		"SentTimestamp":           strconv.FormatInt(s.sentAt.UnixMilli(), 10),
	}
	return m
}

// Attribute is a message attribute; "" where there is none.
func Attribute(r events.SQSMessage, name string) string {
	if value := r.MessageAttributes[name].StringValue; value != nil {
		return *value
	}
	return ""
}

// LifeOf names the delivery of a message.
func LifeOf(r events.SQSMessage) Life {
	replay, _ := strconv.Atoi(Attribute(r, "replay")) // an unreadable one is 0
	return Life{Attribute(r, "delivery_id"), replay}
}

// ProgressOf is the life that a message carries; the zero life where it carries none.
func ProgressOf(r events.SQSMessage) delivery.Life {
	l, _ := delivery.DecodeLife(Attribute(r, "life")) // none is the zero life
	return l
}
