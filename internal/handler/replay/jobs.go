package replay

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Jobs keeps operators' jobs (dynamo.Jobs).
type Jobs interface {
	Create(ctx context.Context, j job.Job) (stored job.Job, created bool, err error)
	Get(ctx context.Context, id string) (j job.Job, found bool, err error)
	SetState(ctx context.Context, j job.Job, to job.State, operator string, now time.Time) (
		stored job.Job, changed bool, err error)
	List(ctx context.Context, state job.State, limit int, cursor string) (jobs []job.Job, next string, err error)
	Lease(ctx context.Context, id, worker string, now, until time.Time) (j job.Job, leased bool, err error)
	Advance(ctx context.Context, j job.Job, worker string) (stored job.Job, leased bool, err error)
	PutPage(ctx context.Context, j job.Job, p job.Page) error
	Leave(ctx context.Context, id, worker string) error
}

// Survey previews a job, and has the job where one was started.
type Survey struct {
	Selected int            `json:"selected"`
	Ready    int            `json:"ready"`
	Refused  map[string]int `json:"refused"`  // by reason
	Complete bool           `json:"complete"` // false: time ran out, and there is more
	Until    time.Time      `json:"until"`    // end of the selection: with it, a job gets the same selection
	Job      *operator.Job  `json:"job"`      // null: a dry run
}

type startRequest struct {
	job.Selector
	Act     job.Act `json:"act"`
	Token   string  `json:"token"` // the same one starts no second job
	DryRun  bool    `json:"dry_run"`
	Confirm bool    `json:"confirm"` // of a purge
}

// maxToken bounds tokens.
const maxToken = 128

// check refuses a request for an impossible job.
func (r startRequest) check(j job.Job) error {
	switch {
	case !r.Act.Valid():
		meant := operator.OneOf("act", r.Act, job.Replay, job.Purge, job.Publish)
		return cmp.Or[error](meant, operator.Invalid("act", "must be replay, purge or publish"))
	case len(r.Token) > maxToken:
		return operator.Invalid("token", "must have at most 128 bytes")
	case r.Act == job.Replay && r.Status == string(deadletter.Replayed):
		return operator.Invalid("status", "must be dead or replaying: others cannot be replayed")
	case r.Act == job.Purge && !r.Confirm && !r.DryRun:
		return operator.Invalid("confirm", "purging cannot be undone: confirm must be true")
	case !r.Since.Before(j.StartedAt): // where the selection ends at the latest
		return operator.Invalid("since", "must be in the past")
	case r.Act != job.Publish:
		selected := j.Selector
		selected.Status = r.Status // its default alone would select every tenant's
		return operator.CheckSelection(selected)
	case r.EndpointID != "":
		return operator.Invalid("endpoint_id", "rejected events have no endpoint")
	case r.Status != "":
		return operator.Invalid("status", "rejected events have no status")
	}
	return operator.CheckTimes(j.Selector)
}

// allowed refuses a job that deletes for good, where the function was not invoked by its alias.
func (r startRequest) allowed(ctx context.Context) error {
	if r.Act == job.Purge && !r.DryRun {
		return byAlias(ctx)
	}
	return nil
}

// job is the job that the request asks for. It selects nothing that dies after it was started, so nothing that dies
// again is replayed again.
func (r startRequest) job(call *operator.Call) job.Job {
	if r.Act != job.Publish && r.Status == "" {
		r.Status = string(deadletter.Dead)
	}
	if r.Token == "" {
		r.Token = rand.Text()
	}
	now := call.Now.Truncate(time.Millisecond)
	asked := r.Until
	if asked.IsZero() || asked.After(now) {
		r.Until = now
	}
	return job.Job{
		ID: job.ID(r.Token), Act: r.Act, Selector: r.Selector, Asked: asked, Operator: call.Operator, State: job.Running,
		StartedAt: now, RunsFrom: now, Progress: job.Progress{UpdatedAt: now},
	}
}

// startJob counts a request's selection and, unless it is a dry run, starts a job on it.
func (h *Handler) startJob(ctx context.Context, call *operator.Call, req startRequest) (Survey, error) {
	j := req.job(call)
	if err := req.check(j); err != nil {
		return Survey{}, err
	}
	if err := req.allowed(ctx); err != nil {
		return Survey{}, err
	}
	call.Note(slog.String("act", string(j.Act)), slog.Bool("dry_run", req.DryRun), slog.String("job_id", j.ID),
		slog.String(telemetry.KeyTenant, req.TenantID), slog.String(telemetry.KeyEndpoint, req.EndpointID))
	stood, found, err := h.Jobs.Get(ctx, j.ID)
	if err != nil || found {
		return started(j, stood, err)
	}
	survey, err := h.survey(ctx, call, j)
	survey.Until = j.Selector.Until
	call.Note(slog.Int(telemetry.KeyCount, survey.Selected))
	if err != nil || req.DryRun {
		return survey, err
	}
	selector, err := operator.Encode(j.Selector)
	if err != nil {
		return survey, err
	}
	line := audit.Line{ // each dead letter or event that the job changes has a line of its own
		Act: string(j.Act), JobID: j.ID, TenantID: j.Selector.TenantID, EndpointID: j.Selector.EndpointID,
		Selector: selector,
	}
	if err := call.Audit(ctx, line); err != nil {
		return survey, err
	}
	j.Selected = survey.Selected
	stored, created, err := h.Jobs.Create(ctx, j)
	if err != nil || !created {
		return started(j, stored, err)
	}
	shown := operator.ShowJob(stored)
	survey.Job = &shown
	return survey, nil
}

// started answers with the job that was started before under the same token.
func started(asked, stood job.Job, err error) (Survey, error) {
	if err != nil {
		return Survey{}, err
	}
	same, as := asked.Selector, stood.Selector
	if same.Until, as.Until = asked.Asked, stood.Asked; asked.Act != stood.Act || asStored(same) != asStored(as) {
		return Survey{}, operator.Invalid("token", "another job was started with it")
	}
	shown := operator.ShowJob(stood)
	return Survey{
		Selected: stood.Selected, Ready: stood.Selected, Refused: map[string]int{}, Complete: true,
		Until: stood.Selector.Until, Job: &shown,
	}, nil
}

// asStored is a selection with its times as they are stored.
func asStored(s job.Selector) job.Selector {
	s.Since, s.Until = s.Since.UTC().Truncate(time.Millisecond), s.Until.UTC().Truncate(time.Millisecond)
	return s
}

type jobRequest struct {
	JobID string `json:"job_id"`
}

// stopJob stops a job after its current page.
func (h *Handler) stopJob(ctx context.Context, call *operator.Call, req jobRequest) (operator.Job, error) {
	return h.setState(ctx, call, req, job.Stopped)
}

// resumeJob lets a stopped job go on where it was.
func (h *Handler) resumeJob(ctx context.Context, call *operator.Call, req jobRequest) (operator.Job, error) {
	return h.setState(ctx, call, req, job.Running)
}

// The code of a job that can be neither stopped nor resumed.
const codeJobDone = "job_done"

func (h *Handler) setState(
	ctx context.Context, call *operator.Call, req jobRequest, to job.State,
) (operator.Job, error) {
	j, err := operator.Find(ctx, call, "job_id", req.JobID, h.Jobs.Get, "no job has this id")
	if err != nil {
		return operator.Job{}, err
	}
	if j.State == to {
		return operator.ShowJob(j), nil
	}
	changed := j.State != job.Done
	if changed && to == job.Running && j.Act == job.Purge {
		if err := byAlias(ctx); err != nil {
			return operator.Job{}, err
		}
	}
	if changed {
		if err := call.Audit(ctx, audit.Line{JobID: j.ID, TenantID: j.Selector.TenantID}); err != nil {
			return operator.Job{}, err
		}
		j, changed, err = h.Jobs.SetState(ctx, j, to, call.Operator, call.Now)
	}
	if err == nil && !changed {
		err = operator.Refuse(codeJobDone, "job_id", "the job is done")
	}
	return operator.ShowJob(j), err
}
