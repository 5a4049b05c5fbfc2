package deliver

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Endpoints reads endpoints, strongly consistent, and their health, which may be a little behind.
// Health that cannot be read is not an error.
type Endpoints interface {
	Read(ctx context.Context, keys []dynamo.EndpointKey) (map[dynamo.EndpointKey]dynamo.Reading, error)
}

// Secrets opens a sealed signing secret.
type Secrets interface {
	Open(ctx context.Context, id keyring.SecretID, sealed []byte) (string, error)
}

// States keeps the delivery records.
type States interface {
	Acknowledge(ctx context.Context, records []delivery.Record) error
	Update(ctx context.Context, record delivery.Record) (written bool, err error)
}

// Health changes what stands between endpoints and their deliveries. Where the condition of a
// write did not hold, it returns the item that is stored.
type Health interface {
	Apply(ctx context.Context, w health.Write) (stored health.Item, applied bool, err error)
}

// Backlog takes what waits for long and answers with one error per item.
type Backlog interface {
	Put(ctx context.Context, items []backlog.Item) []error
}

// Sender sends to one queue and answers with one error per message.
type Sender interface {
	Send(ctx context.Context, messages []queue.Outgoing) []error
}

// Visibility changes visibility timeouts in RetryQueue and answers with one error per change.
type Visibility interface {
	ChangeVisibility(ctx context.Context, changes []queue.VisibilityChange) []error
}

// Handler attempts deliveries. All fields but Slow, Unrecorded and Sample are required.
type Handler struct {
	Endpoints       Endpoints
	Secrets         Secrets
	States          States
	Health          Health
	Backlog         Backlog
	RetryQueue      Sender
	DeadLetterQueue Sender
	Visibility      Visibility
	RetryQueueARN   string // tells the two queues apart
	Attempts        delivery.Sender
	Schedule        retry.Schedule
	Thresholds      health.Settings
	PerEndpoint     int              // attempts to one endpoint at a time within a batch
	Slow            *SlowLane        // nil: processes tell each other nothing
	Unrecorded      bool             // first-time successes leave no record
	Sample          telemetry.Sample // of events whose first-time successes have a line of their own
	Log             *slog.Logger
	Metrics         *telemetry.Metrics
	Now             func() time.Time
	Random          func() float64 // uniform in [0, 1)

	memory memory
}
