package jobs

import (
	"context"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// letterPages works off a job on dead letters, page by page. A page is taken up in one turn and done in the next, so
// that its ids are stored before anything is done about them.
type letterPages struct {
	letters Letters
	act     LetterAct
}

// advance does the act on the pending ids and takes up the next page. It returns the job as it is to be stored, and a
// page of outcomes. Where it fails, the job is as far as it got.
func (p letterPages) advance(ctx context.Context, s shift, j job.Job) (job.Job, job.Page, error) {
	var done job.Page
	if len(j.Pending) > 0 {
		if !s.pace.wait(ctx, len(j.Pending)) {
			return j, done, nil
		}
		j.Progress, done = j.Tally(p.act.Do(ctx, s.audit, j, j.Pending))
	}
	if len(j.Pending) > 0 || j.Listed {
		return j, done, nil
	}
	next := dynamo.LetterPage{Limit: pageSize, Cursor: j.Cursor, OldestFirst: true, Reads: dynamo.ReadsAtOnce}
	records, cursor, err := p.letters.List(ctx, j.Selector, next)
	if err != nil {
		return j, done, err
	}
	ids := make([]string, len(records))
	for i, d := range records {
		ids[i] = d.DeliveryID
	}
	j.Progress = j.Begin(ids, cursor)
	return j, done, nil
}
