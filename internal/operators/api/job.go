package api

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/job"
)

// The actions that show jobs. Jobs are kept for 90 days.
var (
	// ListJobs lists stopped jobs first, then running, then finished ones, each newest first.
	ListJobs = Action[JobsRequest, List[Job]]{Inspect, "jobs"}

	// GetJob shows one job.
	GetJob = Action[JobRequest, Job]{Inspect, "job"}

	// ListJobFailures lists the ids that a job did not act on: of a job on rejected events, 100 at most. A page of the
	// list may be short or empty.
	ListJobFailures = Action[JobPagesRequest, List[JobFailure]]{Inspect, "job_failures"}

	// GetJobOutcome counts the states of up to 2,000 deliveries that a job sent again, as they are now.
	GetJobOutcome = Action[JobPagesRequest, JobOutcome]{Inspect, "job_outcome"}
)

// JobsRequest selects jobs.
type JobsRequest struct {
	Page
	State job.State `json:"state"`
}

// JobRequest names one job.
type JobRequest struct {
	JobID string `json:"job_id"`
}

// JobPagesRequest asks for a part of a job's results. Parts have no limit: each is about 2,000 ids at most.
type JobPagesRequest struct {
	JobRequest

	// The next_cursor of the part before. Left out, the part is the first.
	Cursor string `json:"cursor"`
}

// Job is an act on many dead letters or rejected events. It is kept for 90 days. A job on rejected events ends 75
// seconds after its start or later, when all requests that receive rejected events are over. Until it is done or
// stopped, lists, acts by id and other such jobs are refused (publishing), dry runs included. Of a long queue, the
// events that it does not select are hidden for up to 15 minutes, and the next such job waits until they are back. If
// it breaks off, it may count an event twice; receivers get it under the same wh-id.
type Job struct {
	JobID string    `json:"job_id"`
	Act   job.Act   `json:"act"`
	State job.State `json:"state"`

	// What the job acts on. Its end is the job's own start at the latest.
	Selector  Selector  `json:"selector"`
	Operator  string    `json:"operator"`
	StartedAt time.Time `json:"started_at"`
	UpdatedAt time.Time `json:"updated_at"`

	// The operator who stopped or resumed it last.
	StoppedBy string `json:"stopped_by"`

	// How many were selected when it was started.
	Selected int `json:"selected"`

	// How many it has acted on.
	Done int `json:"done"`

	// How many it refused, by reason.
	Refused map[string]int `json:"refused"`

	// How many met an internal error five times, a minute apart, by reason. Start the job again for them.
	Failed map[string]int `json:"failed"`

	// How many are left, as an estimate: some may have come, gone or expired since they were counted.
	Left int `json:"left"`
}

// JobFailure is an id that a job did not act on: a delivery's, or a rejected event's message id.
type JobFailure struct {
	ID string `json:"id"`

	// Refused, or failed if it met an internal error.
	Result Result `json:"result"`

	// Why the id was refused, or the cause of its last failure.
	Reason string `json:"reason"`
}

// JobOutcome counts the states of the deliveries that a job sent again, or of one part of them: the sum over all parts
// is the job's.
type JobOutcome struct {
	// How many the job sent again.
	Sent int `json:"sent"`

	// Those that were acknowledged.
	Delivered int `json:"delivered"`

	// Those that died again, purged ones included.
	DeadAgain int `json:"dead_again"`

	// Those that wait, or are being tried.
	UnderWay int `json:"under_way"`

	// Those under way that are held for their endpoints.
	Held int `json:"held"`

	// Those that were discarded on their way.
	Discarded int `json:"discarded"`

	// Those with a record that has expired.
	Unknown int `json:"unknown"`

	// Null after the last part.
	NextCursor *string `json:"next_cursor"`
}
