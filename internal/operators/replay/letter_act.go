package replay

import (
	"cmp"
	"context"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/jobs"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// letterAct is an act on dead letters as jobs do it (jobs.LetterAct).
type letterAct struct {
	act     act
	foresee func(r run) jobs.Forecast
}

// Do does the act to a page of a job. Ids that were not started have no result.
func (a letterAct) Do(ctx context.Context, by jobs.Auditor, j job.Job, ids []string) []job.Result {
	counted := make([]job.Result, 0, len(ids))
	for _, one := range a.act.do(ctx, by, j, ids) {
		if one.Result != api.ResultNotStarted {
			why := cmp.Or(one.Reason, string(one.Result)) // a missing letter has no reason
			counted = append(counted, job.Result{ID: one.DeliveryID, Kind: kindOf(one), Reason: why})
		}
	}
	return counted
}

// kindOf tells which results a job tries again: failures, and letters that another replay held. Only what is known to
// have succeeded counts as such.
func kindOf(r api.DeliveryResult) job.Kind {
	switch {
	case r.Result == api.ResultFailed || r.Reason == api.ReasonReplayRunning || r.Reason == api.ReasonChanged:
		return job.Again
	case r.Result == api.ResultReplayed || r.Result == api.ResultPurged:
		return job.Succeeded
	}
	return job.Refused
}

// Foresee returns the act's forecast for a job.
func (a letterAct) Foresee(j job.Job) jobs.Forecast { return a.foresee(run{Job: j, now: a.act.now()}) }
