// Package replay sends dead deliveries and rejected events again, purges dead letters, discards rejected events, and
// erases a tenant's items, on an operator's request.
//
// It promises that a replay keeps the delivery's id and body, that two replays of one delivery never run at once, and
// that a replay which is interrupted anywhere can be resumed: the dead letter is claimed, the state written, the
// message sent and the replay of the dead letter ended, in this order. For each id that cannot be replayed, the answer
// has the reason.
//
// A request acts on the ids that it names. Acts on everything of an endpoint, a tenant or a reason are jobs. Jobs are
// worked off at a bounded rate, by one invocation after the other, each of which goes on where the last one ended.
//
// It never replays to an endpoint that is deleted or disabled, and never an acknowledged delivery. It deletes for good
// only where it is invoked by its alias, ForGood.
package replay

import (
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// Handler holds the stores of all actions. All fields are required. No worker holds the Handler: Function gives each of
// them the stores that it uses.
type Handler struct {
	DeadLetters DeadLetters
	States      States
	Endpoints   Endpoints
	Jobs        Jobs
	Vault       deadletter.Vault

	// DeliveryQueue.
	Deliveries Sender

	// RetryQueue, for jobs.
	Retries Sender

	// EventsQueue.
	Events Sender

	// EventsDeadLetterQueue.
	Rejected Rejected

	Erasure Erasure
	Audit   audit.Writer
	Log     *slog.Logger
	Now     func() time.Time
}

// Function returns the operator function with the actions of this package. Operators ask for all of them except
// work_jobs, which release asks for each minute while a job is running.
func (h *Handler) Function() *invoke.Function {
	acts := h.acts()
	letters := namedLetters{acts}
	rejected := eventQueue{queue: h.Rejected, jobs: h.Jobs, log: h.Log}
	publisher := publisher{events: h.Events, queue: h.Rejected, log: h.Log}
	events := namedEvents{events: rejected, publisher: publisher, log: h.Log}
	starter := starter{
		jobs:    h.Jobs,
		now:     h.Now,
		preview: preview{letters: h.DeadLetters, endpoints: h.Endpoints, events: rejected, now: h.Now},
	}
	stopper := stopper{jobs: h.Jobs, now: h.Now}
	worker := jobWorker{
		jobs:    h.Jobs,
		letters: letterPages{letters: h.DeadLetters, acts: acts},
		events:  eventPasses{jobs: h.Jobs, events: rejected, publisher: publisher, now: h.Now},
		log:     h.Log,
		now:     h.Now,
	}
	eraser := eraser{
		items:      h.Erasure,
		unreadable: sealedWhole{letters: h.DeadLetters, vault: h.Vault, log: h.Log},
		now:        h.Now,
	}
	return &invoke.Function{Name: "replay", Audit: h.Audit, Log: h.Log, Now: h.Now, Actions: map[string]invoke.Action{
		"deliveries":              invoke.Do(letters.replay),
		"rejected_events":         invoke.Do(events.publish),
		"discard_rejected_events": invoke.Do(events.discard),
		"purge":                   invoke.Do(letters.purge),
		"erase":                   invoke.Do(eraser.erase),
		"start_job":               invoke.Do(starter.start),
		"stop_job":                invoke.Do(stopper.stop),
		"resume_job":              invoke.Do(stopper.resume),
		"work_jobs":               invoke.Do(worker.work),
	}}
}

// acts are the acts on dead letters, which requests and jobs share.
func (h *Handler) acts() acts {
	return acts{
		looker: looker{letters: h.DeadLetters, endpoints: h.Endpoints, vault: h.Vault, now: h.Now},
		replayer: replayer{
			letters: h.DeadLetters, states: h.States, deliveries: h.Deliveries, retries: h.Retries, now: h.Now,
		},
		purger: purger{letters: h.DeadLetters, states: h.States, now: h.Now},
		log:    h.Log,
		now:    h.Now,
	}
}
