package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// The looks at a job and at its outcome.
const (
	pollEvery    = 2 * time.Second
	outcomeEvery = 5 * time.Second
	outcomeParts = 3  // requests for one outcome at most: each is about up to 2,000 deliveries
	mostUnmoved  = 12 // looks that find no change, a minute: a delivery that is held for an endpoint stays under way
	mostFaults   = 5  // looks that fail one after the other
)

// watcher follows jobs.
type watcher struct{ call }

// watch follows a job until it is done or stopped.
func (w watcher) watch(ctx context.Context, id string) error {
	for last := ""; ; {
		j, err := look(ctx, w, id, func() (answers.Answer[api.Job], error) {
			return stack.Ask(ctx, w.stack, api.GetJob, api.JobRequest{JobID: id})
		})
		if err != nil {
			return err
		}
		running := j.Fields.State == job.Running
		if last == "" && running {
			then := ""
			if j.Fields.Act.OnEvents() { // until then, other requests may hide rejected events from it
				then = ", and ends when it is two minutes old, or later"
			}
			w.Say("%s begins within a minute%s", answers.Safe(id), then)
		}
		if line := progress(j.Fields); line != last {
			w.Say("%s", line)
			last = line
		}
		if !running {
			return w.showEnd(ctx, j)
		}
		if !client.Pause(ctx, pollEvery) {
			w.Say("the job goes on by itself; to stop it: %s", w.herald("jobs stop "+argument(id)))
			return nil
		}
	}
}

// look asks again where a function failed: the job still goes on.
func look[T any](ctx context.Context, w watcher, id string, ask func() (T, error)) (found T, err error) {
	for faults := 1; ; faults++ {
		found, err = ask()
		if failed := (*exit.Error)(nil); !errors.As(err, &failed) || failed.Code != exit.Failed {
			return found, err
		}
		if faults == mostFaults {
			return found, exit.With(exit.Failed, "%v\nThe job itself goes on: %s", err,
				w.herald("jobs show --watch "+argument(id)))
		}
		if !client.Pause(ctx, outcomeEvery) {
			return found, ctx.Err()
		}
	}
}

// showEnd shows the outcome of a job that no longer runs.
func (w watcher) showEnd(ctx context.Context, ended answers.Answer[api.Job]) error {
	j := ended.Fields
	switch {
	case w.JSON:
		w.PrintJSON(ended.JSON)
	case j.Act == job.Replay:
		if err := w.awaitOutcome(ctx, j.JobID); err != nil {
			return err
		}
	case j.Act == job.Publish && j.Done > 0:
		w.Say("the events queue has accepted %d; their deliveries follow, or %s has them again", j.Done,
			w.herald("rejected list"))
	}
	if j.State != job.Done || notDone(j) != "" {
		return &exit.Error{Code: exit.Unhealthy, Text: "not all were done: " + w.herald("jobs show "+argument(j.JobID))}
	}
	return nil
}

// progress is a bar of twenty steps, which is a line of text everywhere.
func progress(j api.Job) string {
	const steps = 20
	filled := steps
	if j.Selected > 0 {
		filled = steps * stack.WorkedOff(j) / j.Selected
	}
	bar := strings.Repeat("#", filled) + strings.Repeat(".", steps-filled)
	return answers.Safe(fmt.Sprintf("[%s] %s: %d of %d done%s", bar, j.State, j.Done, j.Selected, notDone(j)))
}

// notDone counts a job's failures, by reason.
func notDone(j api.Job) (counts string) {
	if refused := answers.Reasons(j.Refused); refused != "" {
		counts += "; refused: " + refused
	}
	if failed := answers.Reasons(j.Failed); failed != "" {
		counts += "; failed: " + failed
	}
	return counts
}

// awaitOutcome prints the states of a job's deliveries when none is under way, or none has changed for a minute.
func (w watcher) awaitOutcome(ctx context.Context, id string) error {
	var o stack.Outcome
	for unmoved, before := 0, -1; ; unmoved++ {
		var err error
		o, err = look(ctx, w, id, func() (stack.Outcome, error) {
			return stack.ReadOutcome(ctx, w.stack, id, outcomeParts)
		})
		if err != nil {
			return err
		}
		if o.UnderWay != before {
			before, unmoved = o.UnderWay, 0
		}
		if o.UnderWay == 0 || unmoved == mostUnmoved || !client.Pause(ctx, outcomeEvery) {
			break
		}
	}
	w.Say("of %d sent: %d delivered, %d dead again, %d under way%s", o.Sent, o.Delivered, o.DeadAgain, o.UnderWay,
		o.HeldWords())
	if o.Discarded > 0 || o.Unknown > 0 {
		w.Say("and %d discarded, %d unknown, since their records have expired", o.Discarded, o.Unknown)
	}
	if o.More {
		w.Say("this is about the first %d of the job", o.Sent)
	}
	return nil
}

func watchFlag() cli.Flag {
	return &cli.BoolFlag{Name: "watch", Usage: "stay until the job and its deliveries end; Ctrl-C leaves them running"}
}
