package inspect

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/herald-webhooks/herald/internal/cursor"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
)

// Jobs reads operators' jobs and their results (dynamo.Jobs).
type Jobs interface {
	Get(ctx context.Context, id string) (j job.Job, found bool, err error)
	List(ctx context.Context, state job.State, limit int, cursor string) (jobs []job.Job, next string, err error)
	Pages(ctx context.Context, id string, after, limit int) (pages []job.Page, more bool, err error)
}

type jobsRequest struct {
	operator.Page
	State job.State `json:"state"`
}

// jobs lists stopped jobs first, then running, then finished ones, each newest first.
func (h *Handler) jobs(
	ctx context.Context, call *operator.Call, req jobsRequest,
) (operator.List[operator.Job], error) {
	if err := operator.OneOf("state", req.State, job.Running, job.Stopped, job.Done); err != nil {
		return operator.List[operator.Job]{}, err
	}
	read := func(limit int, start string) ([]operator.Job, string, error) {
		jobs, next, err := h.Jobs.List(ctx, req.State, limit, start)
		shown := make([]operator.Job, len(jobs))
		for i, j := range jobs {
			shown[i] = operator.ShowJob(j)
		}
		return shown, next, err
	}
	return operator.Paged(call, req.Page, "jobs "+string(req.State), read)
}

type jobRequest struct {
	JobID string `json:"job_id"`
}

// job shows one job.
func (h *Handler) job(ctx context.Context, call *operator.Call, req jobRequest) (operator.Job, error) {
	j, err := h.findJob(ctx, call, req.JobID)
	return operator.ShowJob(j), err
}

func (h *Handler) findJob(ctx context.Context, call *operator.Call, id string) (job.Job, error) {
	return operator.Find(ctx, call, "job_id", id, h.Jobs.Get, "no job has this id, or it is more than 90 days old")
}

// JobFailure is an id that a job did not act on: a delivery's, or a rejected event's message id.
type JobFailure struct {
	ID     string `json:"id"`
	Result string `json:"result"` // refused, or failed: a fault of ours
	Reason string `json:"reason"`
}

type jobPagesRequest struct {
	jobRequest
	Cursor string `json:"cursor"`
}

// pagesAtOnce bounds the pages of results of one request: up to 100 ids each.
const pagesAtOnce = 20

// jobFailures lists a job's failures, with reasons. A page of the list may be short or empty.
func (h *Handler) jobFailures(
	ctx context.Context, call *operator.Call, req jobPagesRequest,
) (operator.List[JobFailure], error) {
	pages, next, err := h.pagesOf(ctx, call, req, "failures")
	if err != nil {
		return operator.List[JobFailure]{}, err
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
	return operator.List[JobFailure]{Data: failures, NextCursor: next}, nil
}

// pagesOf reads the pages of a job's results that a cursor stands for, and makes the next one.
func (h *Handler) pagesOf(
	ctx context.Context, call *operator.Call, req jobPagesRequest, list string,
) (pages []job.Page, next *string, err error) {
	j, err := h.findJob(ctx, call, req.JobID)
	if err != nil {
		return nil, nil, err
	}
	filter := "job " + list + " " + j.ID
	start, err := operator.Page{Cursor: req.Cursor}.Start(filter)
	if err != nil {
		return nil, nil, err
	}
	after, err := strconv.Atoi(cmp.Or(start, "0"))
	if err != nil {
		return nil, nil, cursor.ErrInvalid
	}
	pages, more, err := h.Jobs.Pages(ctx, j.ID, after, pagesAtOnce)
	pages = slices.DeleteFunc(pages, func(p job.Page) bool { return j.Act == job.Publish && p.Number > j.Pages })
	if err == nil && more && len(pages) > 0 {
		next = operator.NextCursor(filter, strconv.Itoa(pages[len(pages)-1].Number))
	}
	return pages, next, err
}

// JobOutcome counts the states of the deliveries that a job sent again, of a part of them if there is a cursor: the
// sum over all parts is the job's.
type JobOutcome struct {
	Sent       int     `json:"sent"`
	Delivered  int     `json:"delivered"`
	DeadAgain  int     `json:"dead_again"`
	UnderWay   int     `json:"under_way"`
	Discarded  int     `json:"discarded"`
	Unknown    int     `json:"unknown"` // their records have expired
	NextCursor *string `json:"next_cursor"`
}

// jobOutcome counts the states of up to 2,000 deliveries that a job sent again.
func (h *Handler) jobOutcome(ctx context.Context, call *operator.Call, req jobPagesRequest) (JobOutcome, error) {
	pages, next, err := h.pagesOf(ctx, call, req, "outcome")
	if err != nil {
		return JobOutcome{}, err
	}
	var ids []string
	for _, p := range pages {
		ids = append(ids, p.Done...)
	}
	records, err := h.Deliveries.BatchGet(ctx, ids)
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
