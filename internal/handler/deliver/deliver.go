// Package deliver consumes DeliveryQueue and RetryQueue: it makes one attempt per record and
// turns its outcome into what SQS and the delivery record need to know.
//
// It promises that a record is acknowledged only when its receiver answered 2xx, its endpoint
// is gone, or its message is safely on RetryQueue; that a panic or a hang in one record fails
// that one only; and that nothing is in flight any more when it answers. The attempt itself
// is package delivery's.
//
// One batch goes through three steps, a file each: plan (what each record needs), attempt
// (all at once), settle (store outcomes, move messages and change their visibility).
package deliver

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/parallel"
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

// reserve is kept back before the function's deadline to hand on what is unfinished;
// answerReserve of it, to answer.
const (
	reserve       = 2 * time.Second
	answerReserve = 300 * time.Millisecond
)

// Process handles the records of one invocation, all of one queue.
func (h *Handler) Process(ctx context.Context, records []queue.Record) []string {
	started := h.Now()
	work, cancel := parallel.Deadline(ctx, reserve)
	defer cancel()
	jobs := h.plan(work, records, started)
	h.attempt(work, jobs)

	// The POSTs went out: their results are recorded whatever became of ctx meanwhile.
	settle, done := context.WithCancel(context.WithoutCancel(ctx))
	if deadline, ok := ctx.Deadline(); ok {
		settle, done = context.WithDeadline(settle, deadline.Add(-answerReserve))
	}
	defer done()
	return h.settle(settle, jobs)
}
