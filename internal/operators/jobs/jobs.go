// Package jobs starts, stops and works off jobs: an operator's act on all dead letters of an endpoint, a tenant or a
// reason, or on all such rejected events.
//
// It promises that a start counts the selection first and that the same token starts one job, that all jobs together
// keep one pace, that each invocation goes on where the last one ended or died, and that a job on rejected events is
// done only when it has met the end of their queue. It never acts on what died after its job began.
//
// It knows how to find, page, pace and count what a job selects, and no act: how an act is done to a page stands in
// Acts, which package replay fills.
//
// A job is an item of the table Jobs: an act, a selection, counts, a cursor, and the ids taken up. release wakes
// replay each minute while one is running. A worker leases a job for a minute and goes from page to page. The next
// worker repeats the ids that a dead worker left: it recognises a finished one by the dead letter's job_id, or because
// the dead letter is gone.
//
// Rejected events have no list: a job passes through their queue, and an empty answer is the queue's end. A worker
// that dies in a pass leaves events hidden for 15 minutes. So each pass is recorded first, and until they are back no
// empty answer counts. Every other request that receives rejected events hides them as well: a look of inspect, a
// publish or discard by id, the preview of another such job. These are refused while such a job runs, and hide an
// event no longer than they may last. So only a pass that begins 75 s after a job was started or resumed, when all
// that had begun before are over, can end it.
package jobs

import (
	"context"
	"fmt"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Acts says how each act is done. There is an entry for each of job.Acts.
type Acts map[job.Act]Act

// of returns how a stored job's act is done. A newer version may have started a job whose act, or a part of whose
// selection, this one does not know.
func (a Acts) of(j job.Job) (Act, error) {
	act, known := a[j.Act]
	switch {
	case !known:
		return Act{}, fmt.Errorf("the job %s has an act that this version does not know: %q", j.ID, j.Act)
	case len(j.Unknown) > 0:
		return Act{}, fmt.Errorf("the job %s selects by what this version does not know: %q", j.ID, j.Unknown)
	}
	return act, nil
}

// Act is how one act is done: to dead letters or, where job.Act.OnEvents says so, to rejected events.
type Act struct {
	Letters LetterAct
	Events  EventAct

	// What cannot be undone, such as "purging". The act then has to be confirmed, and is asked of the alias that deletes
	// for good. It is empty for an act that deletes nothing.
	ForGood string

	// It acts on events that this version would reject again as well. Otherwise they are refused.
	Invalid bool

	// Refuses says why the act cannot be done to what a request selects. It may be nil.
	Refuses func(asked job.Selector) error
}

// LetterAct does an act to dead letters.
type LetterAct interface {
	// Do does the act of a job to the dead letters with these ids. Ids that were not begun have no result.
	Do(ctx context.Context, by Auditor, j job.Job, ids []string) []job.Result

	// Foresee returns a forecast for a job that is to be started.
	Foresee(j job.Job) Forecast
}

// Forecast says of each dead letter of a page why it would be refused, or "" if it would not be. It changes nothing,
// and opens no dead letter. It is asked page by page.
type Forecast func(ctx context.Context, letters []deadletter.Record) (refusals []string, err error)

// EventAct does an act to received events, and has an outcome for each. The job of a request has no id.
type EventAct func(ctx context.Context, by Auditor, j job.Job, events []rejected.Event) []Outcome

// Auditor keeps lines about the changes to come (invoke.Call).
type Auditor interface {
	Audit(ctx context.Context, lines ...audit.Line) error
}
