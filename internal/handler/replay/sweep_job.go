package replay

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// maxSwept bounds the results of a job's sweep: an invocation has no time for more.
const maxSwept = 100_000

// sweepOf goes through the rejected events that a job selects.
func (h *Handler) sweepOf(call *operator.Call, j job.Job, hidden time.Duration) *sweep {
	selects := func(e rejected.Event) bool { return e.Selected(j.Selector) }
	return &sweep{h: h, call: call, job: j, most: maxSwept, wants: selects, hidden: hidden}
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

// judge tells the events that would be published from those that would be rejected again.
func judge(_ context.Context, events []rejected.Event) []met {
	good, all := accepted(events)
	for _, e := range good {
		all = append(all, met{e, resultWouldReplay, ""})
	}
	return all
}

// count counts the results of a job's sweep.
func count(all []met) (published, failed int, refused []job.Failure) {
	for _, m := range all {
		switch m.result {
		case resultReplayed:
			published++
		case resultRefused:
			refused = append(refused, job.Failure{ID: m.MessageID, Refused: true, Reason: m.reason})
		case resultFailed:
			failed++
		}
	}
	return published, failed, refused
}
