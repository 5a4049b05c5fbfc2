package jobs

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/job"
)

// maxJobs bounds the jobs that take turns in an invocation.
const maxJobs = 20

// running are the jobs that take turns now. Where there are many, they are those that had their last turn the longest
// ago.
func running(ctx context.Context, table ListedJobs, now time.Time) ([]job.Job, error) {
	var all []job.Job
	for next := ""; ; {
		some, after, err := table.List(ctx, job.Running, pageSize, next)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if after == "" {
			break
		}
		next = after
	}
	free, err := withoutWaiting(ctx, table, all, now)
	if err != nil {
		return nil, err
	}
	// The table lists the latest job first. By the time of the last turn, no job waits for the ends of the others.
	slices.SortStableFunc(free, func(a, b job.Job) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return free[:min(len(free), maxJobs)], nil
}

// withoutWaiting returns the running jobs without those on rejected events that have to wait. Such a job takes an empty
// answer of the queue for its end. So it must not run while another such job hides the events that it has passed.
func withoutWaiting(ctx context.Context, table ListedJobs, running []job.Job, now time.Time) ([]job.Job, error) {
	if !slices.ContainsFunc(running, func(j job.Job) bool { return j.Act.OnEvents() }) {
		return running, nil
	}
	// A job that was stopped or is done may have events hidden still.
	all := slices.Clone(running)
	for _, state := range []job.State{job.Stopped, job.Done} {
		others, _, err := table.List(ctx, state, pageSize, "")
		if err != nil {
			return nil, err
		}
		all = append(all, others...)
	}
	return slices.DeleteFunc(running, func(j job.Job) bool {
		return slices.ContainsFunc(all, func(other job.Job) bool { return j.WaitsFor(other, now) })
	}), nil
}
