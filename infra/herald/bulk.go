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

// bulk acts on the ids of the arguments, or starts a job on the flags' selection.
func (a *app) bulk(b bulk) cli.ActionFunc {
	return func(ctx context.Context, c *cli.Command) error {
		f, err := a.flags(c)
		switch ids := c.Args().Slice(); {
		case err != nil:
			return err
		case len(ids) > 0 && len(f) > 0:
			return fail(exitUsage, "give either ids or flags that select, not both")
		case len(ids) > 0:
			return a.on(func(ctx context.Context, c *cli.Command, s stack) error {
				return a.byID(ctx, c, s, b, ids)
			})(ctx, c)
		case len(f) == 0:
			return fail(exitUsage, "say which: ids, or flags that select; see %s --help", c.FullName())
		}
		return a.on(func(ctx context.Context, c *cli.Command, s stack) error {
			return a.bySelection(ctx, c, s, b, f)
		})(ctx, c)
	}
}

// bySelection starts a job.
func (a *app) bySelection(ctx context.Context, c *cli.Command, s stack, b bulk, f fields) error {
	if name := cellOf(f, "endpoint_id"); name != "" && !strings.HasPrefix(name, endpoint.IDPrefix) {
		if _, err := s.named(ctx, f); err != nil {
			return err
		}
	}
	if b.act != "publish" {
		orDead(f)
	}
	return a.start(ctx, c, s, b, f)
}

// byID acts on ids, and says which of them were not done.
func (a *app) byID(ctx context.Context, c *cli.Command, s stack, b bulk, ids []string) error {
	if c.Bool("dry-run") {
		return fail(exitUsage, "--dry-run is for flags that select: ids leave nothing to preview")
	}
	if err := a.confirm(c, fmt.Sprintf(b.question, len(ids))); err != nil {
		return err
	}
	f := fields{b.id + "s": ids}
	if b.confirm {
		f["confirm"] = true
	}
	var results page
	raw, err := s.ask(ctx, "replay", b.action, f, &results)
	if err != nil {
		return err
	}
	if isJSON(c) {
		err = a.printJSON(raw)
	} else {
		err = a.table(results.Data, b.id, "result", "reason")
	}
	done := []any{"replayed", "purged", "published", "discarded"}
	if err == nil && slices.ContainsFunc(results.Data, func(r row) bool { return !slices.Contains(done, r["result"]) }) {
		return &failure{code: exitUnhealthy}
	}
	return err
}

// survey is the answer about a job, started or not.
type survey struct {
	Selected int    `json:"selected"`
	Ready    int    `json:"ready"`
	Refused  row    `json:"refused"`
	Complete bool   `json:"complete"`
	Until    string `json:"until"`
	Job      row    `json:"job"`
}

// start counts a job's selection, asks, and starts it. The token makes a request that is repeated start no second
// job.
func (a *app) start(ctx context.Context, c *cli.Command, s stack, b bulk, f fields) error {
	f["act"], f["token"], f["dry_run"] = b.act, rand.Text(), true
	would, err := a.count(ctx, c, s, b, f)
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
	f["until"] = would.Until // the same selection, without later deaths
	if b.confirm {
		f["confirm"] = true
	}
	var started survey
	raw, err := s.ask(ctx, "replay", "start_job", f, &started)
	if err != nil {
		return err
	}
	id := cellOf(started.Job, "job_id")
	switch {
	case id == "":
		return fail(exitFailed, "the job was not started; ask again")
	case c.Bool("watch"):
		return a.watch(ctx, c, s, id)
	}
	a.say("started; see herald jobs show %s, or herald jobs show --watch %[1]s", id)
	if isJSON(c) {
		return a.printJSON(raw)
	}
	return a.print(id)
}

// count previews a job.
func (a *app) count(ctx context.Context, c *cli.Command, s stack, b bulk, f fields) (would survey, err error) {
	raw, err := s.ask(ctx, "replay", "start_job", f, &would)
	if err != nil {
		return survey{}, err
	}
	if b.act != "publish" && would.Selected > 0 {
		a.sayCauses(ctx, s, b, f)
	}
	for _, field := range []string{"since", "until"} {
		if at := cellOf(f, field); at != "" {
			a.say("%s %s", field, at)
		}
	}
	a.say("%d selected, %d can be done", would.Selected, would.Ready)
	if refused := console.Reasons(would.Refused); refused != "" {
		a.say("cannot be done: %s", safe(refused))
	}
	if !would.Complete {
		a.say("and more: there was no time to count all")
	}
	if c.Bool("dry-run") && isJSON(c) {
		err = a.printJSON(raw)
	}
	return would, err
}

// sayCauses shows by endpoint what a job is about.
func (a *app) sayCauses(ctx context.Context, s stack, b bulk, f fields) {
	selected, causes := maps.Clone(f), page{}
	for _, own := range []string{"act", "token", "dry_run"} {
		delete(selected, own)
	}
	if _, err := s.ask(ctx, "inspect", "causes", selected, &causes); err != nil {
		a.say("what is selected cannot be shown by endpoint: %s", safe(err.Error()))
		return
	}
	columns := []string{"tenant_id", "endpoint", "state", "reason", "dead=count"}
	held := false
	for _, cause := range causes.Data {
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
	if len(causes.Data) > 0 {
		_ = a.tableTo(a.err, causes.Data, columns...) // as a.say
	}
}
