package replay

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// maxJobs bounds the jobs that take turns in an invocation.
const maxJobs = 20

// jobWorker works off jobs. Release wakes it each minute while a job is running.
type jobWorker struct {
	jobs    workedJobs
	letters letterPages
	events  eventPasses
	log     *slog.Logger
	now     func() time.Time
}

// work works on the running jobs, in turns of a page, until its time is over. The next invocation goes on. Where this
// one dies, its leases run out, and another goes on from the progress that was stored.
func (w jobWorker) work(ctx context.Context, call *invoke.Call, _ struct{}) (none struct{}, err error) {
	running, err := w.running(ctx)
	if err != nil {
		return none, err
	}
	s := shift{worker: rand.Text(), audit: call, pace: &pace{now: w.now, free: w.now()}}
	leased, leasing := w.lease(ctx, s, running)
	defer w.leave(ctx, s, leased)
	turns, working := w.turns(ctx, s, leased)
	call.Note(slog.Int("jobs", len(leased)), slog.Int("turns", turns))
	return none, errors.Join(leasing, working)
}

// running are the jobs that take turns now. Where there are many, they are those that had their last turn the longest
// ago.
func (w jobWorker) running(ctx context.Context) ([]job.Job, error) {
	var jobs []job.Job
	next := ""
	for {
		page, after, err := w.jobs.List(ctx, job.Running, jobPage, next)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, page...)
		if after == "" {
			break
		}
		next = after
	}
	jobs, err := w.events.mayRun(ctx, jobs)
	if err != nil {
		return nil, err
	}
	// The table lists the latest job first. By the time of the last turn, no job waits for the ends of the others.
	slices.SortStableFunc(jobs, func(a, b job.Job) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return jobs[:min(len(jobs), maxJobs)], nil
}

// lease takes the jobs that no other worker has.
func (w jobWorker) lease(ctx context.Context, s shift, running []job.Job) ([]job.Job, error) {
	var leased []job.Job
	var errs []error
	for _, j := range running {
		stored, ok, err := w.jobs.Lease(ctx, j.ID, s.worker, w.now(), w.now().Add(lease))
		if ok {
			leased = append(leased, stored)
		}
		errs = append(errs, err)
	}
	return leased, errors.Join(errs...)
}

// turns gives each job a turn, again and again, until nothing is left to do or time runs out. It counts the turns.
func (w jobWorker) turns(ctx context.Context, s shift, jobs []job.Job) (turns int, err error) {
	var errs []error
	waiting := slices.Clone(jobs)
	for len(waiting) > 0 && !outOfTime(ctx) {
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

// turn brings a job a page further, and stores how far it is. More is false where nothing else can be done for it now:
// it is done or was stopped, another worker has it, or something is to be tried again a minute later.
func (w jobWorker) turn(ctx context.Context, s shift, j job.Job) (stored job.Job, more bool, err error) {
	done, page, advancing := w.advance(ctx, s, j)
	done.UpdatedAt = w.now()
	finish, cancel := finishing(ctx)
	defer cancel()
	// A pass through rejected events writes its page anew, and so it writes an empty page, too.
	if !page.Empty() || j.Act == job.Publish && page.Number > 0 {
		if err := w.jobs.PutPage(finish, j, page); err != nil {
			// The page is done again. Ids that are finished are found to be.
			return j, false, errors.Join(advancing, err)
		}
	}
	stored, leased, err := w.jobs.Advance(finish, done, s.worker)
	again := stored.Tries > 0 || stored.MayHide(w.now()) || stored.Waits(w.now())
	more = leased && stored.State == job.Running && !again && advancing == nil
	return stored, more, errors.Join(advancing, err)
}

func (w jobWorker) advance(ctx context.Context, s shift, j job.Job) (job.Job, job.Page, error) {
	if j.Act == job.Publish {
		return w.events.advance(ctx, s, j)
	}
	return w.letters.advance(ctx, s, j)
}

// leave ends the leases, so that the next invocation need not wait for their ends.
func (w jobWorker) leave(ctx context.Context, s shift, jobs []job.Job) {
	finish, cancel := finishing(ctx)
	defer cancel()
	for _, j := range jobs {
		if err := w.jobs.Leave(finish, j.ID, s.worker); err != nil {
			w.log.WarnContext(ctx, "a job waits for the end of its lease", slog.String("job_id", j.ID), telemetry.Cause(err))
		}
	}
}
