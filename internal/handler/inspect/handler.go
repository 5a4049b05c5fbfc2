// Package inspect answers operators' questions: delivery state, endpoints in trouble and their backlog, dead letters,
// rejected events, and an overview of all of these.
//
// It promises to change nothing: rejected events it looks at stay on their queue, and are hidden from no job that
// publishes them. Bodies are shown only by the actions that name one, each after an audit line, and never logged.
package inspect

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/allowance"
	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// Deliveries reads delivery records.
type Deliveries interface {
	Get(ctx context.Context, deliveryID string) (r delivery.Record, found bool, err error)
	ListOpen(
		ctx context.Context, endpointID string, limit int, cursor string,
	) (records []delivery.Record, next string, err error)
	BatchGet(ctx context.Context, ids []string) (map[string]delivery.Record, error)
}

// DeadLetters reads dead letters.
type DeadLetters interface {
	Get(ctx context.Context, deliveryID string) (r deadletter.Record, found bool, err error)
	List(
		ctx context.Context, s job.Selector, p dynamo.LetterPage,
	) (records []deadletter.Record, next string, err error)
	Count(ctx context.Context, s job.Selector) (n int, oldest time.Time, err error)
}

// IDs lists a tenant's endpoints, oldest first, deleted ones included. It tells them by their keys alone, so one that
// cannot be read hides no other (dynamo.Endpoints).
type IDs interface {
	List(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
}

// Circuits finds endpoints in trouble and slow tenants, a little behind (dynamo.Circuits).
type Circuits interface {
	Trouble(ctx context.Context, limit int, cursor string) (keys []dynamo.EndpointKey, next string, err error)
	Slow(ctx context.Context, limit int) (slow map[string]time.Time, more bool, err error)
}

// Readings reads endpoints with their tenants' marks and their circuits, strongly consistent (dynamo.Reader).
type Readings interface {
	Read(ctx context.Context, keys []dynamo.EndpointKey, quiet map[dynamo.EndpointKey]bool) (
		map[dynamo.EndpointKey]dynamo.Reading, error)
}

// Backlog counts waiting deliveries.
type Backlog interface {
	Count(ctx context.Context, endpointID string) (dynamo.Waiting, error)
	Total(ctx context.Context, perShard int) (dynamo.Total, error)
}

// Rejected looks at EventsDeadLetterQueue.
type Rejected interface {
	Receive(ctx context.Context, most int, hidden time.Duration) ([]rejected.Event, error)
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
	Directory   operator.Directory
	IDs         IDs
	Circuits    Circuits
	Readings    Readings
	Allowance   allowance.Settings
	Settings    circuit.Settings
	MaxLife     time.Duration // of a delivery that waits
	Backlog     Backlog
	Vault       deadletter.Vault
	Rejected    Rejected
	Jobs        Jobs
	Meter       QueueMeter
	Queues      map[string]string // logical id → URL
	Audit       audit.Writer      // of what is opened
	Log         *slog.Logger
	Now         func() time.Time
}

// Function returns the operator function with the actions of this package.
func (h *Handler) Function() *operator.Function {
	return &operator.Function{Name: "inspect", Audit: h.Audit, Log: h.Log, Now: h.Now, Actions: map[string]operator.Action{
		"delivery":        operator.Do(h.delivery),
		"deliveries":      operator.Do(h.deliveries),
		"endpoints":       operator.Do(h.endpoints),
		"endpoint":        operator.Do(h.endpoint),
		"causes":          operator.Do(h.causes),
		"dead_letters":    operator.Do(h.deadLetters),
		"dead_letter":     operator.Do(h.deadLetter),
		"summary":         operator.Do(h.summary),
		"jobs":            operator.Do(h.jobs),
		"job":             operator.Do(h.job),
		"job_failures":    operator.Do(h.jobFailures),
		"job_outcome":     operator.Do(h.jobOutcome),
		"rejected_events": operator.Do(h.rejectedEvents),
	}}
}
