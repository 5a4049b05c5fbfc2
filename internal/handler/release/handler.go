// Package release sends on what waits in Backlog: once a minute, what is due by its schedule, what
// its endpoint can take again, one delivery to see whether an endpoint answers, and the last attempt
// or the death of what has waited for too long. What happens to an endpoint and to an item is
// decided by package health; this package reads, sends and deletes.
//
// It promises:
//   - An item is deleted only after SQS took its message, or its delivery was discarded: a tick that
//     fails, stalls or is killed leaves duplicates, never a loss.
//   - Nothing is sent before it is due, except to an endpoint that recovers or is probed, and a probe
//     only under a number that was stored before.
//   - The four kinds of work share the time of a tick, endpoints share each kind, and a partition
//     that refuses is left alone until the next tick, while the others go on.
//   - Two ticks at once are harmless. There is no lease.
//
// It never makes an attempt, never reads a secret, and never changes a message's body, id or place
// in the schedule.
package release

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Due finds what is due in Backlog (dynamo.Backlog).
type Due interface {
	Due(ctx context.Context, dueShard int, until time.Time, limit int, cursor string) ([]dynamo.Due, string, error)
	BatchGet(ctx context.Context, keys []backlog.Key) (dynamo.Page, error)
}

// Shards reads what waits for one endpoint, oldest first and strongly consistent (dynamo.Backlog).
type Shards interface {
	ReadShard(ctx context.Context, endpointID string, shard int, after string, limit int) (dynamo.Page, error)
}

// Changes changes Backlog (dynamo.Backlog).
type Changes interface {
	Delete(ctx context.Context, keys []backlog.Key) []error
	Redate(ctx context.Context, key backlog.Key, due time.Time, held bool) (found bool, err error)
}

// Health keeps what stands between endpoints and their deliveries (dynamo.Health).
type Health interface {
	Trouble(ctx context.Context, limit int, cursor string) (items []health.Item, next string, err error)
	Apply(ctx context.Context, w health.Write) (stored health.Item, applied bool, err error)
	SweepNotes(ctx context.Context, before time.Time) (swept int, err error)
}

// Endpoints reads endpoints with their health (dynamo.Reader).
type Endpoints interface {
	Read(ctx context.Context, keys []dynamo.EndpointKey) (map[dynamo.EndpointKey]dynamo.Reading, error)
}

// States records what became of deliveries (dynamo.Deliveries).
type States interface {
	Update(ctx context.Context, r delivery.Record) (written bool, err error)
}

// Queue takes messages (queue.Sender).
type Queue interface {
	Send(ctx context.Context, messages []queue.Outgoing) []error
}

// Handler is one process of the function. All fields are required.
type Handler struct {
	Due             Due
	Shards          Shards
	Changes         Changes
	Health          Health
	Endpoints       Endpoints
	States          States
	RetryQueue      Queue
	DeadLetterQueue Queue
	Thresholds      health.Settings
	Log             *slog.Logger
	Metrics         *telemetry.Metrics
	Now             func() time.Time
	Random          func() float64 // uniform in [0, 1)
}

// ErrBlind is returned for a tick that could not see what there is to do.
var ErrBlind = errors.New("neither the endpoints in trouble nor what is due could be read in full")

// Tick does what there is to do now. It stops a tenth of its time before ctx's deadline. What it
// could not do is left to the next one.
func (h *Handler) Tick(ctx context.Context) error {
	t := h.begin(ctx)
	trouble := t.look(ctx)
	t.meet(ctx, trouble)
	t.plan()
	t.share(ctx, t.sendDue, t.endLives, t.probe, t.recover)
	t.close(ctx)
	t.expire(ctx)
	t.report(ctx)
	if t.blind {
		return ErrBlind
	}
	return nil
}
