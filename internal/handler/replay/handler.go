// Package replay sends dead deliveries and rejected events again, purges dead letters, discards rejected events, and
// erases a tenant's items, on an operator's request.
//
// It promises that a replay keeps the delivery's id and body, that two replays of one delivery never run at once, and
// that a replay which is interrupted anywhere can be resumed: the dead letter is claimed, the state written, the
// message sent and the replay of the dead letter ended, in this order. For each id that cannot be replayed, the
// answer has the reason. Jobs on many dead letters are worked off at a bounded rate by invocations of its own, each
// of which goes on where the last one ended. It never replays to an endpoint that is deleted or disabled, and never
// an acknowledged delivery. It deletes for good only where it is invoked by its alias, ForGood.
package replay

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// DeadLetters reads and purges dead letters, claims them for a replay and ends it.
type DeadLetters interface {
	Get(ctx context.Context, deliveryID string) (r deadletter.Record, found bool, err error)
	List(
		ctx context.Context, s job.Selector, p dynamo.LetterPage,
	) (records []deadletter.Record, next string, err error)
	Claim(ctx context.Context, r deadletter.Record, operator, jobID string, now time.Time) (
		replay int, fresh, ok bool, err error)
	EndReplay(
		ctx context.Context, deliveryID string, replay int, status deadletter.Status, now time.Time,
	) error
	Purge(ctx context.Context, r deadletter.Record) (deleted bool, err error)
}

// States writes delivery records.
type States interface {
	Update(ctx context.Context, r delivery.Record) (written bool, err error)
	Purged(ctx context.Context, r delivery.Record) error
}

// Endpoints reads one endpoint, strongly consistent.
type Endpoints interface {
	Get(ctx context.Context, tenantID, endpointID string) (e endpoint.Endpoint, found bool, err error)
}

// Sender sends to a queue and answers with one error per message.
type Sender interface {
	Send(ctx context.Context, messages []queue.Outgoing) []error
}

// Rejected takes events off EventsDeadLetterQueue.
type Rejected interface {
	Receive(ctx context.Context, most int, hidden time.Duration) ([]rejected.Event, error)
	Restore(ctx context.Context, events []rejected.Event) error
	Delete(ctx context.Context, e rejected.Event) error
}

// Handler replays. All fields are required.
type Handler struct {
	DeadLetters DeadLetters
	States      States
	Endpoints   Endpoints
	Jobs        Jobs
	Vault       deadletter.Vault
	Deliveries  Sender // DeliveryQueue
	Retries     Sender // RetryQueue, for jobs
	Events      Sender // EventsQueue
	Rejected    Rejected
	Erasure     Erasure
	Audit       audit.Writer
	Log         *slog.Logger
	Now         func() time.Time
}

// Function returns the operator function with the actions of this package.
func (h *Handler) Function() *operator.Function {
	return &operator.Function{Name: "replay", Audit: h.Audit, Log: h.Log, Now: h.Now, Actions: map[string]operator.Action{
		"deliveries":              operator.Do(h.deliveries),
		"endpoint":                operator.Do(refuseEndpoint),
		"rejected_events":         operator.Do(h.rejectedEvents),
		"discard_rejected_events": operator.Do(h.discardRejectedEvents),
		"purge":                   operator.Do(h.purge),
		"erase":                   operator.Do(h.erase),
		"start_job":               operator.Do(h.startJob),
		"stop_job":                operator.Do(h.stopJob),
		"resume_job":              operator.Do(h.resumeJob),
		"work_jobs":               operator.Do(h.workJobs),
	}}
}

// maxIDs is the most ids in one request.
const maxIDs = 1000

// reserve is the time before the function's deadline after which no work begins: enough to finish work in progress,
// AWS calls that are tried again included.
const reserve = 10 * time.Second

// finishTime bounds the writes that finish an action, even when ctx has ended.
const finishTime = 5 * time.Second

// late reports whether too little time is left to start anything.
func late(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || (ok && time.Until(deadline) < reserve)
}

// finishing returns a context for finishing an action.
func finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), finishTime)
}

// The results of one id.
const (
	resultReplayed     = "replayed"
	resultWouldPublish = "would_publish" // counted in advance, never answered
	resultPurged       = "purged"
	resultDiscarded    = "discarded"
	resultRefused      = "refused" // see the reason; nothing was changed
	resultFailed       = "failed"  // an error of ours: try again
	resultNotFound     = "not_found"
	resultNotStarted   = "not_started" // time ran out first: ask again
)

// The reasons of refused and failed ids.
const (
	reasonAlreadyReplayed     = "already_replayed"
	reasonAlreadyAcknowledged = "already_acknowledged" // it was delivered after all
	reasonResumed             = "resumed"              // a replay that broke off had sent it
	reasonReplayRunning       = "replay_running"
	reasonReplayLimit         = "replay_limit"
	reasonUnreadable          = "unreadable" // no delivery: it can be looked at and purged
	reasonUnopenable          = "unopenable" // changed since it was sealed, or another record's: an incident
	reasonEndpointDeleted     = "endpoint_deleted"
	reasonEndpointDisabled    = "endpoint_disabled"
	reasonEndpointUnreadable  = "endpoint_unreadable" // its row was damaged
	reasonUnsubscribed        = "unsubscribed"        // its endpoint no longer selects the type
	reasonTenantMismatch      = "tenant_mismatch"
	reasonChanged             = "changed_meanwhile"
	reasonDiedAgain           = "died_again"         // since the job began
	reasonNotSelected         = "no_longer_selected" // it died again or was replayed since the job began
	reasonNotSent             = "not_sent"
	reasonInternal            = "internal"
)

// Result is the outcome for one delivery id.
type Result struct {
	DeliveryID string `json:"delivery_id"`
	Result     string `json:"result"`
	Reason     string `json:"reason"`
}
