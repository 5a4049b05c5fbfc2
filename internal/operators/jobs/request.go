package jobs

import (
	"cmp"
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// maxToken bounds tokens.
const maxToken = 128

// requested is the job that a request asks for, with its defaults. It selects nothing that dies after it was started,
// so nothing that dies again is replayed again.
func requested(call *invoke.Call, req api.StartJobRequest) job.Job {
	selector := req.Selector
	if !req.Act.OnEvents() && req.Status == "" {
		selector.Status = string(deadletter.Dead)
	}
	token := req.Token
	if token == "" {
		token = rand.Text()
	}
	now := call.Now.Truncate(time.Millisecond)
	asked := req.Until
	if asked.IsZero() || asked.After(now) {
		selector.Until = now
	}
	return job.Job{
		ID: job.ID(token), Act: req.Act, Selector: selector, Asked: asked, Operator: call.Operator, State: job.Running,
		StartedAt: now, RunsFrom: now, Progress: job.Progress{UpdatedAt: now},
	}
}

// check refuses a request for an impossible job.
func check(req api.StartJobRequest, act Act, j job.Job) error {
	switch {
	case !req.Act.Valid():
		return refuseAct(req.Act)
	case len(req.Token) > maxToken:
		return invoke.Invalid("token", "must have at most 128 bytes")
	}
	if act.Refuses != nil {
		if err := act.Refuses(req.Selector); err != nil {
			return err
		}
	}
	if act.ForGood != "" && !req.Confirm && !req.DryRun {
		return invoke.Invalid("confirm", act.ForGood+" cannot be undone: confirm must be true")
	}
	if !req.Since.Before(j.StartedAt) { // a selection ends at the latest when its job starts
		return invoke.Invalid("since", "must be in the past")
	}
	return checkSelection(req, j)
}

// refuseAct refuses an act that is none of the known ones.
func refuseAct(act job.Act) error {
	acts := job.Acts()
	names := make([]string, len(acts))
	for i, known := range acts {
		names[i] = string(known)
	}
	last := len(names) - 1
	all := "must be " + strings.Join(names[:last], ", ") + " or " + names[last]
	return cmp.Or(invoke.OneOf("act", act, acts...), error(invoke.Invalid("act", all)))
}

// checkSelection refuses a selection that is empty or impossible for the request's act.
func checkSelection(req api.StartJobRequest, j job.Job) error {
	switch {
	case !req.Act.OnEvents():
		// The default of the status alone would select every tenant's letters, so it does not count as a selection.
		selected := j.Selector
		selected.Status = req.Status
		return invoke.CheckSelection(selected)
	case req.EndpointID != "":
		return invoke.Invalid("endpoint_id", "rejected events have no endpoint")
	case req.Status != "":
		return invoke.Invalid("status", "rejected events have no status")
	case !req.PublishedSince.IsZero():
		return invoke.Invalid("published_since", sentOnly)
	case !req.PublishedUntil.IsZero():
		return invoke.Invalid("published_until", sentOnly)
	}
	return invoke.CheckTimes(j.Selector)
}

const sentOnly = "rejected events only have the time at which they were sent to their queue: use since and until"

// allowed refuses a job that deletes for good, where the function was not invoked by its alias.
func allowed(ctx context.Context, req api.StartJobRequest, act Act) error {
	if act.ForGood == "" || req.DryRun {
		return nil
	}
	return invoke.ByAlias(ctx)
}
