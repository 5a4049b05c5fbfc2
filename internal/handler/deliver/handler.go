package deliver

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Endpoints reads endpoints, strongly consistent; those that do not exist are left out.
type Endpoints interface {
	BatchGet(ctx context.Context, keys []dynamo.EndpointKey) (map[dynamo.EndpointKey]endpoint.Endpoint, error)
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

// Sender sends to RetryQueue and answers with one error per message.
type Sender interface {
	Send(ctx context.Context, messages []queue.Outgoing) []error
}

// Visibility changes visibility timeouts in RetryQueue and answers with one error per change.
type Visibility interface {
	ChangeVisibility(ctx context.Context, changes []queue.VisibilityChange) []error
}

// Handler attempts deliveries. All fields but Hanging are required.
type Handler struct {
	Endpoints     Endpoints
	Secrets       Secrets
	States        States
	RetryQueue    Sender
	Visibility    Visibility
	RetryQueueARN string // tells the two queues apart
	Attempts      delivery.Sender
	Schedule      retry.Schedule
	PerEndpoint   int      // attempts to one endpoint at a time within a batch
	Hanging       *Hanging // nil: each batch learns for itself
	Log           *slog.Logger
	Metrics       *telemetry.Metrics
	Now           func() time.Time
	Random        func() float64 // uniform in [0, 1)
}
