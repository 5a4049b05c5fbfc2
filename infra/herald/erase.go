package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
	"github.com/herald-webhooks/herald/infra/internal/client"
)

func (a *app) eraseTenant(ctx context.Context, c *cli.Command, s stack, f fields) error {
	tenant := cellOf(f, "tenant_id")
	if c.Bool("dry-run") {
		f["dry_run"] = true
		counts, _, err := a.eraseAll(ctx, s, f)
		if err == nil {
			a.printOne(c, counts)
		}
		return err
	}
	if err := a.confirmErasure(ctx, c, s, tenant); err != nil {
		return err
	}
	f["confirm"] = tenant
	counts, place, err := a.eraseAll(ctx, s, f)
	var refused *client.Refusal
	if err != nil && (len(counts) == 0 || errors.As(err, &refused)) {
		return err
	}
	a.printOne(c, counts)
	if err != nil {
		return fail(exitUnhealthy, "erased in part, run it again with --cursor %s: %v", safe(place), err)
	}
	n, err := a.discardRejected(ctx, s, tenant)
	a.say("%d of its rejected events discarded", n)
	if err != nil {
		return fail(exitUnhealthy, "erased in part, see herald rejected list --tenant %s: %v", safe(tenant), err)
	}
	a.say("messages on other queues end by themselves, and may leave a record or dead letter: erase again in 14 days")
	return nil
}

// confirmErasure shows the counts, and has the tenant's id typed. What goes on from a place was counted before.
func (a *app) confirmErasure(ctx context.Context, c *cli.Command, s stack, tenant string) error {
	if c.Bool("yes") || c.Bool("no-input") {
		return a.confirm(c, "Erase the tenant "+safe(tenant))
	}
	if c.String("cursor") == "" {
		counts, _, err := a.eraseAll(ctx, s, fields{"tenant_id": tenant, "dry_run": true})
		if err != nil {
			return err
		}
		a.say("stored of %s in %s: %s", safe(tenant), s.name, some(counts))
	}
	if a.prompt("This cannot be undone. Type the tenant's id to erase it: ") != tenant {
		return fail(exitFailed, "nothing was done")
	}
	return nil
}

// discardRejected deletes the rejected events that name the tenant, page by page.
func (a *app) discardRejected(ctx context.Context, s stack, tenant string) (discarded int, err error) {
	for {
		f := fields{"tenant_id": tenant, "limit": maxPage}
		found, err := s.Ask(ctx, "inspect", "rejected_events", f)
		if err != nil {
			return discarded, err
		}
		var ids []string
		for _, r := range console.Rows(found) {
			ids = append(ids, cellOf(r, "message_id"))
		}
		if note := cellOf(found, "note"); len(ids) == 0 && note != "" {
			return discarded, errors.New(safe(note))
		}
		if len(ids) == 0 {
			return discarded, nil
		}
		gone, err := s.Ask(ctx, deleting, "discard_rejected_events", fields{"message_ids": ids, "confirm": true})
		if err != nil {
			return discarded, err
		}
		for _, r := range console.Rows(gone) {
			if result := cellOf(r, "result"); result != "discarded" {
				why := cmp.Or(cellOf(r, "reason"), result)
				return discarded, fmt.Errorf("event %s: %s", safe(cellOf(r, "message_id")), safe(why))
			}
			discarded++
		}
	}
}

// eraseAll makes requests until nothing is left, and adds up their counts. Where one fails, place is its cursor, "" for
// the first.
func (a *app) eraseAll(ctx context.Context, s stack, f fields) (counts row, place string, err error) {
	counts, f = row{}, maps.Clone(f)
	function := deleting
	if f["dry_run"] == true {
		function = "replay"
	}
	for {
		part, err := s.Ask(ctx, function, "erase", f)
		if err != nil {
			return counts, cellOf(f, "cursor"), err
		}
		more, _ := part["counts"].(row)
		for kind := range more {
			counts[kind] = console.Number(counts, kind) + console.Number(more, kind)
		}
		if f["cursor"] = part["next_cursor"]; f["cursor"] == nil {
			return counts, "", nil
		}
		a.say("so far: %s", some(counts))
	}
}

// some are the counts of what there is.
func some(counts row) string {
	there := maps.Clone(counts)
	maps.DeleteFunc(there, func(_ string, n any) bool { return n == 0.0 })
	return cmp.Or(console.Reasons(there), "nothing")
}
