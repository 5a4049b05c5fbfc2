package inspect

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/cursor"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// jobView shows jobs and their results. A job's results are pages of up to 100 ids each, in the order of its work.
type jobView struct {
	jobs       Jobs
	deliveries Deliveries
}

// list lists stopped jobs first, then running, then finished ones, each newest first.
func (v jobView) list(
	ctx context.Context, call *invoke.Call, req api.JobsRequest,
) (api.List[api.Job], error) {
	if err := invoke.OneOf("state", req.State, job.Running, job.Stopped, job.Done); err != nil {
		return api.List[api.Job]{}, err
	}
	read := func(limit int, start string) ([]api.Job, string, error) {
		jobs, next, err := v.jobs.List(ctx, req.State, limit, start)
		shown := make([]api.Job, len(jobs))
		for i, j := range jobs {
			shown[i] = invoke.ShowJob(j)
		}
		return shown, next, err
	}
	return invoke.Paged(call, req.Page, "jobs "+string(req.State), read)
}

// show shows one job.
func (v jobView) show(ctx context.Context, call *invoke.Call, req api.JobRequest) (api.Job, error) {
	j, err := v.find(ctx, call, req.JobID)
	return invoke.ShowJob(j), err
}

// find reads a job, and refuses an id that no job has.
func (v jobView) find(ctx context.Context, call *invoke.Call, id string) (job.Job, error) {
	return invoke.Find(ctx, call, "job_id", id, v.jobs.Get, "no job has this id, or it is more than 90 days old")
}

// pagesAtOnce bounds the pages of results of one request: up to 100 ids each.
const pagesAtOnce = 20

// failures lists a job's failures, with reasons. A page of the list may be short or empty.
func (v jobView) failures(
	ctx context.Context, call *invoke.Call, req api.JobPagesRequest,
) (api.List[api.JobFailure], error) {
	pages, next, err := v.pages(ctx, call, req, "failures")
	if err != nil {
		return api.List[api.JobFailure]{}, err
	}
	var failures []api.JobFailure
	for _, p := range pages {
		for _, f := range p.Failures {
			result := api.ResultFailed
			if f.Refused {
				result = api.ResultRefused
			}
			failures = append(failures, api.JobFailure{ID: f.ID, Result: result, Reason: f.Reason})
		}
	}
	return api.List[api.JobFailure]{Data: failures, NextCursor: next}, nil
}

// pages reads the pages of a job's results at a cursor, and makes the cursor of the next ones.
func (v jobView) pages(
	ctx context.Context, call *invoke.Call, req api.JobPagesRequest, list string,
) (pages []job.Page, next *string, err error) {
	j, err := v.find(ctx, call, req.JobID)
	if err != nil {
		return nil, nil, err
	}
	filter := "job " + list + " " + j.ID
	start, err := invoke.Start(req.Cursor, filter)
	if err != nil {
		return nil, nil, err
	}
	after, err := strconv.Atoi(cmp.Or(start, "0"))
	if err != nil {
		return nil, nil, cursor.ErrInvalid
	}
	pages, more, err := v.jobs.Pages(ctx, j.ID, after, pagesAtOnce)
	// A job that begins anew at the head of its queue leaves pages behind that it has not written again yet.
	pages = slices.DeleteFunc(pages, func(p job.Page) bool { return j.Act.OnEvents() && p.Number > j.Pages })
	if err == nil && more && len(pages) > 0 {
		next = invoke.NextCursor(filter, strconv.Itoa(pages[len(pages)-1].Number))
	}
	return pages, next, err
}

// outcome counts the states of up to 2,000 deliveries that a job sent again, as they are now.
func (v jobView) outcome(ctx context.Context, call *invoke.Call, req api.JobPagesRequest) (api.JobOutcome, error) {
	pages, next, err := v.pages(ctx, call, req, "outcome")
	if err != nil {
		return api.JobOutcome{}, err
	}
	var ids []string
	// The pages name the ids that the job sent. Their records say how these fared.
	for _, p := range pages {
		ids = append(ids, p.Done...)
	}
	records, err := v.deliveries.BatchGet(ctx, ids)
	if err != nil {
		return api.JobOutcome{}, err
	}
	o := api.JobOutcome{Sent: len(ids), NextCursor: next}
	for _, id := range ids {
		switch r, found := records[id]; {
		case !found:
			o.Unknown++
		case r.State == delivery.Acknowledged:
			o.Delivered++
		case r.State == delivery.Dead || r.State == delivery.Purged:
			o.DeadAgain++
		case r.State == delivery.Discarded:
			o.Discarded++
		default:
			o.UnderWay++
			if r.State.Held(r.NextAttemptAt) {
				o.Held++
			}
		}
	}
	return o, nil
}
