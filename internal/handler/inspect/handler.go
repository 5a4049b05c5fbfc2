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

	"github.com/herald-webhooks/herald/internal/allowance"
	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/operator"
)

// Handler holds the stores of all actions. All fields are required. No view holds the Handler: Function gives each of
// them the stores that it reads.
type Handler struct {
	Deliveries  Deliveries
	DeadLetters DeadLetters
	Directory   operator.Directory
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
func (h *Handler) Function() *operator.Function {
	actions := h.aboutEndpoints()
	for _, more := range []map[string]operator.Action{h.aboutDeliveries(), h.aboutLetters(), h.aboutOperations()} {
		maps.Copy(actions, more)
	}
	return &operator.Function{Name: "inspect", Audit: h.Audit, Log: h.Log, Now: h.Now, Actions: actions}
}

// aboutEndpoints are the actions that show endpoints, and the overview of all trouble.
func (h *Handler) aboutEndpoints() map[string]operator.Action {
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
	return map[string]operator.Action{
		"endpoints": operator.Do(list.list), "endpoint": operator.Do(one.show), "summary": operator.Do(all.summary),
	}
}

// aboutDeliveries are the actions that show deliveries.
func (h *Handler) aboutDeliveries() map[string]operator.Action {
	one := deliveryView{h.Deliveries}
	list := deliveryList{
		deliveries: h.Deliveries, directory: h.Directory,
		search: eventSearch{deliveries: h.Deliveries, ids: h.IDs},
	}
	return map[string]operator.Action{"delivery": operator.Do(one.show), "deliveries": operator.Do(list.list)}
}

// aboutLetters are the actions that show dead letters and causes of death.
func (h *Handler) aboutLetters() map[string]operator.Action {
	reader := endpointReader{h.Readings}
	view := letterView{endpoints: reader, log: h.Log}
	list := letterList{letters: h.DeadLetters, directory: h.Directory, view: view}
	opener := letterOpener{letters: h.DeadLetters, vault: h.Vault, view: view}
	causes := causeList{letters: h.DeadLetters, directory: h.Directory, endpoints: reader}
	return map[string]operator.Action{
		"dead_letters": operator.Do(list.list), "dead_letter": operator.Do(opener.open), "causes": operator.Do(causes.list),
	}
}

// aboutOperations are the actions that show operators' jobs, and the events that wait for an operator.
func (h *Handler) aboutOperations() map[string]operator.Action {
	jobs := jobView{jobs: h.Jobs, deliveries: h.Deliveries}
	events := rejectedView{queue: h.Rejected, jobs: h.Jobs, log: h.Log, now: h.Now}
	return map[string]operator.Action{
		"jobs": operator.Do(jobs.list), "job": operator.Do(jobs.show), "job_failures": operator.Do(jobs.failures),
		"job_outcome": operator.Do(jobs.outcome), "rejected_events": operator.Do(events.show),
	}
}
