package commands

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

func jobCommands(s setup) *cli.Command {
	stops := func(f usage.Fields) string { return about("Stop the job %s", f.JobID) }
	return group("jobs", "acts on many dead letters or rejected events",
		command("list", "stopped, then running, then finished jobs, each newest first",
			list(s, api.ListJobs, jobsOf, jobColumns),
			usage.Text("state", inWords(job.Running, job.Stopped, job.Done)), limitFlag(20)),
		command("show JOB-ID", "progress, outcome and failures with their reasons", s.on(showJob), watchFlag()),
		usage.Unplanned(command("stop JOB-ID", "stop after the current page",
			asked(s, stops, api.StopJob, jobOf))),
		usage.Unplanned(command("resume JOB-ID", "continue where it stopped", s.on(resumeJob))),
	)
}

func jobsOf(f usage.Fields, page api.Page) api.JobsRequest {
	return api.JobsRequest{Page: page, State: job.State(f.State)}
}

func jobOf(f usage.Fields) api.JobRequest { return api.JobRequest{JobID: f.JobID} }

// shownJob is a job as it came, with the states of its deliveries.
type shownJob struct {
	Job     jsontext.Value `json:",embed"`
	Outcome *stack.Outcome `json:"outcome,omitzero"`
}

// showJob shows a job, the states of its deliveries, and its failures.
func showJob(ctx context.Context, c call) error {
	if c.line.Bool("watch") {
		return watcher{c}.watch(ctx, c.fields.JobID)
	}
	j, err := stack.ReadJob(ctx, c.stack, c.fields.JobID, "", outcomeParts)
	if err != nil {
		return err
	}
	shown := shownJob{j.JSON, j.Outcome}
	if c.JSON {
		c.printJob(shown, j.Failures)
		return nil
	}
	e, err := stack.EndpointOf(ctx, c.stack, j.Fields.Selector.TenantID, j.Fields.Selector.EndpointID)
	if err != nil {
		return err
	}
	c.showPage(c.site().JobPage(j, e))
	if j.Failures != nil && j.Failures.NextCursor != nil {
		c.Say("these are the first %d that it could not do", len(j.Failures.Data))
	}
	return nil
}

// printJob prints a job with its failures, an empty list where there are none.
func (c call) printJob(shown shownJob, failures *answers.List[api.JobFailure]) {
	var all any = api.List[api.JobFailure]{}
	if failures != nil {
		all = failures.JSON
	}
	c.PrintJSON(struct {
		shownJob `json:",embed"`

		Failures any `json:"failures"`
	}{shown, all})
}

// goingOn are the questions before a job goes on, by its act.
var goingOn = map[job.Act]string{
	job.Replay:  "Resume the job %s: replay %d more dead letters",
	job.Purge:   "Resume the job %s: delete %d more dead letters for good",
	job.Publish: "Resume the job %s: publish %d more events again",
	job.Discard: "Resume the job %s: delete %d more events for good",
}

// resumeJob asks the function, and its alias for a job that deletes for good. A question tells what the job does, which
// its id does not.
func resumeJob(ctx context.Context, c call) error {
	id := answers.Safe(c.fields.JobID)
	question := "Resume the job " + id
	if !c.Yes {
		j, err := stack.Ask(ctx, c.stack, api.GetJob, jobOf(c.fields))
		if err != nil {
			return err
		}
		if does := goingOn[j.Fields.Act]; does != "" {
			question = fmt.Sprintf(does, id, j.Fields.Left)
		}
	}
	if err := c.confirm(question); err != nil {
		return err
	}
	changed, err := stack.Resume(ctx, c.stack, c.fields.JobID)
	if err == nil {
		c.One(changed.JSON)
	}
	return err
}
