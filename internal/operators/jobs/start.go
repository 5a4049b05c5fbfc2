package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Starter starts jobs. It works off none: release wakes the worker.
type Starter struct {
	Jobs    OrderedJobs
	Acts    Acts
	Letters Letters
	Events  EventQueue
	Now     func() time.Time
}

// Start counts a request's selection and, unless it is a dry run, starts a job on it.
func (s Starter) Start(ctx context.Context, call *invoke.Call, req api.StartJobRequest) (api.Survey, error) {
	j, act := requested(call, req), s.Acts[req.Act]
	if err := check(req, act, j); err != nil {
		return api.Survey{}, err
	}
	if err := allowed(ctx, req, act); err != nil {
		return api.Survey{}, err
	}
	call.Note(slog.String("act", string(j.Act)), slog.Bool("dry_run", req.DryRun), slog.String("job_id", j.ID),
		slog.String(telemetry.KeyTenant, req.TenantID), slog.String(telemetry.KeyEndpoint, req.EndpointID))
	// A request that is repeated need not count everything again.
	stood, found, err := s.Jobs.Get(ctx, j.ID)
	if err != nil {
		return api.Survey{}, err
	}
	if found {
		return startedBefore(j, stood)
	}
	survey, err := preview{letters: s.Letters, events: s.Events}.count(ctx, j, act)
	if err != nil {
		return api.Survey{}, err
	}
	survey.Until = j.Selector.Until
	call.Note(slog.Int(telemetry.KeyCount, survey.Selected))
	if req.DryRun {
		return survey, nil
	}
	if err := auditStart(ctx, call, j); err != nil {
		return api.Survey{}, err
	}
	j.Selected = survey.Selected
	stored, created, err := s.create(ctx, j)
	if err != nil {
		return api.Survey{}, err
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
func (s Starter) create(ctx context.Context, j job.Job) (stored job.Job, created bool, err error) {
	finish, cancel := invoke.Finishing(ctx)
	defer cancel()
	j.RunsFrom = s.Now().Truncate(time.Millisecond)
	return s.Jobs.Create(finish, j)
}

// auditStart writes the line of a job's start. Each dead letter or event that the job changes has a line of its own.
func auditStart(ctx context.Context, by Auditor, j job.Job) error {
	selector, err := api.EncodeAnswer(j.Selector)
	if err != nil {
		return err
	}
	return by.Audit(ctx, audit.Line{
		Act: string(j.Act), JobID: j.ID, TenantID: j.Selector.TenantID, EndpointID: j.Selector.EndpointID,
		Selector: selector,
	})
}

// startedBefore answers with the job that was started before under the same token, if it is the one that is asked for.
func startedBefore(asked, stood job.Job) (api.Survey, error) {
	same, as := asked.Selector, stood.Selector
	same.Until, as.Until = asked.Asked, stood.Asked
	if asked.Act != stood.Act || asStored(same) != asStored(as) {
		return api.Survey{}, invoke.Invalid("token", "has been used to start another job")
	}
	shown := invoke.ShowJob(stood)
	return api.Survey{
		Selected: stood.Selected, Ready: stood.Selected, Refused: map[string]int{}, Complete: true,
		Until: stood.Selector.Until, Job: &shown,
	}, nil
}

// asStored is a selection with its times as they are stored.
func asStored(s job.Selector) job.Selector {
	for _, at := range []*time.Time{&s.Since, &s.Until, &s.PublishedSince, &s.PublishedUntil} {
		*at = at.UTC().Truncate(time.Millisecond)
	}
	return s
}
