package replay

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

const (
	// jobPage is how many dead letters are taken up together.
	jobPage = 100
	// perSecond bounds the dead letters and events of all jobs together, for some 40 s of each minute. It is a sixth
	// of the bound of recoveries: where receivers hang for 15 s, 75 of the 200 processes of RetryQueue's mapping wait.
	perSecond = 50
	// maxJobs bounds the jobs that take turns in an invocation.
	maxJobs = 20
	// lease is longer than an invocation, so that the worker of a job is alone.
	lease = time.Minute
)

// workJobs works on the running jobs, in turns of a page, until its time is over. The next invocation goes on.
func (h *Handler) workJobs(ctx context.Context, call *operator.Call, _ struct{}) (none struct{}, err error) {
	running, err := h.running(ctx)
	if err != nil {
		return none, err
	}
	w := &worker{h: h, call: call, name: rand.Text(), free: h.Now()}
	var jobs []job.Job
	var errs []error
	for _, j := range running {
		leased, ok, err := h.Jobs.Lease(ctx, j.ID, w.name, h.Now(), h.Now().Add(lease))
		if ok {
			jobs = append(jobs, leased)
		}
		errs = append(errs, err)
	}
	defer w.leave(ctx, jobs)
	turns := 0
	for left := jobs; len(left) > 0 && !late(ctx); turns++ {
		next, more, err := w.turn(ctx, left[0])
		if left = left[1:]; more {
			left = append(left, next)
		}
		errs = append(errs, err)
	}
	call.Note(slog.Int("jobs", len(jobs)), slog.Int("turns", turns))
	return none, errors.Join(errs...)
}

// running are the jobs that take turns now: of many, the ones whose last turn was the longest ago.
func (h *Handler) running(ctx context.Context) (jobs []job.Job, err error) {
	for next := ""; ; {
		var page []job.Job
		if page, next, err = h.Jobs.List(ctx, job.Running, jobPage, next); err != nil {
			return nil, err
		}
		if jobs = append(jobs, page...); next == "" {
			break
		}
	}
	if jobs, err = h.publishAlone(ctx, jobs); err != nil {
		return nil, err
	}
	slices.SortStableFunc(jobs, func(a, b job.Job) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return jobs[:min(len(jobs), maxJobs)], nil
}

// worker works off jobs in one invocation.
type worker struct {
	h    *Handler
	call *operator.Call
	name string
	free time.Time // when the next page may begin
}

// turn brings a job a page further: pending ids are worked off, the next page taken up, and both stored at once. more
// is false where nothing else can be done for it now.
func (w *worker) turn(ctx context.Context, j job.Job) (stored job.Job, more bool, err error) {
	done, page, listing := w.advance(ctx, j)
	done.UpdatedAt = w.h.Now()
	finish, cancel := finishing(ctx)
	defer cancel()
	if !page.Empty() || j.Act == job.Publish { // whose pages are written anew
		if err := w.h.Jobs.PutPage(finish, j, page); err != nil {
			return j, false, errors.Join(listing, err) // the page is done again: finished ids are found done
		}
	}
	stored, leased, err := w.h.Jobs.Advance(finish, done, w.name)
	more = leased && stored.State == job.Running && stored.Tries == 0 && listing == nil
	return stored, more, errors.Join(listing, err)
}

func (w *worker) advance(ctx context.Context, j job.Job) (job.Job, job.Page, error) {
	if j.Act == job.Publish {
		return w.publish(ctx, j)
	}
	var page job.Page
	if len(j.Pending) > 0 {
		if !w.pace(ctx, len(j.Pending)) {
			return j, page, nil
		}
		j.Progress, page = j.Settle(w.act(ctx, j))
	}
	if len(j.Pending) > 0 || j.Listed {
		return j, page, nil
	}
	letters := dynamo.LetterPage{Limit: jobPage, Cursor: j.Cursor, OldestFirst: true, Reads: readsAtOnce}
	records, next, err := w.h.DeadLetters.List(ctx, j.Selector, letters)
	if err != nil {
		return j, page, err
	}
	ids := make([]string, len(records))
	for i, d := range records {
		ids[i] = d.DeliveryID
	}
	j.Progress = j.Begin(ids, next)
	return j, page, nil
}

// act does a job's act on its pending dead letters.
func (w *worker) act(ctx context.Context, j job.Job) []job.Result {
	results := w.h.runOf(w.call, j).all(ctx, j.Pending)
	settled := make([]job.Result, 0, len(results))
	for _, one := range results {
		if one.Result != resultNotStarted {
			why := cmp.Or(one.Reason, one.Result) // a missing letter has no reason
			settled = append(settled, job.Result{ID: one.DeliveryID, Kind: kindOf(one), Reason: why})
		}
	}
	return settled
}

func kindOf(r Result) job.Kind {
	switch {
	case r.Result == resultReplayed || r.Result == resultPurged:
		return job.Succeeded
	case r.Result == resultFailed || r.Reason == reasonReplayRunning || r.Reason == reasonChanged:
		return job.Again
	}
	return job.Refused
}

// pace waits for n at the rate of all jobs together. It returns false if no time is left then.
func (w *worker) pace(ctx context.Context, n int) bool {
	now := w.h.Now()
	timer := time.NewTimer(w.free.Sub(now))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	if w.free.Before(now) {
		w.free = now
	}
	w.free = w.free.Add(time.Duration(n) * time.Second / perSecond)
	return !late(ctx)
}

// leave ends the leases, so that the next invocation need not wait for their ends.
func (w *worker) leave(ctx context.Context, jobs []job.Job) {
	finish, cancel := finishing(ctx)
	defer cancel()
	for _, j := range jobs {
		if err := w.h.Jobs.Leave(finish, j.ID, w.name); err != nil {
			w.h.Log.WarnContext(ctx, "a job waits for the end of its lease", slog.String("job_id", j.ID), telemetry.Cause(err))
		}
	}
}
