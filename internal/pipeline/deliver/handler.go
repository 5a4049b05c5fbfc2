package deliver

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/edges/tokens"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/rate"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

// Handler attempts deliveries. All fields are required.
type Handler struct {
	Tables  Tables
	Queues  Queues
	Secrets Secrets
	Tokens  Tokens
	Sender  delivery.Sender
	Rules   Rules
	Output  Output
	Now     func() time.Time
	Random  func() float64 // uniform in [0, 1)

	// memory outlives a batch, because Lambda keeps the handler between invocations.
	memory memory
}

// Tables are the tables that deliver reads and writes.
type Tables struct {
	Endpoints  Endpoints
	Circuits   Circuits
	Rates      Rates
	Backlog    Backlog
	Deliveries Deliveries
}

// Endpoints reads endpoints and their tenants' marks, strongly consistent, and circuits, which may be a
// little behind (dynamo.Reader). A circuit that cannot be read is not an error.
type Endpoints interface {
	Read(ctx context.Context, keys []dynamo.EndpointKey, quiet map[dynamo.EndpointKey]bool) (
		map[dynamo.EndpointKey]dynamo.Reading, error)
}

// Circuits writes EndpointHealth (dynamo.Circuits).
type Circuits interface {
	Store(ctx context.Context, was, next circuit.Item) (stored circuit.Item, applied bool, err error)
	Hold(ctx context.Context, key dynamo.EndpointKey, until, now time.Time) error
	Charge(ctx context.Context, tenantID string, d time.Duration, now time.Time) (until time.Time, err error)
	MoveSlow(ctx context.Context, tenantID string, from, to time.Time) error
}

// Rates takes slots of endpoints with a limit (dynamo.Rates).
type Rates interface {
	Take(ctx context.Context, key dynamo.EndpointKey, a rate.Ask, now time.Time) (rate.Taken, error)
}

// Backlog takes deliveries with long waits and returns one error per item (dynamo.Backlog).
type Backlog interface {
	Put(ctx context.Context, items []backlog.Item) []error
}

// Deliveries keeps the delivery states (dynamo.Deliveries).
type Deliveries interface {
	Acknowledge(ctx context.Context, records []delivery.Record) error
	Update(ctx context.Context, record delivery.Record) (written bool, err error)
}

// Secrets opens a sealed signing secret (keyring.Secrets).
type Secrets interface {
	Open(ctx context.Context, id keyring.SecretID, sealed []byte) (string, error)
}

// Tokens has the access tokens of endpoints with an OAuth (tokens.Keeper).
type Tokens interface {
	Token(ctx context.Context, w tokens.Wanted) (access string, why delivery.Reason, err error)
	Refused(ctx context.Context, key dynamo.EndpointKey, access string)
}

// Queues are the queues that deliver sends to, and the ones on which it hides messages until a retry.
type Queues struct {
	Retry, Slow, DeadLetter Sender
	Hide                    map[delivery.Queue]Visibility // of RetryQueue and SlowQueue
	ARNs                    map[string]delivery.Queue     // tells the queues apart; any other is DeliveryQueue
}

// Sender sends to one queue and answers with one error per message (queue.Sender).
type Sender interface {
	Send(ctx context.Context, messages []queue.Outgoing) []error
}

// Visibility changes visibility timeouts in one queue and answers with one error per change
// (queue.Visibility).
type Visibility interface {
	ChangeVisibility(ctx context.Context, changes []queue.VisibilityChange) []error
}

// Rules are the numbers that decide.
type Rules struct {
	Schedule    retry.Schedule
	Circuit     circuit.Settings
	Allowance   allowance.Settings
	Attempt     time.Duration // the time of an attempt, which its token and its POST share
	PerEndpoint int           // attempts to one endpoint at a time within a batch
	Unrecorded  bool          // first-time successes leave no record
}

// Output is the log and the metrics.
type Output struct {
	Log     *slog.Logger
	Metrics *telemetry.Metrics

	// Sample selects the events that get a log line for a success at the first attempt.
	Sample telemetry.Sample

	// Heartbeat is the tenant with counted acknowledgements; "" counts none.
	Heartbeat string
}

// tableWrites bounds the concurrent single writes of one batch, and patience its wait for the writes of charges and
// circuits: both save time later, and no delivery waits for them.
const (
	tableWrites = 10
	patience    = 250 * time.Millisecond
)
