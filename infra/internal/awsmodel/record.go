package awsmodel

import (
	"strconv"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/delivery"
)

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
