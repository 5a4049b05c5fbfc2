package replay

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// eventPasses works off a job that publishes rejected events. A queue has no pages: each turn is a pass through the
// queue, and the job is done when a pass has met the queue's end.
type eventPasses struct {
	jobs      ListedJobs
	events    eventQueue
	publisher publisher
	now       func() time.Time
}

// mayRun returns the running jobs without those that publish and have to wait. A publishing job takes an empty answer
// of the queue for its end. So it must not run while events are hidden from it: those that another publishing job has
// passed, and those that operators looked at before the job began.
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
	all, complete, err := p.events.pass(ctx, sweep{
		selects: func(e rejected.Event) bool { return e.Selected(j.Selector) },
		hide:    job.HideFor,
		most:    maxSwept,
		act: func(ctx context.Context, events []rejected.Event) []outcome {
			// Refused events wait for no pace, or many of them would keep the pass from the queue's end.
			if s.pace.wait(ctx, len(events)) {
				return p.publisher.publish(ctx, s.audit, j, events)
			}
			return outcomes(resultNotStarted, "", events...)
		},
	})
	// Events that could not be sent are tried again by the next passes, which end the job only when tries are used up.
	count := countOutcomes(all)
	if count.failed > 0 {
		j.Tries++
		complete = complete && j.Tries >= job.MaxTries
	}
	shown := all
	if !complete {
		shown = slices.DeleteFunc(all, outcome.stays)
	}
	p.events.restore(ctx, shown)
	progress, page := j.Sweep(job.Swept{
		Begun: begun, Published: count.published, Refused: count.refused, Complete: complete,
	})
	j.Progress = progress
	if complete && count.failed > 0 {
		j.Failed = map[string]int{reasonNotSent: count.failed}
	}
	return j, page, err
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
