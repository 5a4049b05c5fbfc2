// Package release sends on deliveries from Backlog. Once a minute it sends the deliveries that are due by their
// schedule, those of endpoints that recover, and those that an endpoint's rate allows. One delivery probes whether an
// endpoint answers again. Deliveries that were discarded are dropped, and so are those of deleted endpoints. Those that
// have waited for longer than a delivery lives are buried. Package circuit decides; this package reads,
// stores, sends and deletes.
//
// It promises:
//   - An item is deleted only after SQS took its message or its delivery was discarded: a run that fails,
//     stalls or is killed leaves duplicates, never a loss.
//   - Nothing is sent before it is due, except to an endpoint that recovers or is probed, and a probe only
//     under a claim that was stored before. To an endpoint with a limit a recovery sends in slots alone.
//   - The six kinds of work share the time of a run, and in each kind tenants and then endpoints take
//     turns. A partition or queue that refuses is left alone until the next run, while others go on.
//   - Two runs at once are harmless. There is no lock.
//
// It also wakes replay while an operator's job is running, and sends owners notices about their endpoints. It never
// makes an attempt, never reads a secret, and never changes a message's body, id or place in the schedule.
//
// A run takes an inventory: the circuits of all endpoints in trouble, and the first page of each shard of the index by
// due time. It reads those endpoints, and plans for each. Then six kinds of work get equal parts of the time, and time
// that one does not use goes to the others:
//
//	due         due.go      sent by their schedule, in any state of their endpoints
//	over        bury.go     out of places or of life: dead, or sent a last time; behind what is due
//	probes      probe.go    one to an endpoint with an open circuit
//	recoveries  recover.go  oldest first, within the quota of the endpoint
//	paces       recover.go  what waits for its rate, with a budget of its own
//	sweeps      search.go   dropped where they were discarded or their endpoint is gone
//
// At the end it stores the results in the circuits, and tells owners. All transfers out of Backlog go through
// mover.go, which knows the partitions that have refused a read or a change.
package release

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

// Backlog keeps the deliveries that wait (dynamo.Backlog).
type Backlog interface {
	Index
	Shards
	Changes
}

// Health keeps circuits, and how long tenants are slow (dynamo.Circuits).
type Health interface {
	Troubles
	Circuits
	Ends
}

// Handler is one process of the function. All fields but Bus and Contacts are required.
type Handler struct {
	Backlog         Backlog
	Circuits        Health
	Endpoints       Endpoints
	Rates           Rates
	Records         Records
	RetryQueue      Queue
	DeadLetterQueue Queue
	// Wake wakes replay while an operator's job is running.
	Wake func(context.Context) error
	// Bus is nil where owners are told nothing.
	Bus Bus
	// Contacts is nil where notices carry none.
	Contacts  Owners
	Settings  circuit.Settings
	Schedule  retry.Schedule
	Allowance allowance.Settings
	Log       *slog.Logger
	Metrics   *telemetry.Metrics
	Now       func() time.Time
	// Random returns a number in [0, 1), all equally likely.
	Random func() float64
}

// workers do the six kinds of work of one run, of which due does two. Each holds the stores that it uses and its part
// of the work that was found, and returns its counts. They share one mover.
type workers struct {
	due        *due
	probes     *probes
	recoveries *outflow
	paces      *outflow
	sweeps     *sweeps
}

// workers makes the workers of a run.
func (h *Handler) workers(began time.Time, found inventory, troubles []trouble, circuits circuitWriter) workers {
	// One mover for all: a partition that refuses one kind of work is left alone by the others.
	mover := &mover{
		changes: h.Backlog, records: h.Records, retryQueue: h.RetryQueue, deadLetterQueue: h.DeadLetterQueue, now: h.Now,
		refused: map[partition]bool{},
	}
	searcher := searcher{
		shards: h.Backlog, mover: mover, schedule: h.Schedule, run: h.Settings.Run, now: h.Now,
		slots: slots{rates: h.Rates, ahead: h.Settings.SlotsAhead(), now: h.Now},
	}
	outflowOf := func(budget int, chosen func(circuit.Plan) bool) *outflow {
		return &outflow{
			searcher: searcher, settings: h.Settings, budget: budget, now: h.Now,
			slow:     func(tenantID string) bool { return h.Allowance.Slow(found.slowUntil[tenantID], began) },
			searches: searchesFor(troubles, chosen),
		}
	}
	return workers{
		due: &due{
			index: h.Backlog, mover: mover, schedule: h.Schedule, now: h.Now,
			burials: burials{endpoints: h.Endpoints, schedule: h.Schedule, now: h.Now},
			began:   began, until: began.Add(h.Settings.Ahead), ahead: found.ahead, over: newDueShards(),
		},
		probes: &probes{
			shards: h.Backlog, circuits: circuits, mover: mover, settings: h.Settings, schedule: h.Schedule,
			now: h.Now, random: h.Random, ahead: toProbe(troubles),
		},
		recoveries: outflowOf(h.Settings.Budget, func(p circuit.Plan) bool {
			return p.Recover && p.Item.State == circuit.Recovering
		}),
		paces: outflowOf(h.Settings.PaceBudget, func(p circuit.Plan) bool {
			return p.Recover && p.Item.State != circuit.Recovering
		}),
		sweeps: &sweeps{
			searcher: searcher,
			searches: searchesFor(troubles, func(p circuit.Plan) bool { return p.Search && !p.Recover }),
		},
	}
}
