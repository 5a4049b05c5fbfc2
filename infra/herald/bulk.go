package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// bulk is an act on many dead letters or rejected events.
type bulk struct {
	act      string // of the job
	action   string // of replay that takes ids
	id       string // the field of one
	question string
	confirm  bool // the request has to say so
}

// deleting is the operator function that deletes for good.
const deleting = console.Deleting

// function is the operator function that does the act.
func (b bulk) function() string {
	if b.confirm {
		return deleting
	}
	return "replay"
}

// bulk acts on the ids of the arguments, or starts a job on the flags' selection.
func (a *app) bulk(b bulk) cli.ActionFunc {
	return func(ctx context.Context, c *cli.Command) error {
		ids, f, err := a.chosen(c)
		if err != nil {
			return err
		}
		s, err := a.connect(ctx, c)
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			return a.byID(ctx, c, s, b, ids)
		}
		if name := cellOf(f, "endpoint_id"); name != "" && !strings.HasPrefix(name, endpoint.IDPrefix) {
			if _, err := s.named(ctx, f); err != nil {
				return refusedFlag(c, err)
			}
		}
		if b.act != "publish" {
			console.OrDead(f)
		}
		return a.start(ctx, c, s, b, f)
	}
}

// chosen are the ids of the arguments, or what the flags select.
func (a *app) chosen(c *cli.Command) (ids []string, f fields, err error) {
	ids = c.Args().Slice()
	if f, err = a.fields(c); err != nil {
		return nil, nil, err
	}
	switch {
	case len(ids) > 0 && len(f) > 0:
		err = fail(exitUsage, "give either ids or flags that select, not both")
	case len(ids) == 0 && len(f) == 0:
		err = fail(exitUsage, "say which: ids, or flags that select; see %s --help", c.FullName())
	case len(ids) > 0 && c.Bool("dry-run"):
		err = fail(exitUsage, "--dry-run is for flags that select: ids leave nothing to preview")
	}
	return ids, f, err
}

// byID acts on ids, and says which of them were not done.
func (a *app) byID(ctx context.Context, c *cli.Command, s stack, b bulk, ids []string) error {
	if err := a.confirm(c, fmt.Sprintf(b.question, len(ids))); err != nil {
		return err
	}
	answer, err := s.Ask(ctx, b.function(), b.action, fields{b.id + "s": ids, "confirm": b.confirm})
	if err != nil {
		return err
	}
	results := console.Rows(answer)
	a.printRows(c, answer, results, b.id, "result", "reason")
	done := []any{"replayed", "purged", "published", "discarded"}
	if slices.ContainsFunc(results, func(r row) bool { return !slices.Contains(done, r["result"]) }) {
		return &failure{code: exitUnhealthy}
	}
	return nil
}

// start counts a job's selection, asks, and starts it. The token makes a request that is repeated start no second
// job.
func (a *app) start(ctx context.Context, c *cli.Command, s stack, b bulk, f fields) error {
	job := fields{"act": b.act, "token": rand.Text(), "dry_run": true}
	maps.Copy(job, f)
	would, err := a.count(ctx, c, s, job, f)
	if err != nil {
		return err
	}
	a.sayCount(ctx, s, b, f, would)
	ready := int(console.Number(would, "ready"))
	idle := ready == 0 && would["complete"] == true
	switch {
	case c.Bool("dry-run"), idle && console.Number(would, "selected") == 0:
		if isJSON(c) {
			a.printJSON(would)
		}
		return nil
	case idle:
		return fail(exitFailed, "nothing of it can be done")
	}
	if err := a.confirm(c, fmt.Sprintf(b.question, ready)); err != nil {
		return err
	}
	job["dry_run"], job["confirm"] = false, b.confirm
	job["until"] = would["until"] // the same selection, without later deaths
	started, err := s.Ask(ctx, b.function(), "start_job", job)
	if err != nil {
		return err
	}
	id, ok := console.At(started, "job.job_id").(string)
	switch {
	case !ok:
		return fail(exitFailed, "the job was not started; ask again")
	case c.Bool("watch"):
		return a.watch(ctx, c, s, id)
	}
	a.say("started; see herald jobs show %s, or herald jobs show --watch %[1]s", id)
	if isJSON(c) {
		a.printJSON(started)
	} else {
		a.print(id)
	}
	return nil
}

// count asks for a preview of the job on a selection.
func (a *app) count(ctx context.Context, c *cli.Command, s stack, job, selected fields) (row, error) {
	would, err := s.Ask(ctx, "replay", "start_job", job)
	if err == nil && console.Number(would, "selected") == 0 && would["complete"] == true {
		err = a.missing(ctx, c, s, selected)
	}
	return would, err
}

// sayCount says what a job on the selection would do.
func (a *app) sayCount(ctx context.Context, s stack, b bulk, f fields, would row) {
	if b.act != "publish" && console.Number(would, "selected") > 0 {
		a.sayCauses(ctx, s, b, f)
	}
	for _, field := range []string{"since", "until"} {
		if at := cellOf(f, field); at != "" {
			a.say("%s %s", field, at)
		}
	}
	a.say("%.0f selected, %.0f can be done", console.Number(would, "selected"), console.Number(would, "ready"))
	if refused := console.Reasons(would["refused"]); refused != "" {
		a.say("cannot be done: %s", safe(refused))
	}
	if would["complete"] != true {
		a.say("and more: there was no time to count all")
	}
}

// sayCauses shows by endpoint what a job is about.
func (a *app) sayCauses(ctx context.Context, s stack, b bulk, f fields) {
	answer, err := s.Ask(ctx, "inspect", "causes", f)
	if err != nil {
		a.say("what is selected cannot be shown by endpoint: %s", safe(err.Error()))
		return
	}
	columns := []string{"tenant_id", "endpoint", "state", "reason", "dead=count"}
	causes, held := console.Rows(answer), false
	for _, cause := range causes {
		if cause["endpoint"] = cause["description"]; cellOf(cause, "description") == "" {
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
		a.tableTo(a.err, causes, columns...)
	}
}
