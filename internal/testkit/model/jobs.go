package model

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Jobs returns the store as the process calls it.
func (p *Process) Jobs() Jobs { return Jobs{p} }

// Jobs is the table Jobs as one process calls it (dynamo.Jobs).
type Jobs struct{ *Process }

// JobRow is a job with its lease and its results.
type JobRow struct {
	job.Job
	Lease job.Lease
	Pages map[int]job.Page // by number
}

const (
	writeJobs = "Write Jobs"
	readJobs  = "Read Jobs"
)

// Create stores a new job. created is false where one has its id: stored is that one.
func (s Jobs) Create(ctx context.Context, j job.Job) (stored job.Job, created bool, err error) {
	j = keptJob(j)
	err = s.one(ctx, writeJobs, j.ID, func() {
		row, found := s.model.Jobs[j.ID]
		if !found {
			row = JobRow{Job: j, Pages: map[int]job.Page{}}
			s.model.Jobs[j.ID] = row
		}
		stored, created = row.Job, !found || reflect.DeepEqual(row.Job, j)
	})
	return stored, created && err == nil, err
}

// keptJob is a job as the table keeps it: its times in milliseconds.
func keptJob(j job.Job) job.Job {
	inMillis(&j.Asked, &j.StartedAt, &j.RunsFrom, &j.Selector.Since, &j.Selector.Until,
		&j.Selector.PublishedSince, &j.Selector.PublishedUntil, &j.UpdatedAt)
	inMillis(&j.HiddenSince, &j.HiddenUntil)
	return j
}

// Get returns a job.
func (s Jobs) Get(ctx context.Context, id string) (j job.Job, found bool, err error) {
	err = s.one(ctx, readJobs, id, func() {
		var row JobRow
		row, found = s.model.Jobs[id]
		j = row.Job
	})
	return j, found && err == nil, err
}

// List returns a page of the jobs of a state or, for "", of all: the stopped, the running, the done, each newest first.
func (s Jobs) List(
	ctx context.Context, state job.State, limit int, cursor string,
) (jobs []job.Job, next string, err error) {
	got, err := asked(ctx, s.Process, readJobs, "list", func() paged[string] {
		var entries []string
		for id, row := range s.model.Jobs {
			if state == "" || row.State == state {
				rank := slices.Index([]job.State{job.Stopped, job.Running, job.Done}, row.State)
				entries = append(entries, fmt.Sprint(rank, newest(row.StartedAt), " ", id))
			}
		}
		slices.Sort(entries)
		return cut(entries, limit, cursor)
	})
	if err = cmp.Or(err, got.err); err != nil {
		return nil, "", err
	}
	for _, entry := range got.page {
		_, id, _ := strings.Cut(entry, " ")
		j, found, err := s.Get(ctx, id)
		if err != nil {
			return nil, "", err
		}
		if found {
			jobs = append(jobs, j)
		}
	}
	return jobs, got.next, nil
}

// Running reports whether a job is running.
func (s Jobs) Running(ctx context.Context) (bool, error) {
	return asked(ctx, s.Process, readJobs, "running", func() bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(s.model.Jobs)), func(row JobRow) bool {
			return row.State == job.Running
		})
	})
}

// change changes a job that may be changed, and returns it as it is then.
func (s Jobs) change(
	ctx context.Context, id string, may func(JobRow) bool, change func(*JobRow),
) (stored job.Job, changed bool, err error) {
	err = s.one(ctx, writeJobs, id, func() {
		row, found := s.model.Jobs[id]
		changed = found && may(row)
		if changed {
			change(&row)
			row.Job = keptJob(row.Job)
			s.model.Jobs[id] = row
		}
		stored = row.Job
	})
	if err != nil {
		return job.Job{}, false, err
	}
	return stored, changed, nil
}

// SetState changes the state from one to another for an operator.
func (s Jobs) SetState(
	ctx context.Context, j job.Job, to job.State, operator string, now time.Time,
) (stored job.Job, changed bool, err error) {
	may := func(row JobRow) bool { return row.State == j.State || row.State == to }
	return s.change(ctx, j.ID, may, func(row *JobRow) {
		row.State = to
		row.StoppedBy = operator
		row.UpdatedAt = now
		row.RunsFrom = now
	})
}

// Lease gives a running job to a worker until then, unless another has it.
func (s Jobs) Lease(
	ctx context.Context, id, worker string, now, until time.Time,
) (j job.Job, leased bool, err error) {
	may := func(row JobRow) bool { return row.State == job.Running && row.Lease.Yields(worker, now) }
	return s.change(ctx, id, may, func(row *JobRow) {
		row.Lease = job.Lease{Worker: worker, Until: until}
		inMillis(&row.Lease.Until)
	})
}

// Advance stores how far the worker with the lease has brought a job.
func (s Jobs) Advance(ctx context.Context, j job.Job, worker string) (stored job.Job, leased bool, err error) {
	return s.change(ctx, j.ID, heldBy(worker), func(row *JobRow) {
		row.Progress = j.Progress
		if j.Finished() {
			row.State = job.Done
		}
	})
}

func heldBy(worker string) func(JobRow) bool {
	return func(row JobRow) bool { return row.Lease.Worker == worker }
}

// Leave ends a worker's lease.
func (s Jobs) Leave(ctx context.Context, id, worker string) error {
	_, _, err := s.change(ctx, id, heldBy(worker), func(row *JobRow) { row.Lease = job.Lease{} })
	return err
}

// PutPage stores a page of results, in place of one with its number.
func (s Jobs) PutPage(ctx context.Context, j job.Job, p job.Page) error {
	return s.one(ctx, writeJobs, j.ID, func() {
		row, found := s.model.Jobs[j.ID]
		if !found {
			row = JobRow{Pages: map[int]job.Page{}}
		}
		row.Pages[p.Number] = p
		s.model.Jobs[j.ID] = row
	})
}

// Pages returns up to limit pages of results, those numbered above after.
func (s Jobs) Pages(ctx context.Context, id string, after, limit int) (pages []job.Page, more bool, err error) {
	err = s.one(ctx, readJobs, id, func() {
		stored := s.model.Jobs[id].Pages
		for _, number := range slices.Sorted(maps.Keys(stored)) {
			if number > after && len(pages) < limit {
				pages = append(pages, stored[number])
			}
		}
		more = len(pages) == limit // the rest may be empty
	})
	if err != nil {
		return nil, false, err
	}
	return pages, more, nil
}
