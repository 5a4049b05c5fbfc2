package commands

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// bulk is an act on many dead letters or rejected events.
type bulk struct {
	act      job.Act // of its job
	byIDs    func(context.Context, stack.Functions, []string) (results, error)
	id       string // the heading of ids
	question string
	forGood  bool // it deletes
}

// results has what became of each id that was acted on, and the answer that says so.
type results struct {
	json jsontext.Value
	rows []result
}

// result is what became of one id.
type result struct {
	id     string
	result api.Result
	reason string
}

// done reports whether the act was done.
func (r result) done() bool {
	return slices.Contains([]api.Result{api.ResultReplayed, api.ResultPurged, api.ResultDiscarded}, r.result)
}

// starts is the action that starts the job.
func (b bulk) starts() api.Action[api.StartJobRequest, api.Survey] {
	if b.forGood {
		return api.StartJob.ForGood()
	}
	return api.StartJob
}

// bulk is an action on the ids of the arguments, or else a job on the selection of the flags.
func (s setup) bulk(b bulk) cli.ActionFunc {
	return func(ctx context.Context, line *cli.Command) error {
		fields, err := s.fields(line)
		if err == nil {
			err = refuseBoth(line, fields.Selector())
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
			return b.onIDs(ctx, c, ids)
		}
		return b.onSelection(ctx, c)
	}
}

// refuseBoth refuses ids with flags that select, and neither of them.
func refuseBoth(line *cli.Command, selected api.Selector) error {
	ids := line.Args().Slice()
	switch selects := selected != (api.Selector{}); {
	case len(ids) > 0 && selects:
		return exit.With(exit.Usage, "give either ids or flags that select, not both")
	case len(ids) == 0 && !selects:
		return exit.With(exit.Usage, "say which: ids, or flags that select; see %s --help", line.FullName())
	case len(ids) > 0 && line.Bool("dry-run"):
		return exit.With(exit.Usage, "--dry-run is for flags that select: ids leave nothing to preview")
	}
	return nil
}

// onIDs acts on ids, and says which of them were not done.
func (b bulk) onIDs(ctx context.Context, c call, ids []string) error {
	if err := c.confirm(fmt.Sprintf(b.question, len(ids))); err != nil {
		return err
	}
	got, err := b.byIDs(ctx, c.stack, ids)
	if err != nil {
		return err
	}
	terminal.Rows(c.Screen, got.json, got.rows, []terminal.Column[result]{
		{Head: b.id, Of: func(r result) any { return r.id }},
		{Head: "result", Of: func(r result) any { return r.result }},
		{Head: "reason", Of: func(r result) any { return r.reason }},
	})
	if slices.ContainsFunc(got.rows, func(r result) bool { return !r.done() }) {
		return exit.Quietly(exit.Unhealthy)
	}
	return nil
}

// onSelection starts a job on the selection of the flags. An endpoint that they name is looked up.
func (b bulk) onSelection(ctx context.Context, c call) error {
	found, err := usage.Resolve(ctx, c.stack, c.fields.Selector())
	if err != nil {
		return refusedFlag(c.line, err)
	}
	c.fields.EndpointID, c.fields.TenantID = found.EndpointID, found.TenantID
	if !b.act.OnEvents() {
		c.fields.Status = stack.OrDead(c.fields.Selector()).Status
	}
	return b.start(ctx, c)
}

// start counts a job's selection, asks, and starts it. The token makes a request that is repeated start no second
// job.
func (b bulk) start(ctx context.Context, c call) error {
	request := api.StartJobRequest{Selector: c.fields.Selector(), Act: b.act, Token: rand.Text(), DryRun: true}
	answer, err := stack.Ask(ctx, c.stack, api.StartJob, request)
	would := answer.Fields
	if err == nil && would.Selected == 0 && would.Complete {
		err = missing(ctx, c)
	}
	if err != nil {
		return err
	}
	b.sayCount(ctx, c, would)
	switch idle := would.Ready == 0 && would.Complete; {
	case c.dryRun(), idle && would.Selected == 0:
		if c.JSON {
			c.PrintJSON(answer.JSON)
		}
		return nil
	case idle:
		return exit.With(exit.Failed, "none of this can be done")
	}
	if err := b.confirm(c, would); err != nil {
		return err
	}
	request.DryRun, request.Confirm = false, b.forGood
	request.Until = would.Until // the same selection, without later deaths
	started, err := stack.Ask(ctx, c.stack, b.starts(), request)
	if err != nil {
		return err
	}
	return showStarted(ctx, c, started)
}

// confirm asks. Of what deletes, the number has to be typed.
func (b bulk) confirm(c call, would api.Survey) error {
	if b.forGood {
		return c.confirmNumber(b.asks(would), would.Ready)
	}
	return c.confirm(b.asks(would))
}

// asks is the question about those that can be done, and about more where there was no time to count all.
func (b bulk) asks(would api.Survey) string {
	question := fmt.Sprintf(b.question, would.Ready)
	if would.Complete {
		return question
	}
	number := strconv.Itoa(would.Ready)
	return strings.Replace(question, number, "more than "+number, 1)
}

// showStarted shows a job that was started, or watches it.
func showStarted(ctx context.Context, c call, started answers.Answer[api.Survey]) error {
	if started.Fields.Job == nil || started.Fields.Job.JobID == "" {
		return exit.With(exit.Failed, "the job was not started; ask again")
	}
	id := started.Fields.Job.JobID
	if c.line.Bool("watch") {
		return watcher{c}.watch(ctx, id)
	}
	c.sayNext("started; to follow it:", "jobs show --watch "+argument(id))
	if c.JSON {
		c.PrintJSON(started.JSON)
	} else {
		c.Print(answers.Safe(id))
	}
	return nil
}

// sayCount tells the plan of a job on the selection.
func (b bulk) sayCount(ctx context.Context, c call, would api.Survey) {
	if !b.act.OnEvents() && would.Selected > 0 {
		b.sayCauses(ctx, c)
	}
	fixed := c.fields
	if !would.Until.IsZero() { // later ones are not selected, even if none was asked for
		fixed.Until = would.Until
	}
	c.sayTimes(fixed)
	c.Say("%d selected, %d can be done", would.Selected, would.Ready)
	if refused := answers.Reasons(would.Refused); refused != "" {
		c.Say("cannot be done: %s", answers.Safe(refused))
	}
	if !would.Complete {
		c.Say("and more: there was no time to count them all")
	}
}

// sayCauses shows the selection of a job by endpoint.
func (b bulk) sayCauses(ctx context.Context, c call) {
	answer, err := stack.Ask(ctx, c.stack, api.ListCauses, c.fields.Selector())
	if err != nil {
		c.Say("what is selected cannot be shown by endpoint: %s", answers.Safe(err.Error()))
		return
	}
	causes, columns := answer.Fields.Data, selectionColumns
	waits := func(cause api.Cause) bool {
		return b.act == job.Replay && (cause.State == api.StateOpen || cause.State == api.StatePaused)
	}
	if slices.ContainsFunc(causes, waits) {
		columns = append(slices.Clone(columns), terminal.Column[api.Cause]{Head: "then", Of: func(c api.Cause) any {
			if waits(c) {
				return "held until the endpoint is back"
			}
			return nil
		}})
	}
	if len(causes) > 0 {
		terminal.TableTo(c.Terminal, c.Err, causes, columns)
	}
}
