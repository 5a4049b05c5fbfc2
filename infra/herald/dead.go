package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/urfave/cli/v3"
)

var letterColumns = []string{
	"delivery_id", "tenant_id", "endpoint_id", "event_type", "status", "reason", "last_status", "died_at",
}

func (a *app) dead() *cli.Command {
	return &cli.Command{Name: "dead", Usage: "dead letters", Commands: []*cli.Command{
		{
			Name: "list", Usage: "bodies stay sealed", Flags: append(selectors(), limit(maxPage)),
			Action: func(ctx context.Context, c *cli.Command) error {
				f, err := a.selected(ctx, c)
				if err != nil {
					return err
				}
				if f["tenant_id"] == "" && f["endpoint_id"] == "" && f["status"] == "" {
					f["status"] = "dead"
				}
				return a.list(ctx, c, "inspect", "dead_letters", f, letterColumns...)
			},
		},
		{
			Name: "show", Usage: "open one: body, headers, history; CloudTrail records it", ArgsUsage: "WH-ID",
			Action: func(ctx context.Context, c *cli.Command) error {
				id, err := argument(c, "WH-ID")
				if err != nil {
					return err
				}
				return a.one(ctx, c, "inspect", "dead_letter", fields{"delivery_id": id})
			},
		},
		{
			Name: "replay", Usage: "send again those named, or all that the flags select, as a job", ArgsUsage: "[WH-ID…]",
			Flags: append(selectors(), watchFlag()),
			Action: func(ctx context.Context, c *cli.Command) error {
				return a.bulk(ctx, c, bulk{act: "replay", ids: "deliveries", question: "Replay %d dead letters"})
			},
		},
		{
			Name: "purge", Usage: "delete for good those named, or all that the flags select, as a job", ArgsUsage: "[WH-ID…]",
			Flags: append(selectors(), watchFlag()),
			Action: func(ctx context.Context, c *cli.Command) error {
				return a.bulk(ctx, c, bulk{act: "purge", ids: "purge", confirm: true, question: "Delete %d dead letters for good"})
			},
		},
	}}
}

func watchFlag() cli.Flag {
	return &cli.BoolFlag{Name: "watch", Usage: "stay until the job is done; Ctrl-C leaves it running"}
}

// bulk is an act on many dead letters or rejected events.
type bulk struct {
	act      string // of the job
	ids      string // action of replay that takes ids
	question string
	confirm  bool // the request has to say so
}

// bulk acts on the ids of the arguments, or starts a job on what the flags select.
func (a *app) bulk(ctx context.Context, c *cli.Command, b bulk) error {
	f, err := a.selected(ctx, c)
	if err != nil {
		return err
	}
	ids := c.Args().Slice()
	maps.DeleteFunc(f, func(_ string, v any) bool { return v == "" })
	if len(ids) > 0 && len(f) > 0 {
		return fail(exitUsage, "give either ids or flags that select, not both")
	}
	if len(ids) == 0 && len(f) == 0 {
		return fail(exitUsage, "say which: ids, or flags such as --tenant, --endpoint, --reason, --status, --since")
	}
	s, err := a.stack(ctx, c)
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		return a.byID(ctx, c, s, b, ids)
	}
	if f["tenant_id"] == nil && f["endpoint_id"] == nil && f["status"] == nil && b.act != "publish" {
		f["status"] = "dead"
	}
	return a.start(ctx, c, s, b, f)
}

// byID acts on ids, and says which of them were not done.
func (a *app) byID(ctx context.Context, c *cli.Command, s stack, b bulk, ids []string) error {
	if c.Bool("dry-run") {
		return fail(exitUsage, "--dry-run is for flags that select: of ids it is known what would be done")
	}
	if err := a.confirm(c, fmt.Sprintf(b.question, len(ids))); err != nil {
		return err
	}
	f, id := fields{"delivery_ids": ids}, "delivery_id"
	if b.act == "publish" || b.act == "discard" {
		f, id = fields{"message_ids": ids}, "message_id"
	}
	if b.confirm {
		f["confirm"] = true
	}
	var results page
	raw, err := s.ask(ctx, "replay", b.ids, f, &results)
	if err != nil {
		return err
	}
	if isJSON(c) {
		err = a.printJSON(raw)
	} else {
		err = a.table(results.Data, id, "result", "reason")
	}
	done := []any{"replayed", "purged", "published", "discarded"}
	if err == nil && slices.ContainsFunc(results.Data, func(r row) bool { return !slices.Contains(done, r["result"]) }) {
		return &failure{code: exitUnhealthy}
	}
	return err
}
