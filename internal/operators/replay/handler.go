// Package replay sends dead deliveries and rejected events again, purges dead letters, and discards rejected events, on
// an operator's request. It is the function of that name: jobs and erasures are requested of it as well, and are done
// by packages jobs and erase.
//
// It promises that a replay keeps the delivery's id and body, that two replays of one delivery never run at once, and
// that a replay which is interrupted anywhere can be resumed: the dead letter is claimed, the state written, the
// message sent and the replay of the dead letter ended, in this order. For each id that cannot be replayed, the answer
// has the reason.
//
// A request acts on the ids that it names. Acts on everything of an endpoint, a tenant or a reason are jobs, which do
// the same acts page by page.
//
// It never replays to an endpoint that is deleted or disabled, and never an acknowledged delivery. It deletes for good
// only where it is invoked by its alias, invoke.ForGood.
package replay

import (
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/erase"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/operators/jobs"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Handler holds the stores of all actions. All fields are required. No worker holds the Handler: Function gives each of
// them the stores that it uses.
type Handler struct {
	DeadLetters DeadLetters
	States      States
	Endpoints   Endpoints
	Jobs        jobs.Table
	Vault       deadletter.Vault

	// DeliveryQueue.
	Deliveries Sender

	// RetryQueue, for jobs.
	Retries Sender

	// EventsQueue.
	Events Sender

	// EventsDeadLetterQueue.
	Rejected Rejected

	Erasure erase.Items
	Audit   audit.Writer
	Log     *slog.Logger
	Now     func() time.Time
}

// Function returns the operator function with the actions of this package, of jobs and of erase. Operators ask for all
// of them except work_jobs, which release asks for each minute while a job is running.
func (h *Handler) Function() *invoke.Function {
	rejected := jobs.EventQueue{Queue: h.Rejected, Jobs: h.Jobs, Log: h.Log}
	letters := namedLetters{replays: h.replays(), purges: h.purges()}
	events := namedEvents{events: rejected, publisher: h.publisher(), log: h.Log}
	starter := jobs.Starter{Jobs: h.Jobs, Acts: h.acts(), Letters: h.DeadLetters, Events: rejected, Now: h.Now}
	stopper := jobs.Stopper{Jobs: h.Jobs, Acts: h.acts(), Now: h.Now}
	worker := jobs.Worker{
		Jobs: h.Jobs, Acts: h.acts(), Letters: h.DeadLetters, Events: rejected, Log: h.Log, Now: h.Now,
	}
	eraser := erase.Eraser{Items: h.Erasure, Letters: h.DeadLetters, Vault: h.Vault, Log: h.Log, Now: h.Now}
	return &invoke.Function{
		Name: string(api.Replay), Audit: h.Audit, Log: h.Log, Now: h.Now,
		Actions: invoke.Table(
			invoke.Serve(api.ReplayDeliveries, letters.replay),
			invoke.Serve(api.PurgeDeliveries, letters.purge),
			invoke.Serve(api.PublishRejected, events.publish),
			invoke.Serve(api.DiscardRejected, events.discard),
			invoke.Serve(api.StartJob, starter.Start),
			invoke.Serve(api.StopJob, stopper.Stop),
			invoke.Serve(api.ResumeJob, stopper.Resume),
			invoke.Serve(api.WorkJobs, worker.Work),
			invoke.Serve(api.EraseTenant, eraser.Erase),
		),
	}
}

// acts says how jobs do each act. Requests that name ids do the same.
func (h *Handler) acts() jobs.Acts {
	return jobs.Acts{
		job.Replay: {
			Letters: letterAct{act: h.replays(), foresee: func(r run) jobs.Forecast { return foreseeReplay(h.Endpoints, r) }},
			Refuses: refuseReplayed,
		},
		job.Purge:   {Letters: letterAct{act: h.purges(), foresee: foreseePurge}, ForGood: "purging"},
		job.Publish: {Events: h.publisher().publish},
		// Events that would be rejected again are the very ones that operators discard.
		job.Discard: {Events: h.publisher().discard, Invalid: true, ForGood: "discarding", Refuses: refuseAll},
	}
}

// replays sends dead deliveries again.
func (h *Handler) replays() act {
	looker := looker{letters: h.DeadLetters, endpoints: h.Endpoints, vault: h.Vault, now: h.Now}
	replayer := replayer{
		letters: h.DeadLetters, states: h.States, deliveries: h.Deliveries, retries: h.Retries, now: h.Now,
	}
	return act{
		looks:   []step{looker.find, looker.judge, looker.open},
		changes: []step{replayer.claim, replayer.queue},
		send:    replayer.send,
		log:     h.Log,
		now:     h.Now,
	}
}

// purges deletes dead letters.
func (h *Handler) purges() act {
	purger := purger{letters: h.DeadLetters, states: h.States, now: h.Now}
	return act{looks: []step{purger.find}, changes: []step{purger.purge}, log: h.Log, now: h.Now}
}

// publisher publishes or discards rejected events.
func (h *Handler) publisher() publisher {
	return publisher{events: h.Events, queue: h.Rejected, log: h.Log}
}
