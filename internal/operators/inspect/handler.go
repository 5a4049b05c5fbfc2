// Package inspect answers operators' questions: delivery state, endpoints in trouble and their backlog, dead letters,
// rejected events, and an overview of all of these.
//
// It promises to change nothing: rejected events it looks at stay on their queue, and are hidden from no job that
// publishes them. Bodies are shown only by the actions that name one, each after an audit line, and never logged.
package inspect

import (
	"log/slog"
	"maps"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// Handler holds the stores of all actions. All fields are required. No view holds the Handler: Function gives each of
// them the stores that it reads.
type Handler struct {
	Deliveries  Deliveries
	DeadLetters DeadLetters
	Directory   invoke.Directory
	IDs         IDs
	Circuits    Circuits
	Readings    Readings

	// Which tenants are slow, as deliver has it.
	Allowance allowance.Settings

	// When endpoints are probed, as release has it.
	Probing circuit.Settings

	// The longest life of a delivery that waits.
	MaxLife time.Duration

	Backlog  Backlog
	Vault    deadletter.Vault
	Rejected Rejected
	Jobs     Jobs
	Meter    QueueMeter

	// URLs by logical id.
	Queues map[string]string

	// Keeps a line about each body that is opened.
	Audit audit.Writer
	Log   *slog.Logger
	Now   func() time.Time
}

// Function returns the operator function with the actions of this package.
func (h *Handler) Function() *invoke.Function {
	actions := h.aboutEndpoints()
	for _, more := range []map[string]invoke.Action{h.aboutDeliveries(), h.aboutLetters(), h.aboutOperations()} {
		maps.Copy(actions, more)
	}
	return &invoke.Function{Name: "inspect", Audit: h.Audit, Log: h.Log, Now: h.Now, Actions: actions}
}

// aboutEndpoints are the actions that show endpoints, and the overview of all trouble.
func (h *Handler) aboutEndpoints() map[string]invoke.Action {
	reader, waiting := endpointReader{h.Readings}, waitingCounter{h.Backlog}
	health := healthView{settings: h.Probing, maxLife: h.MaxLife, now: h.Now}
	list := endpointList{ids: h.IDs, circuits: h.Circuits, reader: reader, waiting: waiting, health: health}
	one := endpointView{directory: h.Directory, backlog: h.Backlog, health: health}
	trouble := troubleCounter{
		circuits: h.Circuits, reader: reader, health: health, allowance: h.Allowance, now: h.Now,
	}
	all := overview{
		trouble: trouble, waiting: waiting, letters: h.DeadLetters, queues: queueMeter{h.Meter, h.Queues},
		causes: causeList{letters: h.DeadLetters, directory: h.Directory, endpoints: reader},
	}
	return map[string]invoke.Action{
		"endpoints": invoke.Do(list.list), "endpoint": invoke.Do(one.show), "summary": invoke.Do(all.summary),
	}
}

// aboutDeliveries are the actions that show deliveries.
func (h *Handler) aboutDeliveries() map[string]invoke.Action {
	one := deliveryView{h.Deliveries}
	list := deliveryList{
		deliveries: h.Deliveries, directory: h.Directory,
		search: eventSearch{deliveries: h.Deliveries, ids: h.IDs},
	}
	return map[string]invoke.Action{"delivery": invoke.Do(one.show), "deliveries": invoke.Do(list.list)}
}

// aboutLetters are the actions that show dead letters and causes of death.
func (h *Handler) aboutLetters() map[string]invoke.Action {
	reader := endpointReader{h.Readings}
	view := letterView{endpoints: reader, log: h.Log}
	list := letterList{letters: h.DeadLetters, directory: h.Directory, view: view}
	opener := letterOpener{letters: h.DeadLetters, vault: h.Vault, view: view}
	causes := causeList{letters: h.DeadLetters, directory: h.Directory, endpoints: reader}
	return map[string]invoke.Action{
		"dead_letters": invoke.Do(list.list), "dead_letter": invoke.Do(opener.open), "causes": invoke.Do(causes.list),
	}
}

// aboutOperations are the actions that show operators' jobs, and the events that wait for an operator.
func (h *Handler) aboutOperations() map[string]invoke.Action {
	jobs := jobView{jobs: h.Jobs, deliveries: h.Deliveries}
	events := rejectedView{queue: h.Rejected, jobs: h.Jobs, log: h.Log, now: h.Now}
	return map[string]invoke.Action{
		"jobs": invoke.Do(jobs.list), "job": invoke.Do(jobs.show), "job_failures": invoke.Do(jobs.failures),
		"job_outcome": invoke.Do(jobs.outcome), "rejected_events": invoke.Do(events.show),
	}
}
