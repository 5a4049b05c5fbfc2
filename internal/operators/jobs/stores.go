package jobs

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Letters lists dead letters (dynamo.DeadLetters).
type Letters interface {
	// List reads a page of the selected letters, without their sealed parts. It lags a moment behind the table. Next is ""
	// after the last page. A page may be short or empty before that.
	List(
		ctx context.Context, s job.Selector, p dynamo.LetterPage,
	) (records []deadletter.Record, next string, err error)
}

// Rejected takes events off EventsDeadLetterQueue (rejected.Queue).
type Rejected interface {
	// Receive takes up to ten events, which stay hidden for the given time. An empty answer means an empty queue.
	Receive(ctx context.Context, most int, hidden time.Duration) ([]rejected.Event, error)

	// Restore makes received events visible again at once, even if ctx has ended.
	Restore(ctx context.Context, events []rejected.Event) error
}

// pageSize is how many dead letters of a job are taken up together, and how many jobs are read together.
const pageSize = 100

// OrderedJobs is the operators' part of the table Jobs: they start, stop and resume jobs.
type OrderedJobs interface {
	// Create stores a new job. If a job has its id already, Create returns that job, and created is false.
	Create(ctx context.Context, j job.Job) (stored job.Job, created bool, err error)

	// Get reads one job, strongly consistent.
	Get(ctx context.Context, id string) (j job.Job, found bool, err error)

	// SetState stops a job or lets it run. Changed is false if the job is done.
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

	// Advance stores how far its worker has brought a job, and ends a job that is finished. Leased is false if the worker
	// has lost the job, which another worker may have by now.
	Advance(ctx context.Context, j job.Job, worker string) (stored job.Job, leased bool, err error)

	// PutPage stores a page of results. It replaces a page with the same number.
	PutPage(ctx context.Context, j job.Job, p job.Page) error

	// Leave ends a worker's lease.
	Leave(ctx context.Context, id, worker string) error
}

// Table is the table Jobs (dynamo.Jobs). Each worker holds a part of it.
type Table interface {
	OrderedJobs
	ListedJobs
	LeasedJobs
}
