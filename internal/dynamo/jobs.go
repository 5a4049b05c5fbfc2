package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/job"
)

// Jobs keeps operators' jobs: an item for each, and one for each page of its results. Operators change the
// state of a job, its worker everything else, and only under its lease: neither write refuses the other.
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
	Part      string `dynamodbav:"part"`
	Kind      string `dynamodbav:"kind"`             // key of jobsIndex
	Position  string `dynamodbav:"position"`         // its sort key: stopped and running jobs come first
	Worker    string `dynamodbav:"worker,omitempty"` // holder of the lease
	ExpiresAt int64  `dynamodbav:"expires_at"`
}

func jobKey(id string) attributes { return attributes{"job_id": str(id), "part": str(jobPart)} }

func jobPosition(s job.State, startedAt time.Time) string {
	return string(s) + " " + startedAt.UTC().Format(timeFormat)
}

// Create stores a new job. created is false where one has its id: stored is that one.
func (s *Jobs) Create(ctx context.Context, j job.Job) (stored job.Job, created bool, err error) {
	was, created, err := s.put(ctx, jobRow{
		Job: j, Part: jobPart, Kind: jobPart, Position: jobPosition(j.State, j.StartedAt),
		ExpiresAt: j.StartedAt.Add(JobLife).Unix(),
	}, write{condition: "attribute_not_exists(job_id)"})
	if err != nil || created {
		return j, created, err
	}
	stored, err = decode[job.Job](was)
	return stored, false, err
}

// Get returns a job, strongly consistent.
func (s *Jobs) Get(ctx context.Context, id string) (j job.Job, found bool, err error) {
	return get[job.Job](ctx, s.table, jobKey(id))
}

// List returns the jobs of a state or, for "", of all: first the stopped, then the running ones, each newest first.
// next is "" after the last page.
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

// Running reports whether a job is running, a moment behind: one read of an index.
func (s *Jobs) Running(ctx context.Context) (bool, error) {
	found, _, err := s.query(ctx, query{
		index: jobsIndex, condition: "kind = :kind AND begins_with(#position, :state)", limit: 1,
		values: given{":kind": jobPart, ":state": string(job.Running) + " "},
	})
	return len(found) > 0, err
}

// SetState changes the state from one to another for an operator. changed is false where it is in neither.
func (s *Jobs) SetState(
	ctx context.Context, j job.Job, to job.State, operator string, now time.Time,
) (stored job.Job, changed bool, err error) {
	return update[job.Job](ctx, s.table, jobKey(j.ID), write{
		expression: "SET #state = :to, #position = :position, stopped_by = :by, updated_at = :now, runs_from = :now",
		condition:  "#state = :from OR #state = :to",
		values: given{
			":from": j.State, ":to": to, ":by": operator, ":now": now, ":position": jobPosition(to, j.StartedAt),
		},
	})
}

// Lease gives a running job to a worker until then, unless another has it.
func (s *Jobs) Lease(
	ctx context.Context, id, worker string, now, until time.Time,
) (j job.Job, leased bool, err error) {
	return update[job.Job](ctx, s.table, jobKey(id), write{
		expression: "SET worker = :worker, leased_until = :until",
		condition: "#state = :running AND (attribute_not_exists(leased_until) OR leased_until < :now OR " +
			"worker = :worker)",
		values: given{":worker": worker, ":until": until, ":now": now, ":running": job.Running},
	})
}

// workerAttributes are written by each advance. The worker's name is among them, so that a job of another worker is
// never taken for one that has been advanced already.
var workerAttributes = append(namesOf[job.Progress](), "worker")

// Advance stores how far its worker has brought a job; finished, it is done. stored is the job as it stands
// then: an operator may have stopped it. leased is false where the worker has lost it.
func (s *Jobs) Advance(ctx context.Context, j job.Job, worker string) (stored job.Job, leased bool, err error) {
	written := workerAttributes
	row := jobRow{Job: j, Worker: worker}
	if j.Finished() {
		written = append([]string{"state", "position"}, written...)
		row.State, row.Position = job.Done, jobPosition(job.Done, j.StartedAt)
	}
	return update[job.Job](ctx, s.table, jobKey(j.ID), write{
		row: row, owned: written, condition: "worker = :worker",
	})
}

// Leave ends a worker's lease.
func (s *Jobs) Leave(ctx context.Context, id, worker string) error {
	_, _, err := s.updateItem(ctx, jobKey(id), write{
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

// PutPage stores a page of a job's results, in place of one with its number.
func (s *Jobs) PutPage(ctx context.Context, j job.Job, p job.Page) error {
	_, _, err := s.put(ctx, pageRow{
		Page: p, JobID: j.ID, Part: pageName(p.Number), ExpiresAt: j.StartedAt.Add(JobLife).Unix(),
	}, write{})
	return err
}

// Pages returns up to limit pages of a job's results behind the one numbered after, strongly consistent. more is
// false after the last.
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
