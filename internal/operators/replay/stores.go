package replay

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Letters reads dead letters.
type Letters interface {
	// Get reads one letter with its sealed parts, strongly consistent.
	Get(ctx context.Context, deliveryID string) (r deadletter.Record, found bool, err error)

	// List reads a page of the selected letters, without their sealed parts and a moment behind. Next is "" after the last
	// page. A page may be short or empty before that.
	List(
		ctx context.Context, s job.Selector, p dynamo.LetterPage,
	) (records []deadletter.Record, next string, err error)
}

// readsAtOnce bounds the reads of one page of dead letters, in each shard of their index. Those that are selected may
// be few among all of the stack, and an invocation that read on until it has a full page would end before it has one.
const readsAtOnce = 10

// jobPage is how many dead letters of a job are taken up together, and how many jobs are read together.
const jobPage = 100

// Claims takes a dead letter for a replay, and ends the replay.
type Claims interface {
	// Claim takes a letter as Get returned it, and answers with the number of its replay. Fresh is false where the claim
	// resumes a replay that broke off, the message of which may have been sent. Ok is false where the letter has changed
	// since, or where another replay holds it.
	Claim(ctx context.Context, r deadletter.Record, operator, jobID string, now time.Time) (
		replay int, fresh, ok bool, err error)

	// EndReplay ends a claimed replay: replayed where its message was sent, otherwise dead. It changes nothing where the
	// letter has moved on, such as one that has died again.
	EndReplay(
		ctx context.Context, deliveryID string, replay int, status deadletter.Status, now time.Time,
	) error
}

// Purges deletes a dead letter.
type Purges interface {
	// Purge deletes a letter as Get returned it. Deleted is false where the letter has changed since. One that is gone
	// counts as deleted.
	Purge(ctx context.Context, r deadletter.Record) (deleted bool, err error)
}

// DeadLetters is the table DeadLetters (dynamo.DeadLetters). Each worker holds a part of it.
type DeadLetters interface {
	Letters
	Claims
	Purges
}

// States writes delivery records (dynamo.Deliveries).
type States interface {
	// Update writes a state. Written is false where the delivery is further along.
	Update(ctx context.Context, r delivery.Record) (written bool, err error)

	// Purged writes that the dead letter of a delivery is gone.
	Purged(ctx context.Context, r delivery.Record) error
}

// Endpoints reads one endpoint, strongly consistent (dynamo.Endpoints).
type Endpoints interface {
	Get(ctx context.Context, tenantID, endpointID string) (e endpoint.Endpoint, found bool, err error)
}

// Sender sends to a queue and answers with one error per message (queue.Sender).
type Sender interface {
	Send(ctx context.Context, messages []queue.Outgoing) []error
}

// Rejected takes events off EventsDeadLetterQueue (rejected.Queue).
type Rejected interface {
	// Receive takes up to ten events, which stay hidden for the given time. An empty answer means an empty queue.
	Receive(ctx context.Context, most int, hidden time.Duration) ([]rejected.Event, error)

	// Restore ends the hiding of received events at once, even where ctx has ended.
	Restore(ctx context.Context, events []rejected.Event) error

	// Delete takes a received event off the queue for good.
	Delete(ctx context.Context, e rejected.Event) error
}

// OrderedJobs is the operators' part of the table Jobs: they start, stop and resume jobs.
type OrderedJobs interface {
	// Create stores a new job. Created is false where a job has its id. That job is the stored one then.
	Create(ctx context.Context, j job.Job) (stored job.Job, created bool, err error)

	// Get reads one job, strongly consistent.
	Get(ctx context.Context, id string) (j job.Job, found bool, err error)

	// SetState stops a job or lets it run. Changed is false where the job is done.
	SetState(ctx context.Context, j job.Job, to job.State, operator string, now time.Time) (
		stored job.Job, changed bool, err error)
}

// ListedJobs lists the jobs in a state, the latest first.
type ListedJobs interface {
	List(ctx context.Context, state job.State, limit int, cursor string) (jobs []job.Job, next string, err error)
}

// LeasedJobs is the worker's part of the table Jobs: it leases a job, stores its progress and leaves it.
type LeasedJobs interface {
	// Lease gives a running job to a worker, unless another worker has it.
	Lease(ctx context.Context, id, worker string, now, until time.Time) (j job.Job, leased bool, err error)

	// Advance stores how far its worker has brought a job. A finished job is done then. Leased is false where the worker
	// has lost the job.
	Advance(ctx context.Context, j job.Job, worker string) (stored job.Job, leased bool, err error)

	// PutPage stores a page of results, in place of one with its number.
	PutPage(ctx context.Context, j job.Job, p job.Page) error

	// Leave ends a worker's lease.
	Leave(ctx context.Context, id, worker string) error
}

// workedJobs is the table Jobs without the operators' part.
type workedJobs interface {
	ListedJobs
	LeasedJobs
}

// Jobs is the table Jobs (dynamo.Jobs). Each worker holds a part of it.
type Jobs interface {
	OrderedJobs
	ListedJobs
	LeasedJobs
}

// Erasure counts and deletes a tenant's items, a page of a kind at a time, in the order of the kinds (dynamo.Erasure).
type Erasure interface {
	// Page erases the page from a start, "" for the first, and answers with the start of the next, "" after the last.
	Page(ctx context.Context, tenantID, start string, dryRun bool) (kind string, count int, next string, err error)
}

// auditor keeps lines about the changes to come (operator.Call).
type auditor interface {
	Audit(ctx context.Context, lines ...audit.Line) error
}
