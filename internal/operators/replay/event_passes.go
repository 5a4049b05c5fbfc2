package replay

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// eventPasses works off a job that publishes rejected events. A queue has no pages: each turn is a pass through the
// queue, and the job is done when a pass has met the queue's end.
type eventPasses struct {
	jobs      workedJobs
	events    eventQueue
	publisher publisher
	now       func() time.Time
}

// mayRun returns the running jobs without those that publish and have to wait. A publishing job takes an empty answer
// of the queue for its end. So it must not run while events are hidden from it: those that another publishing job has
// passed, and those that requests have received before the job began.
func (p eventPasses) mayRun(ctx context.Context, running []job.Job) ([]job.Job, error) {
	if !slices.ContainsFunc(running, func(j job.Job) bool { return j.Act == job.Publish }) {
		return running, nil
	}
	// A job that was stopped or is done may have events hidden still.
	all := slices.Clone(running)
	for _, state := range []job.State{job.Stopped, job.Done} {
		others, _, err := p.jobs.List(ctx, state, jobPage, "")
		if err != nil {
			return nil, err
		}
		all = append(all, others...)
	}
	now := p.now()
	return slices.DeleteFunc(running, func(j job.Job) bool {
		return j.Waits(now) || slices.ContainsFunc(all, func(other job.Job) bool { return j.WaitsFor(other, now) })
	}), nil
}

// advance makes one pass through the rejected events. Where the pass does not meet the queue's end, the events that it
// has passed stay hidden, so that the next invocation goes on behind them.
func (p eventPasses) advance(ctx context.Context, s shift, j job.Job) (job.Job, job.Page, error) {
	begun := p.now()
	passing, leased, err := p.begin(ctx, s, j)
	if err != nil || !leased {
		return j, job.Page{}, err
	}
	all, end, err := p.events.pass(ctx, p.sweep(s, j))
	count := countOutcomes(all)
	// Events that could not be sent are tried again by the next passes, which end the job only when tries are used up.
	if count.failed > 0 {
		j.Tries++
	}
	met := end && !j.MayHide(p.now()) && (count.failed == 0 || j.Tries >= job.MaxTries)
	complete, asking := p.complete(ctx, s, passing, begun, met)
	err = errors.Join(err, asking)
	back := all
	if !complete {
		back = slices.DeleteFunc(slices.Clone(all), outcome.stays)
	}
	if !p.events.restore(ctx, back) || err != nil {
		j.HiddenUntil = passing.HiddenUntil
	}
	progress, page := j.Sweep(job.Swept{
		Begun: begun, Published: count.published, Refused: count.refused, Complete: complete,
	})
	j.Progress = progress
	if complete && count.failed > 0 {
		j.Failed = map[string]int{reasonNotSent: count.failed}
	}
	return j, page, err
}

// begin stores that a pass begins. A pass that breaks off leaves its events hidden, too, and has stored nothing of
// them. So it is stored before until when that may be, and an empty queue is not taken for its end until then.
func (p eventPasses) begin(ctx context.Context, s shift, j job.Job) (begun job.Job, leased bool, err error) {
	j.Progress = j.Passing(p.now().Add(lease))
	return p.jobs.Advance(ctx, j, s.worker)
}

// complete reports whether a pass that has met the queue's end may end its job. It asks the table whether the job ran
// through all of the pass: where an operator had stopped it, an event may have been hidden from the pass.
func (p eventPasses) complete(
	ctx context.Context, s shift, passing job.Job, begun time.Time, met bool,
) (bool, error) {
	if !met {
		return false, nil
	}
	stored, leased, err := p.jobs.Advance(ctx, passing, s.worker)
	return err == nil && leased && stored.Undisturbed(begun), err
}

// sweep publishes the events that a job selects. Refused events wait for no pace, or many of them would keep the pass
// from the queue's end.
func (p eventPasses) sweep(s shift, j job.Job) sweep {
	return sweep{
		selects: func(e rejected.Event) bool { return e.Selected(j.Selector) },
		hide:    job.HideFor,
		most:    maxSwept,
		act: func(ctx context.Context, events []rejected.Event) []outcome {
			if s.pace.wait(ctx, len(events)) {
				return p.publisher.publish(ctx, s.audit, j, events)
			}
			return outcomes(resultNotStarted, "", events...)
		},
	}
}

// passCount has the numbers of a pass, and the events that it refused.
type passCount struct {
	published, failed int
	refused           []job.Failure
}

// countOutcomes counts the outcomes of a pass.
func countOutcomes(all []outcome) (count passCount) {
	for _, o := range all {
		switch o.result {
		case resultReplayed:
			count.published++
		case resultRefused:
			count.refused = append(count.refused, job.Failure{ID: o.MessageID, Refused: true, Reason: o.reason})
		case resultFailed:
			count.failed++
		}
	}
	return count
}
