package awsmodel

import (
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

// DeliveryOf is the id of a message's delivery.
func DeliveryOf(r events.SQSMessage) string { return Attribute(r, "delivery_id") }

// ProgressOf is the life that a message carries; the zero life where it carries none.
func ProgressOf(r events.SQSMessage) delivery.Life {
	l, _ := delivery.DecodeLife(Attribute(r, "life")) // none is the zero life
	return l
}
