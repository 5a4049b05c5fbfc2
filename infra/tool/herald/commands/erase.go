package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// erasure is the result of requests that erase, or count.
type erasure struct {
	counts answers.Row // by kind
	place  string      // where one failed, its cursor, "" for the first
}

func eraseTenant(ctx context.Context, c call) error {
	tenant, request := answers.Text(c.fields, "tenant_id"), maps.Clone(c.fields)
	if c.dryRun() {
		request["dry_run"] = true
		would, err := eraseAll(ctx, c, request)
		if err == nil {
			c.One(would.counts)
		}
		return err
	}
	if err := confirmErasure(ctx, c, tenant); err != nil {
		return err
	}
	request["confirm"] = tenant
	done, err := eraseAll(ctx, c, request)
	var refused *client.Refusal
	if err != nil && (len(done.counts) == 0 || errors.As(err, &refused)) {
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
			answers.Safe(tenant), err)
	}
	c.Say("messages on other queues end by themselves, and may leave a record or dead letter: erase again in 14 days")
	return nil
}

// confirmErasure shows the counts, and has the tenant's id typed. An erasure that goes on from a place was
// counted before.
func confirmErasure(ctx context.Context, c call, tenant string) error {
	if !c.CanAsk() {
		return c.confirm("Erase the tenant " + answers.Safe(tenant))
	}
	if answers.Text(c.fields, "cursor") == "" {
		would, err := eraseAll(ctx, c, answers.Row{"tenant_id": tenant, "dry_run": true})
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
		f := answers.Row{"tenant_id": tenant, "limit": stack.MaxPage}
		found, err := functions.Ask(ctx, "inspect", "rejected_events", f)
		if err != nil {
			return discarded, err
		}
		var ids []string
		for _, r := range answers.Rows(found) {
			ids = append(ids, answers.Text(r, "message_id"))
		}
		if note := answers.Text(found, "note"); len(ids) == 0 && note != "" {
			return discarded, errors.New(answers.Safe(note))
		}
		if len(ids) == 0 {
			return discarded, nil
		}
		gone, err := functions.Ask(ctx, stack.Deleting, "discard_rejected_events",
			answers.Row{"message_ids": ids, "confirm": true})
		if err != nil {
			return discarded, err
		}
		for _, r := range answers.Rows(gone) {
			if result := answers.Text(r, "result"); result != "discarded" {
				why := cmp.Or(answers.Text(r, "reason"), result)
				return discarded, fmt.Errorf("event %s: %s", answers.Safe(answers.Text(r, "message_id")), answers.Safe(why))
			}
			discarded++
		}
	}
}

// eraseAll makes requests until nothing is left, and adds up their counts, even if one fails.
func eraseAll(ctx context.Context, c call, request answers.Row) (erasure, error) {
	counts, f := answers.Row{}, maps.Clone(request)
	function := stack.Deleting
	if f["dry_run"] == true {
		function = "replay"
	}
	for {
		part, err := c.stack.Ask(ctx, function, "erase", f)
		if err != nil {
			return erasure{counts, answers.Text(f, "cursor")}, err
		}
		more, _ := part["counts"].(answers.Row)
		for kind := range more {
			counts[kind] = answers.Number(counts, kind) + answers.Number(more, kind)
		}
		f["cursor"] = part["next_cursor"]
		if f["cursor"] == nil {
			return erasure{counts: counts}, nil
		}
		c.Say("so far: %s", some(counts))
	}
}

// some are the counts that are not zero.
func some(counts answers.Row) string {
	there := maps.Clone(counts)
	maps.DeleteFunc(there, func(_ string, n any) bool { return n == 0.0 })
	return cmp.Or(answers.Reasons(there), "nothing")
}
