package inspect

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Deliveries reads delivery records.
type Deliveries interface {
	// Get reads one record, strongly consistent.
	Get(ctx context.Context, deliveryID string) (r delivery.Record, found bool, err error)

	// ListOpen lists the deliveries of an endpoint that are not acknowledged, the newest first, a moment behind.
	ListOpen(
		ctx context.Context, endpointID string, p dynamo.OpenPage,
	) (records []delivery.Record, next string, err error)

	// BatchGet reads records by id. An id without a record is missing in the answer.
	BatchGet(ctx context.Context, ids []string) (map[string]delivery.Record, error)
}

// DeadLetters reads dead letters.
type DeadLetters interface {
	// Get reads one letter with its sealed parts, strongly consistent.
	Get(ctx context.Context, deliveryID string) (r deadletter.Record, found bool, err error)

	// List lists the selected letters without their sealed parts, a moment behind.
	List(
		ctx context.Context, s job.Selector, p dynamo.LetterPage,
	) (records []deadletter.Record, next string, err error)

	// Count counts the selected letters, and has the time at which the oldest died.
	Count(ctx context.Context, s job.Selector) (n int, oldest time.Time, err error)
}

// IDs lists a tenant's endpoints, oldest first, deleted ones included. It reads no more than their keys, so an endpoint
// that cannot be read hides no other (dynamo.Endpoints).
type IDs interface {
	List(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
}

// Subscribers finds endpoints of all tenants by their subscriptions, a little behind (dynamo.Endpoints).
type Subscribers interface {
	// Subscribers reads the next rows, and returns up to limit live endpoints that wanted takes.
	Subscribers(ctx context.Context, wanted func(dynamo.Subscriber) bool, limit int, cursor string) (
		found []dynamo.Subscriber, next string, err error)
}

// Circuits finds endpoints in trouble and slow tenants, a little behind (dynamo.Circuits).
type Circuits interface {
	// Trouble lists endpoints in trouble. They have an index, so healthy ones are not read.
	Trouble(ctx context.Context, limit int, cursor string) (keys []dynamo.EndpointKey, next string, err error)

	// Slow has the tenants that became slow, with the times of their marks. More says that there are others.
	Slow(ctx context.Context, limit int) (slow map[string]time.Time, more bool, err error)

	// SlowUntil has the times of the marks of these tenants, of those that have one.
	SlowUntil(ctx context.Context, tenantIDs []string) (map[string]time.Time, error)
}

// Readings reads endpoints with their tenants' marks and their circuits, strongly consistent (dynamo.Reader).
type Readings interface {
	Read(ctx context.Context, keys []dynamo.EndpointKey, quiet map[dynamo.EndpointKey]bool) (
		map[dynamo.EndpointKey]dynamo.Reading, error)
}

// Backlog counts waiting deliveries.
type Backlog interface {
	// Count counts the deliveries that wait for one endpoint, up to a bound.
	Count(ctx context.Context, endpointID string) (dynamo.Waiting, error)

	// Total counts the deliveries that wait for any endpoint, up to a bound in each shard of the index.
	Total(ctx context.Context, perShard int) (dynamo.Total, error)
}

// Rejected looks at EventsDeadLetterQueue.
type Rejected interface {
	// Receive takes up to ten events, which stay hidden for the given time. An empty answer means an empty queue.
	Receive(ctx context.Context, most int, hidden time.Duration) ([]rejected.Event, error)

	// Restore makes received events visible again at once, even if ctx has ended.
	Restore(ctx context.Context, events []rejected.Event) error
}

// QueueMeter is the part of the SQS client that measures queues.
type QueueMeter interface {
	GetQueueAttributes(
		context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options),
	) (*sqs.GetQueueAttributesOutput, error)
}

// Jobs reads operators' jobs and their results (dynamo.Jobs).
type Jobs interface {
	// Get reads one job, strongly consistent.
	Get(ctx context.Context, id string) (j job.Job, found bool, err error)

	// List lists the jobs in a state, or all jobs.
	List(ctx context.Context, state job.State, limit int, cursor string) (jobs []job.Job, next string, err error)

	// Pages reads up to limit pages of a job's results, those numbered above after. More says that there are others.
	Pages(ctx context.Context, id string, after, limit int) (pages []job.Page, more bool, err error)
}

// sideBySide bounds the endpoints that are counted or searched at a time.
const sideBySide = 16
