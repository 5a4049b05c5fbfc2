// Package inspect answers operators' questions: delivery state, dead letters, rejected
// events, and gives an overview of queues and dead letters.
//
// It promises to change nothing: rejected events it looks at stay on their queue. Bodies are
// shown only by the actions that name one, and never logged.
package inspect

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// Deliveries reads delivery records.
type Deliveries interface {
	Get(ctx context.Context, deliveryID string) (r delivery.Record, found bool, err error)
	ListOpen(
		ctx context.Context, endpointID string, limit int, cursor string,
	) (records []delivery.Record, next string, err error)
}

// DeadLetters reads dead letters.
type DeadLetters interface {
	Get(ctx context.Context, deliveryID string) (r deadletter.Record, found bool, err error)
	List(
		ctx context.Context, f dynamo.DeadLetterFilter, limit int, cursor string,
	) (records []deadletter.Record, next string, err error)
	Count(ctx context.Context, status deadletter.Status) (n int, oldest time.Time, err error)
}

// Rejected looks at EventsDeadLetterQueue.
type Rejected interface {
	Receive(ctx context.Context, most int) ([]rejected.Event, error)
	Restore(ctx context.Context, events []rejected.Event) error
}

// QueueMeter is the part of the SQS client that measures queues.
type QueueMeter interface {
	GetQueueAttributes(
		context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options),
	) (*sqs.GetQueueAttributesOutput, error)
}

// Handler answers. All fields are required.
type Handler struct {
	Deliveries  Deliveries
	DeadLetters DeadLetters
	Vault       deadletter.Vault
	Rejected    Rejected
	Meter       QueueMeter
	Queues      map[string]string // logical id → URL
	Log         *slog.Logger
	Now         func() time.Time
}

// Function returns the operator function with the actions of this package.
func (h *Handler) Function() *operator.Function {
	return &operator.Function{Name: "inspect", Log: h.Log, Now: h.Now, Actions: map[string]operator.Action{
		"delivery":        operator.Do(h.delivery),
		"deliveries":      operator.Do(h.deliveries),
		"dead_letters":    operator.Do(h.deadLetters),
		"dead_letter":     operator.Do(h.deadLetter),
		"summary":         operator.Do(h.summary),
		"rejected_events": operator.Do(h.rejectedEvents),
	}}
}
