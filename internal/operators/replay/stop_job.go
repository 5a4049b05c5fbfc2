package replay

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

type jobRequest struct {
	JobID string `json:"job_id"`
}

// stopper stops and resumes jobs.
type stopper struct {
	jobs OrderedJobs
	now  func() time.Time
}

// stop stops a job after its current page.
func (s stopper) stop(ctx context.Context, call *invoke.Call, req jobRequest) (invoke.Job, error) {
	return s.set(ctx, call, req, job.Stopped)
}

// resume lets a stopped job go on where it was.
func (s stopper) resume(ctx context.Context, call *invoke.Call, req jobRequest) (invoke.Job, error) {
	return s.set(ctx, call, req, job.Running)
}

// codeJobDone refuses to stop or resume a job that is done.
const codeJobDone = "job_done"

var errJobDone = invoke.Refuse(codeJobDone, "job_id", "the job is done")

// set gives a job another state, unless it is done or has that state already. To resume a purge is to delete for good.
func (s stopper) set(
	ctx context.Context, call *invoke.Call, req jobRequest, to job.State,
) (invoke.Job, error) {
	j, err := invoke.Find(ctx, call, "job_id", req.JobID, s.jobs.Get, "no job has this id")
	if err != nil {
		return invoke.Job{}, err
	}
	switch j.State {
	case to:
		return invoke.ShowJob(j), nil
	case job.Done:
		return invoke.Job{}, errJobDone
	}
	if to == job.Running && j.Act == job.Purge {
		if err := byAlias(ctx); err != nil {
			return invoke.Job{}, err
		}
	}
	if err := call.Audit(ctx, audit.Line{JobID: j.ID, TenantID: j.Selector.TenantID}); err != nil {
		return invoke.Job{}, err
	}
	finish, cancel := finishing(ctx)
	defer cancel()
	stored, changed, err := s.jobs.SetState(finish, j, to, call.Operator, s.now())
	if err == nil && !changed { // it was done in between
		err = errJobDone
	}
	return invoke.ShowJob(stored), err
}
