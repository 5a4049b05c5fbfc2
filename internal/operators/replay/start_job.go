package replay

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

type startRequest struct {
	job.Selector
	Act job.Act `json:"act"`

	// The same token starts no second job.
	Token  string `json:"token"`
	DryRun bool   `json:"dry_run"`

	// Of a purge, which cannot be undone.
	Confirm bool `json:"confirm"`
}

// maxToken bounds tokens.
const maxToken = 128

// check refuses a request for an impossible job. The job is the one that the request asks for, with its defaults.
func (r startRequest) check(j job.Job) error {
	switch {
	case !r.Act.Valid():
		meant := invoke.OneOf("act", r.Act, job.Replay, job.Purge, job.Publish)
		return cmp.Or[error](meant, invoke.Invalid("act", "must be replay, purge or publish"))
	case len(r.Token) > maxToken:
		return invoke.Invalid("token", "must have at most 128 bytes")
	case r.Act == job.Replay && r.Status == string(deadletter.Replayed):
		return invoke.Invalid("status", "must be dead or replaying: others cannot be replayed")
	case r.Act == job.Purge && !r.Confirm && !r.DryRun:
		return invoke.Invalid("confirm", "purging cannot be undone: confirm must be true")
	// A selection ends at the latest when its job starts.
	case !r.Since.Before(j.StartedAt):
		return invoke.Invalid("since", "must be in the past")
	case r.Act != job.Publish:
		// The default of the status alone would select every tenant's letters, so it does not count as a selection.
		selected := j.Selector
		selected.Status = r.Status
		return invoke.CheckSelection(selected)
	case r.EndpointID != "":
		return invoke.Invalid("endpoint_id", "rejected events have no endpoint")
	case r.Status != "":
		return invoke.Invalid("status", "rejected events have no status")
	}
	return invoke.CheckTimes(j.Selector)
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
func (r startRequest) job(call *invoke.Call) job.Job {
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

// starter starts jobs. It works off none: release wakes the worker.
type starter struct {
	jobs    OrderedJobs
	preview preview
	now     func() time.Time
}

// start counts a request's selection and, unless it is a dry run, starts a job on it.
func (s starter) start(ctx context.Context, call *invoke.Call, req startRequest) (Survey, error) {
	j := req.job(call)
	if err := req.check(j); err != nil {
		return Survey{}, err
	}
	if err := req.allowed(ctx); err != nil {
		return Survey{}, err
	}
	call.Note(slog.String("act", string(j.Act)), slog.Bool("dry_run", req.DryRun), slog.String("job_id", j.ID),
		slog.String(telemetry.KeyTenant, req.TenantID), slog.String(telemetry.KeyEndpoint, req.EndpointID))
	// A request that is repeated need not count everything again.
	stood, found, err := s.jobs.Get(ctx, j.ID)
	if err != nil {
		return Survey{}, err
	}
	if found {
		return startedBefore(j, stood)
	}
	survey, err := s.preview.count(ctx, j)
	if err != nil {
		return Survey{}, err
	}
	survey.Until = j.Selector.Until
	call.Note(slog.Int(telemetry.KeyCount, survey.Selected))
	if req.DryRun {
		return survey, nil
	}
	if err := auditStart(ctx, call, j); err != nil {
		return Survey{}, err
	}
	j.Selected = survey.Selected
	stored, created, err := s.create(ctx, j)
	if err != nil {
		return Survey{}, err
	}
	if !created { // the same request came twice at a time
		return startedBefore(j, stored)
	}
	shown := invoke.ShowJob(stored)
	survey.Job = &shown
	return survey, nil
}

// create stores a job, which runs from now. Requests that look at rejected events are refused from here on, and not
// yet while the selection is counted.
func (s starter) create(ctx context.Context, j job.Job) (stored job.Job, created bool, err error) {
	finish, cancel := finishing(ctx)
	defer cancel()
	j.RunsFrom = s.now().Truncate(time.Millisecond)
	return s.jobs.Create(finish, j)
}

// auditStart writes the line of a job's start. Each dead letter or event that the job changes has a line, too.
func auditStart(ctx context.Context, by auditor, j job.Job) error {
	selector, err := invoke.Encode(j.Selector)
	if err != nil {
		return err
	}
	return by.Audit(ctx, audit.Line{
		Act: string(j.Act), JobID: j.ID, TenantID: j.Selector.TenantID, EndpointID: j.Selector.EndpointID,
		Selector: selector,
	})
}

// startedBefore answers with the job that was started before under the same token, if it is the one that is asked for.
func startedBefore(asked, stood job.Job) (Survey, error) {
	same, as := asked.Selector, stood.Selector
	same.Until, as.Until = asked.Asked, stood.Asked
	if asked.Act != stood.Act || asStored(same) != asStored(as) {
		return Survey{}, invoke.Invalid("token", "another job was started with it")
	}
	shown := invoke.ShowJob(stood)
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
