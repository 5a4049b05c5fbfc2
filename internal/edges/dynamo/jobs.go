package dynamo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Jobs keeps operators' jobs. A job has one item, and one more for each page of its results. Operators change only the
// state of a job. The worker changes everything else, and only under its lease. So no write of an operator refuses a
// write of the worker, nor the other way round.
type Jobs struct{ table }

// NewJobs returns the store on a table.
func NewJobs(client *dynamodb.Client, name string) *Jobs { return &Jobs{table{client, name}} }

// JobLife is how long a job and its results are kept.
const JobLife = 90 * 24 * time.Hour

const (
	jobPart   = "job"
	pagePart  = "page#"
	jobsIndex = "by-state"
)

// jobRow is a job as it is stored.
type jobRow struct {
	job.Job
	Part string `dynamodbav:"part"`

	// Kind is the hash key of jobsIndex, and Position its sort key. Stopped and running jobs come first.
	Kind     string `dynamodbav:"kind"`
	Position string `dynamodbav:"position"`

	// Worker has the lease.
	Worker    string `dynamodbav:"worker,omitempty"`
	ExpiresAt int64  `dynamodbav:"expires_at"`
}

// storedJob is a job as it is read. It names what the selection has that this version does not know.
type storedJob struct{ job.Job }

// UnmarshalDynamoDBAttributeValue reads a job's item.
func (j *storedJob) UnmarshalDynamoDBAttributeValue(value types.AttributeValue) error {
	item, ok := value.(*types.AttributeValueMemberM)
	if !ok {
		return fmt.Errorf("a job is %T", value)
	}
	if err := unmarshal(item.Value, &j.Job); err != nil {
		return err
	}
	selector, _ := item.Value["selector"].(*types.AttributeValueMemberM)
	if selector == nil {
		return nil
	}
	known := namesOf[job.Selector]()
	for _, name := range slices.Sorted(maps.Keys(selector.Value)) {
		if !slices.Contains(known, name) {
			j.Unknown = append(j.Unknown, name)
		}
	}
	return nil
}

func jobKey(id string) attributes { return attributes{"job_id": str(id), "part": str(jobPart)} }

// jobPosition sorts the jobs of a state by their start.
func jobPosition(s job.State, startedAt time.Time) string {
	return string(s) + " " + startedAt.UTC().Format(timeFormat)
}

// Create stores a new job. If a job with its id exists, created is false and stored is that job.
func (s *Jobs) Create(ctx context.Context, j job.Job) (stored job.Job, created bool, err error) {
	was, created, err := s.put(ctx, jobRow{
		Job: j, Part: jobPart, Kind: jobPart, Position: jobPosition(j.State, j.StartedAt),
		ExpiresAt: j.StartedAt.Add(JobLife).Unix(),
	}, condition{holds: "attribute_not_exists(job_id)"})
	if err != nil || created {
		return j, created, err
	}
	found, err := decode[storedJob](was)
	return found.Job, false, err
}

// Get returns a job by a strongly consistent read.
func (s *Jobs) Get(ctx context.Context, id string) (j job.Job, found bool, err error) {
	stored, found, err := get[storedJob](ctx, s.table, jobKey(id))
	return stored.Job, found, err
}

// List returns the jobs with a state, or all jobs for "". Stopped jobs come first, then running jobs, each the newest
// first. next is "" after the last page.
func (s *Jobs) List(
	ctx context.Context, state job.State, limit int, cursor string,
) (jobs []job.Job, next string, err error) {
	q := query{
		index: jobsIndex, condition: "kind = :kind", values: given{":kind": jobPart},
		limit: limit, backwards: true,
	}
	if state != "" {
		q.condition += " AND begins_with(#position, :state)"
		q.values[":state"] = string(state) + " "
	}
	items, next, err := s.list(ctx, q, cursor)
	if err != nil {
		return nil, "", err
	}
	for _, item := range items {
		j, found, err := s.Get(ctx, getStr(item, "job_id"))
		if err != nil {
			return nil, "", err
		}
		if found && (state == "" || j.State == state) {
			jobs = append(jobs, j)
		}
	}
	return jobs, next, nil
}

// Running reports whether a job is running. It is one read of an index, which is a moment behind the table.
func (s *Jobs) Running(ctx context.Context) (bool, error) {
	found, _, err := s.query(ctx, query{
		index: jobsIndex, condition: "kind = :kind AND begins_with(#position, :state)", limit: 1,
		values: given{":kind": jobPart, ":state": string(job.Running) + " "},
	})
	return len(found) > 0, err
}

// SetState changes the state of j to another for an operator. changed is false if the stored job has neither state.
func (s *Jobs) SetState(
	ctx context.Context, j job.Job, to job.State, operator string, now time.Time,
) (stored job.Job, changed bool, err error) {
	return s.change(ctx, j.ID, update{
		expression: "SET #state = :to, #position = :position, stopped_by = :by, updated_at = :now, runs_from = :now",
		condition:  "#state = :from OR #state = :to",
		values: given{
			":from": j.State, ":to": to, ":by": operator, ":now": now, ":position": jobPosition(to, j.StartedAt),
		},
	})
}

// Lease gives a running job to a worker until then, unless another worker has it.
func (s *Jobs) Lease(
	ctx context.Context, id, worker string, now, until time.Time,
) (j job.Job, leased bool, err error) {
	return s.change(ctx, id, update{
		expression: "SET worker = :worker, leased_until = :until",
		condition: "#state = :running AND (attribute_not_exists(leased_until) OR leased_until < :now OR " +
			"worker = :worker)",
		values: given{":worker": worker, ":until": until, ":now": now, ":running": job.Running},
	})
}

// workerAttributes are the attributes that each Advance writes. The worker's name is one of them. Otherwise the job of
// another worker could look as if this Advance had been applied before.
var workerAttributes = append(namesOf[job.Progress](), "worker")

// Advance stores the progress that the worker has made with a job. A finished job gets the state done. stored is the
// job after the change: an operator may have stopped it. leased is false if the worker has lost its lease.
func (s *Jobs) Advance(ctx context.Context, j job.Job, worker string) (stored job.Job, leased bool, err error) {
	written := workerAttributes
	advanced := jobRow{Job: j, Worker: worker}
	if j.Finished() {
		written = append([]string{"state", "position"}, written...)
		advanced.State, advanced.Position = job.Done, jobPosition(job.Done, j.StartedAt)
	}
	u, err := row{from: advanced, owned: written, condition: condition{holds: "worker = :worker"}}.update()
	if err != nil {
		return job.Job{}, false, err
	}
	return s.change(ctx, j.ID, u)
}

// change updates a job, and returns it as it is then.
func (s *Jobs) change(ctx context.Context, id string, u update) (j job.Job, changed bool, err error) {
	stored, changed, err := updateAs[storedJob](ctx, s.table, jobKey(id), u)
	return stored.Job, changed, err
}

// Leave ends a worker's lease.
func (s *Jobs) Leave(ctx context.Context, id, worker string) error {
	_, _, err := s.updateItem(ctx, jobKey(id), update{
		expression: "REMOVE worker, leased_until", condition: "worker = :worker",
		values: given{":worker": worker},
	})
	return err
}

// pageRow is a page of results as it is stored.
type pageRow struct {
	job.Page
	JobID     string `dynamodbav:"job_id"`
	Part      string `dynamodbav:"part"`
	ExpiresAt int64  `dynamodbav:"expires_at"`
}

func pageName(number int) string { return fmt.Sprintf("%s%08d", pagePart, number) }

// PutPage stores a page of a job's results in place of any page with its number.
func (s *Jobs) PutPage(ctx context.Context, j job.Job, p job.Page) error {
	_, _, err := s.put(ctx, pageRow{
		Page: p, JobID: j.ID, Part: pageName(p.Number), ExpiresAt: j.StartedAt.Add(JobLife).Unix(),
	}, condition{})
	return err
}

// Pages returns up to limit pages of a job's results, beginning behind the page with the number after. The read is
// strongly consistent. more is false after the last page.
func (s *Jobs) Pages(ctx context.Context, id string, after, limit int) (pages []job.Page, more bool, err error) {
	items, last, err := s.query(ctx, query{
		condition: "job_id = :id AND part BETWEEN :first AND :last", limit: limit,
		values: given{":id": id, ":first": pageName(after + 1), ":last": pageName(99999999)},
	})
	if err != nil {
		return nil, false, err
	}
	pages, err = decodeAll[job.Page](items)
	return pages, len(last) > 0, err
}
