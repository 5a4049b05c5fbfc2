package jobs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// eventPasses works off a job on rejected events. A queue has no pages: each turn is a pass through the queue, and the
// job is done when a pass has met the queue's end.
type eventPasses struct {
	jobs   LeasedJobs
	events EventQueue
	act    Act
	now    func() time.Time
}

// advance makes one pass through the rejected events. Where the pass does not meet the queue's end, the events that it
// has passed stay hidden, so that the next invocation goes on behind them.
func (p eventPasses) advance(ctx context.Context, s shift, j job.Job) (job.Job, job.Page, error) {
	begun := p.now()
	passing, leased, err := p.begin(ctx, s, j)
	if err != nil || !leased {
		return j, job.Page{}, err
	}
	all, end, err := p.events.pass(ctx, p.sweep(s, j), job.HideFor)
	count := countOutcomes(all)
	// Events with which the act failed are tried again by the next passes, which end the job only when tries are used up.
	if len(count.failed) > 0 {
		j.Tries++
	}
	met := end && !j.MayHide(p.now()) && !count.triesAgain(j)
	complete, asking := p.complete(ctx, s, passing, begun, met)
	err = errors.Join(err, asking)
	// A first pass that has met the end begins anew if it was too early to end the job. Its events need not stay hidden.
	anew := end && !complete && j.BeginsAnew(begun)
	if !p.restore(ctx, all, complete || anew) || err != nil {
		j.HiddenUntil = passing.HiddenUntil
	}
	progress, page := j.Sweep(job.Swept{
		Begun: begun, Done: count.done, Refused: count.refused, Anew: anew, Complete: complete,
	})
	j.Progress = progress
	if complete {
		j.Failed = count.failed
	}
	return j, page, err
}

// restore returns the events of a pass. Without whole, those that stay on the queue remain hidden, so that the next
// pass goes on behind them. It reports whether the others are back.
func (p eventPasses) restore(ctx context.Context, all []Outcome, whole bool) bool {
	if !whole {
		all = slices.DeleteFunc(slices.Clone(all), Outcome.stays)
	}
	return p.events.restore(ctx, all)
}

// begin stores that a pass begins. A pass that breaks off leaves its events hidden, too, and has stored nothing of
// them. So it is stored before until when that may be, and an empty queue is not taken for its end until then.
func (p eventPasses) begin(ctx context.Context, s shift, j job.Job) (begun job.Job, leased bool, err error) {
	j.Progress = j.Passing(p.now().Add(lease))
	return p.jobs.Advance(ctx, j, s.worker)
}

// complete reports whether a pass that has met the queue's end may end its job. Requests that began before the job was
// started or resumed may have hidden events from an early pass. So may later ones while an operator had stopped the
// job: the table tells whether it ran through all of the pass.
func (p eventPasses) complete(
	ctx context.Context, s shift, passing job.Job, begun time.Time, met bool,
) (bool, error) {
	if !met {
		return false, nil
	}
	stored, leased, err := p.jobs.Advance(ctx, passing, s.worker)
	return err == nil && leased && stored.Undisturbed(begun), err
}

// sweep does the act to the events that a job selects. Refused events wait for no pace, or many of them would keep the
// pass from the queue's end.
func (p eventPasses) sweep(s shift, j job.Job) Sweep {
	return Sweep{
		Selects: func(e rejected.Event) bool { return e.Selected(j.Selector) },
		Most:    maxSwept,
		Invalid: p.act.Invalid,
		Do: func(ctx context.Context, events []rejected.Event) []Outcome {
			if s.pace.wait(ctx, len(events)) {
				return p.act.Events(ctx, s.audit, j, events)
			}
			return Outcomes(api.ResultNotStarted, "", events...)
		},
	}
}

// passCount has the numbers of a pass, and the events that it refused.
type passCount struct {
	done    int
	failed  map[string]int // by reason
	refused []job.Failure
}

// triesAgain reports whether a pass has failed events that the next passes of its job try again.
func (c passCount) triesAgain(j job.Job) bool { return len(c.failed) > 0 && j.Tries < job.MaxTries }

// countOutcomes counts the outcomes of a pass.
func countOutcomes(all []Outcome) (count passCount) {
	for _, o := range all {
		switch {
		case o.gone():
			count.done++
		case o.Result == api.ResultRefused:
			count.refused = append(count.refused, job.Failure{ID: o.MessageID, Refused: true, Reason: o.Reason})
		case o.Result == api.ResultFailed:
			if count.failed == nil {
				count.failed = map[string]int{}
			}
			count.failed[o.Reason]++
		}
	}
	return count
}
