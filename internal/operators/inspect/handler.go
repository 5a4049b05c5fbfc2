// Package inspect answers operators' questions: delivery state, endpoints in trouble and their backlog, dead letters,
// rejected events, and an overview of all of these.
//
// It promises to change nothing: rejected events it looks at stay on their queue, and are hidden from no job that
// publishes them. Bodies are shown only by the actions that name one, each after an audit line, and never logged.
package inspect

import (
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/api"
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
	Owners      Owners
	IDs         IDs
	Subscribers Subscribers
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
	actions := invoke.NotBy(invoke.Scan,
		slices.Concat(h.aboutEndpoints(), h.aboutDeliveries(), h.aboutLetters(), h.aboutOperations())...)
	actions = append(actions, invoke.Serve(api.ListSubscribers, subscriberList{h.Subscribers}.list))
	return &invoke.Function{
		Name: string(api.Inspect), Audit: h.Audit, Log: h.Log, Now: h.Now, Actions: invoke.Table(actions...),
	}
}

func (h *Handler) health() healthView {
	return healthView{settings: h.Probing, maxLife: h.MaxLife, now: h.Now}
}

func (h *Handler) causes() causeList {
	return causeList{
		letters: h.DeadLetters, directory: h.Directory, endpoints: endpointReader{h.Readings}, health: h.health(),
	}
}

// aboutEndpoints are the actions that show endpoints and tenants, and the overview of all trouble.
func (h *Handler) aboutEndpoints() []invoke.Entry {
	reader, waiting := endpointReader{h.Readings}, waitingCounter{h.Backlog}
	health, causes := h.health(), h.causes()
	list := endpointList{
		ids: h.IDs, circuits: h.Circuits, reader: reader, owners: h.Owners, waiting: waiting, health: health,
	}
	one := endpointView{directory: h.Directory, owners: h.Owners, backlog: h.Backlog, health: health}
	trouble := troubleCounter{
		circuits: h.Circuits, reader: reader, health: health, allowance: h.Allowance, now: h.Now,
	}
	all := overview{
		trouble: trouble, waiting: waiting, letters: h.DeadLetters, queues: queueMeter{h.Meter, h.Queues}, causes: causes,
	}
	tenant := tenantView{
		directory: h.Directory, endpoints: list, causes: causes, jobs: h.Jobs, allowance: h.Allowance,
	}
	return []invoke.Entry{
		invoke.Serve(api.ListEndpoints, list.list),
		invoke.Serve(api.GetEndpoint, one.show),
		invoke.Serve(api.GetTenant, tenant.show),
		invoke.Serve(api.ListSubscribers, subscriberList{h.Subscribers}.list),
		invoke.Serve(api.GetSummary, all.summary),
	}
}

// aboutDeliveries are the actions that show deliveries.
func (h *Handler) aboutDeliveries() []invoke.Entry {
	one := deliveryView{h.Deliveries}
	list := deliveryList{
		deliveries: h.Deliveries, directory: h.Directory,
		search: eventSearch{deliveries: h.Deliveries, ids: h.IDs},
	}
	return []invoke.Entry{
		invoke.Serve(api.GetDelivery, one.show),
		invoke.Serve(api.ListDeliveries, list.list),
	}
}

// aboutLetters are the actions that show dead letters and causes of death.
func (h *Handler) aboutLetters() []invoke.Entry {
	reader := endpointReader{h.Readings}
	view := letterView{endpoints: reader, log: h.Log}
	list := letterList{letters: h.DeadLetters, directory: h.Directory, view: view}
	opener := letterOpener{letters: h.DeadLetters, vault: h.Vault, view: view}
	return []invoke.Entry{
		invoke.Serve(api.ListDeadLetters, list.list),
		invoke.Serve(api.OpenDeadLetter, opener.open),
		invoke.Serve(api.ListCauses, h.causes().list),
	}
}

// aboutOperations are the actions that show operators' jobs, and the events that wait for an operator.
func (h *Handler) aboutOperations() []invoke.Entry {
	jobs := jobView{jobs: h.Jobs, deliveries: h.Deliveries}
	events := rejectedView{
		queue: h.Rejected, meter: queueMeter{h.Meter, h.Queues}, jobs: h.Jobs, log: h.Log, now: h.Now,
	}
	return []invoke.Entry{
		invoke.Serve(api.ListJobs, jobs.list),
		invoke.Serve(api.GetJob, jobs.show),
		invoke.Serve(api.ListJobFailures, jobs.failures),
		invoke.Serve(api.GetJobOutcome, jobs.outcome),
		invoke.Serve(api.ListRejected, events.show),
	}
}
