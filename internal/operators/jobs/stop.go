package jobs

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Stopper stops and resumes jobs.
type Stopper struct {
	Jobs OrderedJobs
	Acts Acts
	Now  func() time.Time
}

// Stop stops a job after its current page.
func (s Stopper) Stop(ctx context.Context, call *invoke.Call, req api.JobRequest) (api.Job, error) {
	return s.set(ctx, call, req, job.Stopped)
}

// Resume lets a stopped job go on where it was.
func (s Stopper) Resume(ctx context.Context, call *invoke.Call, req api.JobRequest) (api.Job, error) {
	return s.set(ctx, call, req, job.Running)
}

// errJobDone refuses to stop or resume a job that is done.
var errJobDone = invoke.Refuse(api.CodeJobDone, "job_id", "the job is done")

// set gives a job another state, unless it is done or has that state already.
func (s Stopper) set(
	ctx context.Context, call *invoke.Call, req api.JobRequest, to job.State,
) (api.Job, error) {
	j, err := invoke.Find(ctx, call, "job_id", req.JobID, s.Jobs.Get, "no job has this id")
	if err != nil {
		return api.Job{}, err
	}
	switch j.State {
	case to:
		return invoke.ShowJob(j), nil
	case job.Done:
		return api.Job{}, errJobDone
	}
	if to == job.Running {
		if err := s.mayResume(ctx, j); err != nil {
			return api.Job{}, err
		}
	}
	if err := call.Audit(ctx, audit.Line{JobID: j.ID, TenantID: j.Selector.TenantID}); err != nil {
		return api.Job{}, err
	}
	finish, cancel := invoke.Finishing(ctx)
	defer cancel()
	stored, changed, err := s.Jobs.SetState(finish, j, to, call.Operator, s.Now())
	if err == nil && !changed { // it was done in between
		err = errJobDone
	}
	return invoke.ShowJob(stored), err
}

// mayResume refuses a job that deletes for good, where the function was not invoked by its alias: to resume it is to
// delete. It refuses a job that a newer version has started and this one could not work off.
func (s Stopper) mayResume(ctx context.Context, j job.Job) error {
	act, err := s.Acts.of(j)
	switch {
	case err != nil:
		return invoke.Invalid("job_id", "a newer version of Herald started this job: this one does not know what it does")
	case act.ForGood == "":
		return nil
	}
	return invoke.ByAlias(ctx)
}
