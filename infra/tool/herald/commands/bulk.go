package commands

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// bulk is an act on many dead letters or rejected events.
type bulk struct {
	act      string // of the job
	action   string // of replay that takes ids
	id       string // the field of one
	question string
	confirm  bool // the request has to say so
}

// through is the operator function that does the act.
func (b bulk) through() string {
	if b.confirm {
		return stack.Deleting
	}
	return "replay"
}

// bulk is an action on the ids of the arguments, or else a job on the selection of the flags.
func (s setup) bulk(b bulk) cli.ActionFunc {
	return func(ctx context.Context, line *cli.Command) error {
		fields, err := s.fields(line)
		if err == nil {
			err = refuseBoth(line, fields)
		}
		if err != nil {
			return err
		}
		found, err := s.connect(ctx, whereOf(line))
		if err != nil {
			return err
		}
		c := call{s.screen(line), found, fields, line}
		if ids := line.Args().Slice(); len(ids) > 0 {
			return b.byID(ctx, c, ids)
		}
		return b.bySelection(ctx, c)
	}
}

// refuseBoth refuses ids with flags that select, and neither of them.
func refuseBoth(line *cli.Command, selected answers.Row) error {
	ids := line.Args().Slice()
	switch {
	case len(ids) > 0 && len(selected) > 0:
		return exit.With(exit.Usage, "give either ids or flags that select, not both")
	case len(ids) == 0 && len(selected) == 0:
		return exit.With(exit.Usage, "say which: ids, or flags that select; see %s --help", line.FullName())
	case len(ids) > 0 && line.Bool("dry-run"):
		return exit.With(exit.Usage, "--dry-run is for flags that select: ids leave nothing to preview")
	}
	return nil
}

// byID acts on ids, and says which of them were not done.
func (b bulk) byID(ctx context.Context, c call, ids []string) error {
	if err := c.confirm(fmt.Sprintf(b.question, len(ids))); err != nil {
		return err
	}
	answer, err := c.stack.Ask(ctx, b.through(), b.action, answers.Row{b.id + "s": ids, "confirm": b.confirm})
	if err != nil {
		return err
	}
	results := answers.Rows(answer)
	c.Rows(answer, results, b.id, "result", "reason")
	done := []any{"replayed", "purged", "published", "discarded"}
	if slices.ContainsFunc(results, func(r answers.Row) bool { return !slices.Contains(done, r["result"]) }) {
		return exit.Quietly(exit.Unhealthy)
	}
	return nil
}

// bySelection starts a job on the selection of the flags. An endpoint that they name is looked up.
func (b bulk) bySelection(ctx context.Context, c call) error {
	if name := answers.Text(c.fields, "endpoint_id"); name != "" && !strings.HasPrefix(name, endpoint.IDPrefix) {
		found, err := findTarget(ctx, c.stack, c.fields)
		if err != nil {
			return refusedFlag(c.line, err)
		}
		maps.Copy(c.fields, found.fields)
	}
	if b.act != "publish" {
		stack.OrDead(c.fields)
	}
	return b.start(ctx, c)
}

// start counts a job's selection, asks, and starts it. The token makes a request that is repeated start no second
// job.
func (b bulk) start(ctx context.Context, c call) error {
	job := answers.Row{"act": b.act, "token": rand.Text(), "dry_run": true}
	maps.Copy(job, c.fields)
	would, err := preview(ctx, c, job)
	if err != nil {
		return err
	}
	b.sayCount(ctx, c, would)
	ready := int(answers.Number(would, "ready"))
	idle := ready == 0 && would["complete"] == true
	switch {
	case c.dryRun(), idle && answers.Number(would, "selected") == 0:
		if c.JSON {
			c.PrintJSON(would)
		}
		return nil
	case idle:
		return exit.With(exit.Failed, "nothing of it can be done")
	}
	if err := c.confirm(b.asks(ready, would["complete"] == true)); err != nil {
		return err
	}
	job["dry_run"], job["confirm"] = false, b.confirm
	job["until"] = would["until"] // the same selection, without later deaths
	started, err := c.stack.Ask(ctx, b.through(), "start_job", job)
	if err != nil {
		return err
	}
	return showStarted(ctx, c, started)
}

// asks is the question about so many, and about more where there was no time to count all.
func (b bulk) asks(ready int, complete bool) string {
	question := fmt.Sprintf(b.question, ready)
	if complete {
		return question
	}
	return strings.Replace(question, strconv.Itoa(ready), "more than "+strconv.Itoa(ready), 1)
}

// showStarted shows a job that was started, or watches it.
func showStarted(ctx context.Context, c call, started answers.Row) error {
	id, ok := answers.At(started, "job.job_id").(string)
	switch {
	case !ok:
		return exit.With(exit.Failed, "the job was not started; ask again")
	case c.line.Bool("watch"):
		return watcher{c.stack, c.Screen}.watch(ctx, id)
	}
	c.Say("started; see herald jobs show %s, or herald jobs show --watch %[1]s", answers.Safe(id))
	if c.JSON {
		c.PrintJSON(started)
	} else {
		c.Print(answers.Safe(id))
	}
	return nil
}

// preview asks for a preview of the job on the selection of a call.
func preview(ctx context.Context, c call, job answers.Row) (answers.Row, error) {
	would, err := c.stack.Ask(ctx, "replay", "start_job", job)
	if err == nil && answers.Number(would, "selected") == 0 && would["complete"] == true {
		err = missing(ctx, c)
	}
	return would, err
}

// sayCount tells the plan of a job on the selection.
func (b bulk) sayCount(ctx context.Context, c call, would answers.Row) {
	if b.act != "publish" && answers.Number(would, "selected") > 0 {
		b.sayCauses(ctx, c)
	}
	for _, field := range []string{"since", "until"} {
		if at := answers.Text(c.fields, field); at != "" {
			c.Say("%s %s", field, at)
		}
	}
	c.Say("%.0f selected, %.0f can be done", answers.Number(would, "selected"), answers.Number(would, "ready"))
	if refused := answers.Reasons(would["refused"]); refused != "" {
		c.Say("cannot be done: %s", answers.Safe(refused))
	}
	if would["complete"] != true {
		c.Say("and more: there was no time to count all")
	}
}

// sayCauses shows the selection of a job by endpoint.
func (b bulk) sayCauses(ctx context.Context, c call) {
	answer, err := c.stack.Ask(ctx, "inspect", "causes", c.fields)
	if err != nil {
		c.Say("what is selected cannot be shown by endpoint: %s", answers.Safe(err.Error()))
		return
	}
	columns := []string{"tenant_id", "endpoint", "state", "reason", "dead=count"}
	causes, held := answers.Rows(answer), false
	for _, cause := range causes {
		cause["endpoint"] = cause["description"]
		if answers.Text(cause, "description") == "" {
			cause["endpoint"] = cause["host"]
		}
		if b.act == "replay" && slices.Contains([]any{"open", "paused"}, cause["state"]) {
			cause["then"], held = "held until the endpoint is back", true
		}
	}
	if held {
		columns = append(columns, "then")
	}
	if len(causes) > 0 {
		c.TableTo(c.Err, causes, columns...)
	}
}
