package replay

import (
	"context"
	"slices"

	"github.com/herald-webhooks/herald/internal/event"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// maxSwept bounds the results of a job's sweep: an invocation has no time for more.
const maxSwept = 100_000

// sweepOf goes through the rejected events that a job selects.
func (h *Handler) sweepOf(call *operator.Call, j job.Job, from Rejected) *sweep {
	return &sweep{h: h, call: call, from: from, job: &j, most: maxSwept, wanted: map[string]bool{}}
}

// publishAlone leaves out jobs that would publish beside others, or while events that others have passed may be
// hidden: they would reach the queue's end without them.
func (h *Handler) publishAlone(ctx context.Context, running []job.Job) ([]job.Job, error) {
	if !slices.ContainsFunc(running, func(j job.Job) bool { return j.Act == job.Publish }) {
		return running, nil
	}
	all := slices.Clone(running)
	for _, state := range []job.State{job.Stopped, job.Done} {
		others, _, err := h.Jobs.List(ctx, state, jobPage, "")
		if err != nil {
			return nil, err
		}
		all = append(all, others...)
	}
	now := h.Now()
	return slices.DeleteFunc(running, func(j job.Job) bool {
		return slices.ContainsFunc(all, func(other job.Job) bool { return j.WaitsFor(other, now) })
	}), nil
}

// judge returns all events, and marks the ones that would be rejected again.
func (s *sweep) judge(_ context.Context, events []rejected.Event) {
	for _, e := range events {
		result, reason := resultWouldReplay, ""
		if _, err := event.Decode(withID(e), e.EventID); err != nil {
			result, reason = resultRefused, err.Error()
		}
		s.giveBack(e)
		s.end(e, result, reason)
	}
}

// counts are the results of a job's sweep.
func (s *sweep) counts() (published, failed int, refused []job.Failure) {
	for _, r := range s.answer.Data {
		switch r.Result {
		case resultReplayed:
			published++
		case resultRefused:
			refused = append(refused, job.Failure{ID: r.MessageID, Refused: true, Reason: r.Reason})
		default:
			failed++
		}
	}
	return published, failed, refused
}
