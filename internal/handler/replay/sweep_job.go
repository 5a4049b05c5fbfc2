package replay

import (
	"context"
	"slices"

	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// publishAlone leaves out jobs that would publish beside others, or while events that others have passed may be
// hidden: they would reach the queue's end without them. Others hide events while they look.
func (h *Handler) publishAlone(ctx context.Context, running []job.Job) ([]job.Job, error) {
	if !slices.ContainsFunc(running, func(j job.Job) bool { return j.Act == job.Publish }) {
		return running, nil
	}
	all := slices.Clone(running)
	for _, state := range []job.State{job.Stopped, job.Done} {
		others, _, err := h.Jobs.List(ctx, state, jobPage, "")
		if err != nil {
			return nil, err
		}
		all = append(all, others...)
	}
	now := h.Now()
	return slices.DeleteFunc(running, func(j job.Job) bool {
		return j.Waits(now) || slices.ContainsFunc(all, func(other job.Job) bool { return j.WaitsFor(other, now) })
	}), nil
}

// publish goes through the rejected events, and is done with a job that has met the queue's end. Events passed before
// that stay hidden, so that the next invocation goes on behind them.
func (w *worker) publish(ctx context.Context, j job.Job) (job.Job, job.Page, error) {
	s := &sweep{h: w.h, call: w.call, job: j, all: true}
	s.act = func(ctx context.Context, events []rejected.Event) []met {
		// refused ones take no time, or many would keep the sweep from its end
		if w.pace(ctx, len(events)) {
			return s.send(ctx, events)
		}
		return ended(resultNotStarted, "", events...)
	}
	begun := w.h.Now()
	all, complete, err := s.run(ctx, job.Way)
	published, failed, refused := count(all)
	if failed > 0 {
		j.Tries++
		complete = complete && j.Tries >= job.MaxTries
	}
	if !complete {
		all = slices.DeleteFunc(all, met.passed)
	}
	s.restore(ctx, all)
	var page job.Page
	j.Progress, page = j.Sweep(job.Swept{Begun: begun, Published: published, Refused: refused, Complete: complete})
	if complete && failed > 0 {
		j.Failed = map[string]int{reasonNotSent: failed}
	}
	return j, page, err
}

// count counts the results of a job's sweep.
func count(all []met) (published, failed int, refused []job.Failure) {
	for _, m := range all {
		switch m.result {
		case resultReplayed:
			published++
		case resultRefused:
			refused = append(refused, job.Failure{ID: m.MessageID, Refused: true, Reason: m.reason})
		case resultFailed:
			failed++
		}
	}
	return published, failed, refused
}
