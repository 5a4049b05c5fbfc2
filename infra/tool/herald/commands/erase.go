package commands

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// erasure is the result of requests that erase, or count.
type erasure struct {
	counts map[string]int // by kind
	place  string         // where one failed, its cursor, "" for the first
}

func eraseTenant(ctx context.Context, c call) error {
	tenant := c.fields.TenantID
	request := api.EraseRequest{TenantID: tenant, Reason: c.fields.Reason, Cursor: c.fields.Cursor}
	if c.dryRun() {
		request.DryRun = true
		would, err := eraseAll(ctx, c, request)
		if err == nil {
			c.One(would.counts)
		}
		return err
	}
	if err := confirmErasure(ctx, c, tenant); err != nil {
		return err
	}
	if err := discardRejected(ctx, c, tenant); err != nil {
		return fmt.Errorf("discarding its rejected events, before anything else of it: %w", err)
	}
	request.Confirm = tenant
	done, err := eraseAll(ctx, c, request)
	_, refused := errors.AsType[*api.Refusal](err)
	if err != nil && (len(done.counts) == 0 || refused) {
		return err
	}
	c.One(done.counts)
	if err != nil {
		return exit.With(exit.Unhealthy, "erased in part, run it again with --cursor %s: %v",
			answers.Safe(done.place), err)
	}
	c.Say("messages on other queues end by themselves, and may leave a record or dead letter: erase again in 14 days")
	return nil
}

// confirmErasure shows the counts, and has the tenant's id typed. An erasure that continues from a cursor was counted
// before.
func confirmErasure(ctx context.Context, c call, tenant string) error {
	if !c.CanAsk() {
		return c.confirm("Erase the tenant " + answers.Safe(tenant))
	}
	if c.fields.Cursor == "" {
		would, err := eraseAll(ctx, c, api.EraseRequest{TenantID: tenant, DryRun: true})
		if err != nil {
			return err
		}
		c.Say("stored of %s in %s: %s", answers.Safe(tenant), c.stack.Place(), some(would.counts))
	}
	if c.Prompt("This cannot be undone. Type the tenant's id to erase it: ") != tenant {
		return exit.With(exit.Failed, "nothing was done")
	}
	return nil
}

// discardRejected discards the rejected events that name the tenant, as a job, and waits for its end. The erasure that
// follows erases that job as well.
func discardRejected(ctx context.Context, c call, tenant string) error {
	request := api.StartJobRequest{
		Selector: api.Selector{TenantID: tenant}, Act: job.Discard, Token: rand.Text(), DryRun: true,
	}
	would, err := stack.Ask(ctx, c.stack, api.StartJob, request)
	if err != nil || would.Fields.Selected == 0 && would.Fields.Complete {
		return err
	}
	request.DryRun, request.Confirm = false, true
	request.Until = would.Fields.Until
	started, err := stack.Ask(ctx, c.stack, api.StartJob.ForGood(), request)
	if err != nil {
		return err
	}
	if started.Fields.Job == nil {
		return exit.With(exit.Failed, "the job was not started; ask again")
	}
	follows := watcher{c}
	follows.JSON = false // the counts of the erasure are the answer
	id := started.Fields.Job.JobID
	if err := follows.watch(ctx, id); err != nil {
		return err
	}
	ended, err := stack.Ask(ctx, c.stack, api.GetJob, api.JobRequest{JobID: id})
	if err == nil && ended.Fields.State != job.Done {
		err = exit.With(exit.Unhealthy, "the job %s goes on: erase again when it is done", answers.Safe(id))
	}
	return err
}

// eraseAll makes requests until nothing is left, and adds up their counts, even if one fails.
func eraseAll(ctx context.Context, c call, request api.EraseRequest) (erasure, error) {
	counts, action := map[string]int{}, api.EraseTenant
	if request.DryRun {
		action.Function = api.Replay // that is no right to delete
	}
	for {
		part, err := stack.Ask(ctx, c.stack, action, request)
		if err != nil {
			return erasure{counts, request.Cursor}, err
		}
		for kind, n := range part.Fields.Counts {
			counts[kind] += n
		}
		if part.Fields.NextCursor == nil {
			return erasure{counts: counts}, nil
		}
		request.Cursor = *part.Fields.NextCursor
		c.Say("so far: %s", some(counts))
	}
}

// some are the counts that are not zero.
func some(counts map[string]int) string {
	there := maps.Clone(counts)
	maps.DeleteFunc(there, func(_ string, n int) bool { return n == 0 })
	return cmp.Or(answers.Reasons(there), "nothing")
}
