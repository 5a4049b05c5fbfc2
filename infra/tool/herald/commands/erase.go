package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
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
	n, err := discardRejected(ctx, c.stack, tenant)
	c.Say("%d of its rejected events discarded", n)
	if err != nil {
		return exit.With(exit.Unhealthy, "erased in part, see herald rejected list --tenant %s: %v",
			quoted(tenant), err)
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

// discardRejected deletes the rejected events that name the tenant, page by page.
func discardRejected(
	ctx context.Context, functions stack.Functions, tenant string,
) (discarded int, err error) {
	for {
		of := api.RejectedRequest{TenantID: tenant, Limit: new(stack.MaxPage)}
		found, err := stack.Ask(ctx, functions, api.ListRejected, of)
		if err != nil {
			return discarded, err
		}
		var ids []string
		for _, e := range found.Fields.Data {
			ids = append(ids, e.MessageID)
		}
		if note := found.Fields.Note; len(ids) == 0 && note != "" {
			return discarded, errors.New(answers.Safe(note))
		}
		if len(ids) == 0 {
			return discarded, nil
		}
		gone, err := discardIDs(ctx, functions, ids)
		if err != nil {
			return discarded, err
		}
		for _, r := range gone.rows {
			if r.result != api.ResultDiscarded {
				why := cmp.Or(r.reason, string(r.result))
				return discarded, fmt.Errorf("event %s: %s", answers.Safe(r.id), answers.Safe(why))
			}
			discarded++
		}
	}
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
