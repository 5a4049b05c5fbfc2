package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
	"github.com/herald-webhooks/herald/infra/internal/client"
)

// The looks at a job and at its outcome.
const (
	pollEvery    = 2 * time.Second
	outcomeEvery = 5 * time.Second
	outcomeParts = 3  // requests for one outcome at most: each is about up to 2,000 deliveries
	mostUnmoved  = 12 // looks that find no change, a minute: what is held for an endpoint that is down stays under way
	mostFaults   = 5  // looks that fail one after the other
)

// watch follows a job until it is done or stopped.
func (a *app) watch(ctx context.Context, c *cli.Command, s stack, id string) error {
	for last := ""; ; {
		j, err := a.look(ctx, id, func() (row, error) {
			return s.Ask(ctx, "inspect", "job", fields{"job_id": id})
		})
		if err != nil {
			return err
		}
		if last == "" && j["state"] == "running" {
			begins := "a minute"
			if j["act"] == "publish" { // it waits for looks at rejected events, which hide them
				begins = "two minutes"
			}
			a.say("%s begins within %s", safe(id), begins)
		}
		if line := progress(j); line != last {
			a.say("%s", line)
			last = line
		}
		if j["state"] != "running" {
			return a.ended(ctx, c, s, j)
		}
		if !client.Pause(ctx, pollEvery) {
			a.say("the job goes on by itself; to stop it: herald jobs stop %s", id)
			return nil
		}
	}
}

// look asks again where a function failed: the job goes on meanwhile.
func (a *app) look(ctx context.Context, id string, ask func() (row, error)) (row, error) {
	for faults := 1; ; faults++ {
		answer, err := ask()
		if failed := (*failure)(nil); !errors.As(err, &failed) || failed.code != exitFailed {
			return answer, err
		}
		if faults == mostFaults {
			return nil, fail(exitFailed, "%v\nThe job itself goes on: herald jobs show --watch %s", err, id)
		}
		if !client.Pause(ctx, outcomeEvery) {
			return nil, ctx.Err()
		}
	}
}

// ended shows what became of a job that no longer runs.
func (a *app) ended(ctx context.Context, c *cli.Command, s stack, j row) error {
	id := cellOf(j, "job_id")
	switch {
	case isJSON(c):
		a.printJSON(j)
	case j["act"] == "replay":
		if err := a.awaitOutcome(ctx, s, id); err != nil {
			return err
		}
	case j["act"] == "publish" && console.Number(j, "done") > 0:
		a.say("the events queue has accepted %s; their deliveries follow, or herald rejected list has them again",
			console.Plain(j["done"]))
	}
	if j["state"] != "done" || notDone(j) != "" {
		return &failure{code: exitUnhealthy, text: "not all were done: herald jobs show " + id}
	}
	return nil
}

// progress is a bar of twenty steps, which is a line of text everywhere.
func progress(j row) string {
	const steps = 20
	filled, selected := steps, console.Number(j, "selected")
	if selected > 0 {
		filled = int(steps * console.WorkedOff(j) / selected)
	}
	bar := strings.Repeat("#", filled) + strings.Repeat(".", steps-filled)
	return safe(fmt.Sprintf("[%s] %v: %s of %.0f done%s", bar, j["state"], console.Plain(j["done"]), selected, notDone(j)))
}

// notDone counts a job's failures, by reason.
func notDone(j row) (counts string) {
	for _, result := range []string{"refused", "failed"} {
		if text := console.Reasons(j[result]); text != "" {
			counts += "; " + result + ": " + text
		}
	}
	return counts
}

// awaitOutcome prints the states of a job's deliveries when none is under way, or none has changed for a minute.
func (a *app) awaitOutcome(ctx context.Context, s stack, id string) error {
	var before any
	var o row
	for unmoved := 0; ; unmoved++ {
		var err error
		o, err = a.look(ctx, id, func() (row, error) { return console.Outcome(ctx, s, id, outcomeParts) })
		if err != nil {
			return err
		}
		if o["under_way"] != before {
			before, unmoved = o["under_way"], 0
		}
		if console.Number(o, "under_way") == 0 || unmoved == mostUnmoved || !client.Pause(ctx, outcomeEvery) {
			break
		}
	}
	n := func(count string) string { return console.Plain(o[count]) }
	a.say("of %s sent: %s delivered, %s dead again, %s under way",
		n("sent"), n("delivered"), n("dead_again"), n("under_way"))
	if o["discarded"] != 0.0 || o["unknown"] != 0.0 {
		a.say("and %s discarded, %s unknown, since their records have expired", n("discarded"), n("unknown"))
	}
	if o["more"] == true {
		a.say("this is about the first %s of the job", n("sent"))
	}
	return nil
}

// showJob shows a job, the states of its deliveries, and its failures.
func (a *app) showJob(ctx context.Context, c *cli.Command, s stack, f fields) error {
	if c.Bool("watch") {
		return a.watch(ctx, c, s, cellOf(f, "job_id"))
	}
	shown, err := console.ReadJob(ctx, s, f, outcomeParts)
	if err != nil {
		return err
	}
	job, failures := shown.Job, console.Rows(shown.Failures)
	if job["act"] == "replay" {
		job["outcome"] = shown.Outcome
	}
	if isJSON(c) {
		job["failures"] = failures
		a.printJSON(job)
		return nil
	}
	if a.show(job); len(failures) == 0 {
		return nil
	}
	a.print("")
	a.table(failures, "id", "result", "reason")
	for _, sentence := range console.Advice(job) {
		a.say("%s", sentence)
	}
	if shown.Failures["next_cursor"] != nil {
		a.say("these are the first %d that it did not do", len(failures))
	}
	return nil
}

// resumeJob asks the function, and its alias for a job that deletes for good.
func (a *app) resumeJob(ctx context.Context, c *cli.Command, s stack, f fields) error {
	answer, err := console.Resume(ctx, s, f)
	if err == nil {
		a.printOne(c, answer)
	}
	return err
}
