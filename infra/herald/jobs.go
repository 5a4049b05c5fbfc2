package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"
)

// survey is the answer about what a job would do or does.
type survey struct {
	Selected int            `json:"selected"`
	Ready    int            `json:"ready"`
	Refused  map[string]int `json:"refused"`
	Complete bool           `json:"complete"`
	Until    string         `json:"until"`
	Job      *job           `json:"job"`
}

// job is a job's progress.
type job struct {
	ID       string         `json:"job_id"`
	Act      string         `json:"act"`
	State    string         `json:"state"`
	Selected int            `json:"selected"`
	Done     int            `json:"done"`
	Left     int            `json:"left"`
	Refused  map[string]int `json:"refused"`
	Failed   map[string]int `json:"failed"`
}

// reasons writes counts by reason, the largest first.
func reasons(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if n := counts[b] - counts[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	for n, name := range names {
		names[n] = fmt.Sprintf("%d %s", counts[name], safe(name))
	}
	return strings.Join(names, ", ")
}

// start counts what a job would do, asks, and starts it. The token makes a request that is repeated start no
// second job.
func (a *app) start(ctx context.Context, c *cli.Command, s stack, b bulk, f fields) error {
	f["act"], f["token"], f["dry_run"] = b.act, rand.Text(), true
	would, err := a.count(ctx, c, s, f)
	if err != nil || c.Bool("dry-run") {
		return err
	}
	if would.Ready == 0 && would.Complete {
		return fail(exitFailed, "nothing to do")
	}
	if err := a.confirm(c, fmt.Sprintf(b.question, would.Ready)); err != nil {
		return err
	}
	delete(f, "dry_run")
	f["until"] = would.Until // what was counted, and nothing that died since
	if b.confirm {
		f["confirm"] = true
	}
	var started survey
	raw, err := s.ask(ctx, "replay", "start_job", f, &started)
	if err != nil {
		return err
	}
	if started.Job == nil {
		return fail(exitFailed, "the job was not started; ask again")
	}
	if !c.Bool("watch") {
		a.say("started; see herald jobs show %s, or herald jobs show --watch %[1]s", started.Job.ID)
		if isJSON(c) {
			return a.printJSON(raw)
		}
		return a.print(started.Job.ID)
	}
	return a.watch(ctx, c, s, started.Job.ID)
}

// count says what a job would do.
func (a *app) count(ctx context.Context, c *cli.Command, s stack, f fields) (would survey, err error) {
	raw, err := s.ask(ctx, "replay", "start_job", f, &would)
	if err != nil {
		return survey{}, err
	}
	a.say("%d selected, %d can be done", would.Selected, would.Ready)
	if refused := reasons(would.Refused); refused != "" {
		a.say("cannot be done: %s", refused)
	}
	if !would.Complete {
		a.say("and more: there was no time to count all")
	}
	if c.Bool("dry-run") && isJSON(c) {
		err = a.printJSON(raw)
	}
	return would, err
}

// pollEvery is the time between two looks at a job.
const pollEvery = 2 * time.Second

// watch follows a job until it is done or stopped.
func (a *app) watch(ctx context.Context, c *cli.Command, s stack, id string) error {
	for last := ""; ; {
		var j job
		raw, err := s.ask(ctx, "inspect", "job", fields{"job_id": id}, &j)
		if err != nil {
			return err
		}
		if line := j.progress(); line != last {
			a.say("%s", line)
			last = line
		}
		if j.State != "running" {
			if isJSON(c) {
				err = a.printJSON(raw)
			} else if j.Act == "replay" {
				err = a.sayOutcome(ctx, s, id)
			}
			if err == nil && (j.State != "done" || len(j.Refused)+len(j.Failed) > 0) {
				return &failure{code: exitUnhealthy, text: "not all were done: herald jobs show " + id}
			}
			return err
		}
		select {
		case <-ctx.Done():
			a.say("the job goes on by itself; to stop it: herald jobs stop %s", id)
			return nil
		case <-time.After(pollEvery):
		}
	}
}

// progress is a bar of twenty steps, which is a line of text everywhere.
func (j job) progress() string {
	const steps = 20
	filled := steps
	if j.Selected > 0 {
		filled = min(steps, steps*(j.Selected-j.Left)/j.Selected)
	}
	bar := strings.Repeat("#", filled) + strings.Repeat(".", steps-filled)
	line := fmt.Sprintf("[%s] %s: %d of %d done", bar, j.State, j.Done, j.Selected)
	for _, counts := range []struct {
		word string
		of   map[string]int
	}{{"refused", j.Refused}, {"failed", j.Failed}} {
		if text := reasons(counts.of); text != "" {
			line += "; " + counts.word + ": " + text
		}
	}
	return line
}

func (a *app) jobs() *cli.Command {
	byID := func(name, usage, function, action string) *cli.Command {
		do := func(ctx context.Context, c *cli.Command) error {
			id, err := argument(c, "JOB-ID")
			if err != nil {
				return err
			}
			return a.one(ctx, c, function, action, fields{"job_id": id})
		}
		return &cli.Command{Name: name, Usage: usage, ArgsUsage: "JOB-ID", Action: do}
	}
	return &cli.Command{Name: "jobs", Usage: "acts on many dead letters or rejected events", Commands: []*cli.Command{
		{
			Name: "list", Usage: "those stopped, then those running, then those done, each newest first",
			Flags: []cli.Flag{text("state", "running, stopped or done"), limit(20)},
			Action: func(ctx context.Context, c *cli.Command) error {
				return a.list(ctx, c, "inspect", "jobs", fields{"state": c.String("state")},
					"job_id", "act", "state", "selected", "done", "left", "operator", "started_at")
			},
		},
		{
			Name: "show", Usage: "progress, outcome and failures with their reasons", ArgsUsage: "JOB-ID",
			Flags: []cli.Flag{watchFlag()},
			Action: func(ctx context.Context, c *cli.Command) error {
				id, err := argument(c, "JOB-ID")
				if err != nil {
					return err
				}
				s, err := a.stack(ctx, c)
				if err != nil {
					return err
				}
				if c.Bool("watch") {
					return a.watch(ctx, c, s, id)
				}
				return a.showJob(ctx, c, s, id)
			},
		},
		byID("stop", "stop after the page that is under way", "replay", "stop_job"),
		byID("resume", "go on where it was", "replay", "resume_job"),
	}}
}
