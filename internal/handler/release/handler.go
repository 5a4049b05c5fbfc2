// Package release sends on deliveries from Backlog. Once a minute it sends the deliveries that are due by their
// schedule, the ones whose endpoint recovers, and one delivery to see whether an endpoint answers again; it drops the
// ones that were discarded or whose endpoint is gone, and buries the ones that have waited for longer than a delivery
// lives. Package circuit decides; this package reads, stores, sends and deletes.
//
// It promises:
//   - An item is deleted only after SQS took its message or its delivery was discarded: a run that fails,
//     stalls or is killed leaves duplicates, never a loss.
//   - Nothing is sent before it is due, except to an endpoint that recovers or is probed, and a probe only
//     under a claim that was stored before.
//   - The five kinds of work share the time of a run, and in each kind tenants and then endpoints take
//     turns. A partition or queue that refuses is left alone until the next run, while others go on.
//   - Two runs at once are harmless. There is no lock.
//
// It also wakes replay while an operator's job is running, and sends owners notices about their endpoints. It never
// makes an attempt, never reads a secret, and never changes a message's body, id or place in the schedule.
package release

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/allowance"
	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/notice"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Backlog keeps the deliveries that wait (dynamo.Backlog). An endpoint's shard is read oldest first and strongly
// consistent.
type Backlog interface {
	Due(ctx context.Context, dueShard int, until time.Time, limit int, cursor string) ([]dynamo.Due, string, error)
	BatchGet(ctx context.Context, keys []backlog.Key) (dynamo.Page, error)
	ReadShard(ctx context.Context, endpointID string, shard int, after string, limit int) (dynamo.Page, error)
	Delete(ctx context.Context, keys []backlog.Key) []error
	PutBack(ctx context.Context, item backlog.Item) (found bool, err error)
}

// Circuits keeps circuits, and how long tenants are slow (dynamo.Circuits).
type Circuits interface {
	All(ctx context.Context) (items []circuit.Item, slow map[string]time.Time, err error)
	Store(ctx context.Context, was, next circuit.Item) (stored circuit.Item, applied bool, err error)
	Clear(ctx context.Context, i circuit.Item) (applied bool, err error)
	Remove(ctx context.Context, i circuit.Item) (applied bool, err error)
	ForgetSlow(ctx context.Context, tenantID string, until time.Time) error
}

// Endpoints reads endpoints with their circuits, strongly consistent (dynamo.Reader).
type Endpoints interface {
	Read(ctx context.Context, keys []dynamo.EndpointKey, quiet map[dynamo.EndpointKey]bool) (
		map[dynamo.EndpointKey]dynamo.Reading, error)
}

// Records keeps the states of deliveries, for operators (dynamo.Deliveries).
type Records interface {
	Update(ctx context.Context, r delivery.Record) (written bool, err error)
}

// Queue takes messages (queue.Sender).
type Queue interface {
	Send(ctx context.Context, messages []queue.Outgoing) []error
}

// Bus takes notices for the owners of endpoints, and answers with one error for each (notice.Bus).
type Bus interface {
	Put(ctx context.Context, notices []notice.Notice) []error
}

// Handler is one process of the function. All fields but Bus are required.
type Handler struct {
	Backlog         Backlog
	Circuits        Circuits
	Endpoints       Endpoints
	Records         Records
	RetryQueue      Queue
	DeadLetterQueue Queue
	Wake            func(context.Context) error // replay, while an operator's job is running
	Bus             Bus                         // nil: owners are told nothing
	Settings        circuit.Settings
	Schedule        retry.Schedule
	Allowance       allowance.Settings
	Log             *slog.Logger
	Metrics         *telemetry.Metrics
	Now             func() time.Time
	Random          func() float64 // uniform in [0, 1)
}

// ErrBlind is returned for a run that could not see its work.
var ErrBlind = errors.New("neither the endpoints in trouble nor the due deliveries could be read in full")

// Run does the work that there is now. It stops a tenth of its time before ctx's deadline, and leaves the
// rest to the next run.
func (h *Handler) Run(ctx context.Context) error {
	began, until := h.Now(), h.until(ctx)
	t := newTally(h.Log)
	out := &outlet{h: h, t: t, refused: map[partition]bool{}}
	scheduled := &due{h: h, t: t, out: out, until: began.Add(h.Settings.Ahead)}

	if err := h.Wake(ctx); err != nil { // first: replay works for as long as this run does, and ends before the next
		t.fault(ctx, "waking replay", err)
	}
	seen := h.look(ctx, t, scheduled)
	searches := h.plan(ctx, t, seen.circuits)
	probing := &probes{
		h: h, t: t, out: out, searches: only(searches, func(p circuit.Plan) bool { return p.Probe }),
	}
	w := &walker{h: h, t: t, out: out}
	recovering := &recoveries{
		walker: w, slow: func(tenantID string) bool { return h.Allowance.Slow(seen.slowUntil[tenantID], began) },
		searches: only(searches, func(p circuit.Plan) bool { return p.Recover }),
	}
	sweeping := only(searches, func(p circuit.Plan) bool { return p.Search && !p.Recover })
	drop := func(ctx context.Context, until time.Time) (left bool) { return w.goOn(ctx, sweeping, until) }
	share(ctx, h.Now, until, scheduled.send, scheduled.bury, probing.send, recovering.send, drop)

	t.each(ctx, "storing the result of a search", len(searches), func(n int) error { return h.result(ctx, searches[n]) })
	h.forgetSlow(ctx, t, seen.slowUntil)
	h.tell(ctx, t, searches)
	scheduled.countUnsent()
	troubled := only(searches, func(p circuit.Plan) bool { return p.Item.InTrouble() })
	t.report(ctx, h.Metrics, h.Now().Sub(began), len(troubled), seen.blind)
	if seen.blind {
		return ErrBlind
	}
	return nil
}

// until is the end of the run's work.
func (h *Handler) until(ctx context.Context) time.Time {
	now := h.Now()
	if deadline, ok := ctx.Deadline(); ok {
		return deadline.Add(-deadline.Sub(now) / 10)
	}
	return now.Add(h.Settings.Run)
}
