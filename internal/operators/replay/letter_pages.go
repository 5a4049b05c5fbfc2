package replay

import (
	"cmp"
	"context"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// letterPages works off a job on dead letters, page by page. A page is taken up in one turn and done in the next, so
// that its ids are stored before anything is done about them.
type letterPages struct {
	letters Letters
	acts    acts
}

// advance does the act on the pending ids and takes up the next page. It returns the job as it is to be stored, and a
// page of outcomes. Where it fails, the job is as far as it got.
func (p letterPages) advance(ctx context.Context, s shift, j job.Job) (job.Job, job.Page, error) {
	var page job.Page
	if len(j.Pending) > 0 {
		if !s.pace.wait(ctx, len(j.Pending)) {
			return j, page, nil
		}
		j.Progress, page = j.Settle(jobResults(p.acts.do(ctx, s.audit, j, j.Pending)))
	}
	if len(j.Pending) > 0 || j.Listed {
		return j, page, nil
	}
	next := dynamo.LetterPage{Limit: jobPage, Cursor: j.Cursor, OldestFirst: true, Reads: readsAtOnce}
	records, cursor, err := p.letters.List(ctx, j.Selector, next)
	if err != nil {
		return j, page, err
	}
	ids := make([]string, len(records))
	for i, d := range records {
		ids[i] = d.DeliveryID
	}
	j.Progress = j.Begin(ids, cursor)
	return j, page, nil
}

// jobResults are the results of a page as a job counts them. Ids that were not started have none.
func jobResults(results []Result) []job.Result {
	counted := make([]job.Result, 0, len(results))
	for _, one := range results {
		if one.Result != resultNotStarted {
			why := cmp.Or(one.Reason, one.Result) // a missing letter has no reason
			counted = append(counted, job.Result{ID: one.DeliveryID, Kind: kindOf(one), Reason: why})
		}
	}
	return counted
}

// kindOf tells which results a job tries again: failures, and letters that another replay held.
func kindOf(r Result) job.Kind {
	switch {
	case r.Result == resultReplayed || r.Result == resultPurged:
		return job.Succeeded
	case r.Result == resultFailed || r.Reason == reasonReplayRunning || r.Reason == reasonChanged:
		return job.Again
	}
	return job.Refused
}
