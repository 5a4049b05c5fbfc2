package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
)

// outcomeParts bounds the requests for one outcome: each is about up to 2,000 deliveries.
const outcomeParts = 3

// sayOutcome tells what became of a job's deliveries so far.
func (a *app) sayOutcome(ctx context.Context, s stack, id string) error {
	o, err := console.Outcome(ctx, asker{s}, id, outcomeParts)
	if err != nil {
		return err //nolint:wrapcheck // the function's answer
	}
	a.say("of %v sent: %v delivered, %v dead again, %v under way",
		o["sent"], o["delivered"], o["dead_again"], o["under_way"])
	if o["discarded"] != 0.0 || o["unknown"] != 0.0 {
		a.say("and %v discarded, %v unknown, since their records have expired", o["discarded"], o["unknown"])
	}
	if o["more"] == true {
		a.say("this is about the first %v of the job", o["sent"])
	}
	return nil
}

// showJob shows a job, what became of what it sent, and what it did not do.
func (a *app) showJob(ctx context.Context, c *cli.Command, s stack, id string) error {
	f := fields{"job_id": id}
	var job row
	if _, err := s.ask(ctx, "inspect", "job", f, &job); err != nil {
		return err
	}
	if job["act"] == "replay" {
		var err error
		if job["outcome"], err = console.Outcome(ctx, asker{s}, id, outcomeParts); err != nil {
			return err //nolint:wrapcheck // the function's answer
		}
	}
	var failures page
	if _, err := s.ask(ctx, "inspect", "job_failures", f, &failures); err != nil {
		return err
	}
	if isJSON(c) {
		job["failures"] = nonNil(failures.Data)
		return a.printJSON(job)
	}
	if err := a.show(job); err != nil || len(failures.Data) == 0 {
		return err
	}
	if err := a.print(""); err != nil {
		return err
	}
	if err := a.table(failures.Data, "id", "result", "reason"); err != nil {
		return err
	}
	for _, sentence := range console.Advice(job) {
		a.say("%s", sentence)
	}
	if failures.Next != nil {
		a.say("these are the first %d that it did not do", len(failures.Data))
	}
	return nil
}
