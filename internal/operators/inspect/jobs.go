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

type jobsRequest struct {
	invoke.Page
	State job.State `json:"state"`
}

// jobView shows jobs and their results. A job's results are pages of up to 100 ids each, in the order of its work.
type jobView struct {
	jobs       Jobs
	deliveries Deliveries
}

// list lists stopped jobs first, then running, then finished ones, each newest first.
func (v jobView) list(
	ctx context.Context, call *invoke.Call, req jobsRequest,
) (invoke.List[api.Job], error) {
	if err := invoke.OneOf("state", req.State, job.Running, job.Stopped, job.Done); err != nil {
		return invoke.List[api.Job]{}, err
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

type jobRequest struct {
	JobID string `json:"job_id"`
}

// show shows one job.
func (v jobView) show(ctx context.Context, call *invoke.Call, req jobRequest) (api.Job, error) {
	j, err := v.find(ctx, call, req.JobID)
	return invoke.ShowJob(j), err
}

// find reads a job, and refuses an id that no job has.
func (v jobView) find(ctx context.Context, call *invoke.Call, id string) (job.Job, error) {
	return invoke.Find(ctx, call, "job_id", id, v.jobs.Get, "no job has this id, or it is more than 90 days old")
}

// JobFailure is an id that a job did not act on: a delivery's, or a rejected event's message id.
type JobFailure struct {
	ID string `json:"id"`

	// Refused, or failed where an internal error was met.
	Result string `json:"result"`

	// Of a refusal its reason, of a failure the last one.
	Reason string `json:"reason"`
}

// jobPagesRequest asks for a part of a job's results. Parts have no limit: each has pagesAtOnce pages.
type jobPagesRequest struct {
	jobRequest
	Cursor string `json:"cursor"`
}

// pagesAtOnce bounds the pages of results of one request: up to 100 ids each.
const pagesAtOnce = 20

// failures lists a job's failures, with reasons. A page of the list may be short or empty.
func (v jobView) failures(
	ctx context.Context, call *invoke.Call, req jobPagesRequest,
) (invoke.List[JobFailure], error) {
	pages, next, err := v.pages(ctx, call, req, "failures")
	if err != nil {
		return invoke.List[JobFailure]{}, err
	}
	var failures []JobFailure
	for _, p := range pages {
		for _, f := range p.Failures {
			result := "failed"
			if f.Refused {
				result = "refused"
			}
			failures = append(failures, JobFailure{ID: f.ID, Result: result, Reason: f.Reason})
		}
	}
	return invoke.List[JobFailure]{Data: failures, NextCursor: next}, nil
}

// pages reads the pages of a job's results that a cursor stands for, and makes the next one.
func (v jobView) pages(
	ctx context.Context, call *invoke.Call, req jobPagesRequest, list string,
) (pages []job.Page, next *string, err error) {
	j, err := v.find(ctx, call, req.JobID)
	if err != nil {
		return nil, nil, err
	}
	filter := "job " + list + " " + j.ID
	start, err := invoke.Page{Cursor: req.Cursor}.Start(filter)
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

// JobOutcome counts the states of the deliveries that a job sent again, of a part of them if there is a cursor: the
// sum over all parts is the job's.
type JobOutcome struct {
	// How many the job sent again.
	Sent int `json:"sent"`

	// Those that were acknowledged.
	Delivered int `json:"delivered"`

	// Those that died again, purged ones included.
	DeadAgain int `json:"dead_again"`

	// Those that wait, or are being tried.
	UnderWay int `json:"under_way"`

	// Those that were discarded on their way.
	Discarded int `json:"discarded"`

	// Those with a record that has expired.
	Unknown    int     `json:"unknown"`
	NextCursor *string `json:"next_cursor"`
}

// outcome counts the states of up to 2,000 deliveries that a job sent again, as they are now.
func (v jobView) outcome(ctx context.Context, call *invoke.Call, req jobPagesRequest) (JobOutcome, error) {
	pages, next, err := v.pages(ctx, call, req, "outcome")
	if err != nil {
		return JobOutcome{}, err
	}
	var ids []string
	// The pages name the ids that the job sent. Their records say how these fared.
	for _, p := range pages {
		ids = append(ids, p.Done...)
	}
	records, err := v.deliveries.BatchGet(ctx, ids)
	if err != nil {
		return JobOutcome{}, err
	}
	o := JobOutcome{Sent: len(ids), NextCursor: next}
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
		}
	}
	return o, nil
}
