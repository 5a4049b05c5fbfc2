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
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
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
type watcher struct {
	functions stack.Functions
	terminal.Screen
}

// watch follows a job until it is done or stopped.
func (w watcher) watch(ctx context.Context, id string) error {
	for last := ""; ; {
		j, err := w.look(ctx, id, func() (answers.Row, error) {
			return w.functions.Ask(ctx, "inspect", "job", answers.Row{"job_id": id})
		})
		if err != nil {
			return err
		}
		if last == "" && j["state"] == "running" {
			begins := "a minute"
			if j["act"] == "publish" { // it waits for other requests, which hide rejected events
				begins = "three minutes"
			}
			w.Say("%s begins within %s", answers.Safe(id), begins)
		}
		if line := progress(j); line != last {
			w.Say("%s", line)
			last = line
		}
		if j["state"] != "running" {
			return w.showEnd(ctx, j)
		}
		if !client.Pause(ctx, pollEvery) {
			w.Say("the job goes on by itself; to stop it: herald jobs stop %s", id)
			return nil
		}
	}
}

// look asks again where a function failed: the job still goes on.
func (w watcher) look(ctx context.Context, id string, ask func() (answers.Row, error)) (answers.Row, error) {
	for faults := 1; ; faults++ {
		answer, err := ask()
		if failed := (*exit.Error)(nil); !errors.As(err, &failed) || failed.Code != exit.Failed {
			return answer, err
		}
		if faults == mostFaults {
			return nil, exit.With(exit.Failed, "%v\nThe job itself goes on: herald jobs show --watch %s", err, id)
		}
		if !client.Pause(ctx, outcomeEvery) {
			return nil, ctx.Err()
		}
	}
}

// showEnd shows the outcome of a job that no longer runs.
func (w watcher) showEnd(ctx context.Context, j answers.Row) error {
	id := answers.Text(j, "job_id")
	switch {
	case w.JSON:
		w.PrintJSON(j)
	case j["act"] == "replay":
		if err := w.awaitOutcome(ctx, id); err != nil {
			return err
		}
	case j["act"] == "publish" && answers.Number(j, "done") > 0:
		w.Say("the events queue has accepted %s; their deliveries follow, or herald rejected list has them again",
			answers.Plain(j["done"]))
	}
	if j["state"] != "done" || notDone(j) != "" {
		return &exit.Error{Code: exit.Unhealthy, Text: "not all were done: herald jobs show " + id}
	}
	return nil
}

// progress is a bar of twenty steps, which is a line of text everywhere.
func progress(j answers.Row) string {
	const steps = 20
	filled, selected := steps, answers.Number(j, "selected")
	if selected > 0 {
		filled = int(steps * stack.WorkedOff(j) / selected)
	}
	bar := strings.Repeat("#", filled) + strings.Repeat(".", steps-filled)
	line := fmt.Sprintf("[%s] %v: %s of %.0f done%s", bar, j["state"], answers.Plain(j["done"]), selected, notDone(j))
	return answers.Safe(line)
}

// notDone counts a job's failures, by reason.
func notDone(j answers.Row) (counts string) {
	for _, result := range []string{"refused", "failed"} {
		if text := answers.Reasons(j[result]); text != "" {
			counts += "; " + result + ": " + text
		}
	}
	return counts
}

// awaitOutcome prints the states of a job's deliveries when none is under way, or none has changed for a minute.
func (w watcher) awaitOutcome(ctx context.Context, id string) error {
	var before any
	var o answers.Row
	for unmoved := 0; ; unmoved++ {
		var err error
		o, err = w.look(ctx, id, func() (answers.Row, error) { return stack.Outcome(ctx, w.functions, id, outcomeParts) })
		if err != nil {
			return err
		}
		if o["under_way"] != before {
			before, unmoved = o["under_way"], 0
		}
		if answers.Number(o, "under_way") == 0 || unmoved == mostUnmoved || !client.Pause(ctx, outcomeEvery) {
			break
		}
	}
	n := func(count string) string { return answers.Plain(o[count]) }
	w.Say("of %s sent: %s delivered, %s dead again, %s under way",
		n("sent"), n("delivered"), n("dead_again"), n("under_way"))
	if o["discarded"] != 0.0 || o["unknown"] != 0.0 {
		w.Say("and %s discarded, %s unknown, since their records have expired", n("discarded"), n("unknown"))
	}
	if o["more"] == true {
		w.Say("this is about the first %s of the job", n("sent"))
	}
	return nil
}

func watchFlag() cli.Flag {
	return &cli.BoolFlag{Name: "watch", Usage: "stay until the job and its deliveries end; Ctrl-C leaves them running"}
}
