package jobs

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Worker works off jobs. Release wakes it each minute while a job is running.
type Worker struct {
	Jobs interface {
		ListedJobs
		LeasedJobs
	}
	Acts    Acts
	Letters Letters
	Events  EventQueue
	Log     *slog.Logger
	Now     func() time.Time
}

// Work works on the running jobs, a page of each in turn, until its time is over. The next invocation continues. If a
// worker dies, its leases run out, and another one continues from the progress that was stored.
func (w Worker) Work(ctx context.Context, call *invoke.Call, _ struct{}) (none struct{}, err error) {
	jobs, err := running(ctx, w.Jobs, w.Now())
	if err != nil {
		return none, err
	}
	s := newShift(call, w.Now)
	leased, leasing := w.lease(ctx, s, jobs)
	defer w.leave(ctx, s, leased)
	turns, working := w.turns(ctx, s, leased)
	call.Note(slog.Int("jobs", len(leased)), slog.Int("turns", turns))
	return none, errors.Join(leasing, working)
}

// lease takes the jobs that no other worker has.
func (w Worker) lease(ctx context.Context, s shift, running []job.Job) ([]job.Job, error) {
	var leased []job.Job
	var errs []error
	for _, j := range running {
		stored, ok, err := w.Jobs.Lease(ctx, j.ID, s.worker, w.Now(), w.Now().Add(lease))
		if ok {
			leased = append(leased, stored)
		}
		errs = append(errs, err)
	}
	return leased, errors.Join(errs...)
}

// turns gives each job a turn, again and again, until nothing is left to do or time runs out. It counts the turns.
func (w Worker) turns(ctx context.Context, s shift, jobs []job.Job) (turns int, err error) {
	var errs []error
	waiting := slices.Clone(jobs)
	for len(waiting) > 0 && !invoke.OutOfTime(ctx) {
		next, more, err := w.turn(ctx, s, waiting[0])
		errs = append(errs, err)
		waiting = waiting[1:]
		if more {
			waiting = append(waiting, next)
		}
		turns++
	}
	return turns, errors.Join(errs...)
}

// turn brings a job a page further, and stores how far it is. More says that the job can have another turn in this
// invocation.
func (w Worker) turn(ctx context.Context, s shift, j job.Job) (stored job.Job, more bool, err error) {
	done, page, advancing := w.advance(ctx, s, j)
	done.UpdatedAt = w.Now()
	finish, cancel := invoke.Finishing(ctx)
	defer cancel()
	if worthStoring(j, page) {
		if err := w.Jobs.PutPage(finish, j, page); err != nil {
			// The page is done again. Ids that are finished are found to be.
			return j, false, errors.Join(advancing, err)
		}
	}
	stored, leased, err := w.Jobs.Advance(finish, done, s.worker)
	more = leased && advancing == nil && goesOn(stored)
	return stored, more, errors.Join(advancing, err)
}

// worthStoring reports whether a turn has a page to store. Most turns that end without a result have none. A pass
// through rejected events writes its page anew, though, so an empty one takes the place of what was there.
func worthStoring(j job.Job, page job.Page) bool {
	if j.Act.OnEvents() {
		return page.Number > 0
	}
	return !page.Empty()
}

// goesOn reports whether something can be done for a job now, and not only in a later invocation.
func goesOn(j job.Job) bool {
	switch {
	case j.State != job.Running: // it is done, or an operator has stopped it
		return false
	case j.Tries > 0: // something has failed, and is tried again a minute later
		return false
	}
	return !j.Act.OnEvents() // the next pass is another invocation's, which asks whether it has to wait for another job
}

// advance does a turn's work. It returns the job as it is to be stored, and a page of outcomes.
func (w Worker) advance(ctx context.Context, s shift, j job.Job) (job.Job, job.Page, error) {
	act, err := w.Acts.of(j)
	if err != nil {
		return j, job.Page{}, err
	}
	if j.Act.OnEvents() {
		return eventPasses{jobs: w.Jobs, events: w.Events, act: act, now: w.Now}.advance(ctx, s, j)
	}
	return letterPages{letters: w.Letters, act: act.Letters}.advance(ctx, s, j)
}

// leave ends the leases, so that the next invocation need not wait for their ends.
func (w Worker) leave(ctx context.Context, s shift, jobs []job.Job) {
	finish, cancel := invoke.Finishing(ctx)
	defer cancel()
	for _, j := range jobs {
		if err := w.Jobs.Leave(finish, j.ID, s.worker); err != nil {
			w.Log.WarnContext(ctx, "a job waits for the end of its lease", slog.String("job_id", j.ID), telemetry.Cause(err))
		}
	}
}
