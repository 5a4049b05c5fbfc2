package commands

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
)

func jobCommands(s setup) *cli.Command {
	return group("jobs", "acts on many dead letters or rejected events",
		command("list", "stopped, then running, then finished jobs, each newest first",
			s.list("inspect", "jobs", "job_id", "act", "state", "selected", "done", "left", "operator", "started_at"),
			usage.Text("state", "running, stopped or done"), limitFlag(20)),
		command("show JOB-ID", "progress, outcome and failures with their reasons", s.on(showJob), watchFlag()),
		usage.Unplanned(command("stop JOB-ID", "stop after the page that is under way",
			s.asked(about("Stop the job %s", "job_id"), "replay", "stop_job"))),
		usage.Unplanned(command("resume JOB-ID", "go on where it was", s.on(resumeJob))),
	)
}

// showJob shows a job, the states of its deliveries, and its failures.
func showJob(ctx context.Context, c call) error {
	if c.line.Bool("watch") {
		return watcher{c.stack, c.Screen}.watch(ctx, answers.Text(c.fields, "job_id"))
	}
	shown, err := stack.ReadJob(ctx, c.stack, c.fields, outcomeParts)
	if err != nil {
		return err
	}
	job, failures := shown.Job, answers.Rows(shown.Failures)
	if job["act"] == "replay" {
		job["outcome"] = shown.Outcome
	}
	if c.JSON {
		job["failures"] = answers.List(nil)
		if shown.Failures != nil {
			job["failures"] = shown.Failures
		}
		c.PrintJSON(job)
		return nil
	}
	c.Show(job)
	if len(failures) == 0 {
		return nil
	}
	c.Print("")
	c.Table(failures, "id", "result", "reason")
	for _, sentence := range stack.Advice(job) {
		c.Say("%s", sentence)
	}
	if shown.Failures["next_cursor"] != nil {
		c.Say("these are the first %d that it did not do", len(failures))
	}
	return nil
}

// goingOn are the questions before a job goes on, by its act.
var goingOn = map[any]string{
	"replay":  "Go on with the job %s: replay %.0f more dead letters",
	"purge":   "Go on with the job %s: delete %.0f more dead letters for good",
	"publish": "Go on with the job %s: publish %.0f more events again",
}

// resumeJob asks the function, and its alias for a job that deletes for good. A question tells what the job does, which
// its id does not.
func resumeJob(ctx context.Context, c call) error {
	question := "Go on with the job " + answers.Safe(answers.Text(c.fields, "job_id"))
	if !c.Yes {
		j, err := c.stack.Ask(ctx, "inspect", "job", answers.Row{"job_id": c.fields["job_id"]})
		if err != nil {
			return err
		}
		if does := goingOn[j["act"]]; does != "" {
			question = fmt.Sprintf(does, answers.Safe(answers.Text(c.fields, "job_id")), answers.Number(j, "left"))
		}
	}
	if err := c.confirm(question); err != nil {
		return err
	}
	answer, err := stack.Resume(ctx, c.stack, c.fields)
	if err == nil {
		c.One(answer)
	}
	return err
}
