package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"
)

func (a *app) deliveries() *cli.Command {
	return &cli.Command{Name: "deliveries", Usage: "deliveries of an event or endpoint, or one", Commands: []*cli.Command{
		{
			Name: "show", Usage: "one delivery, by the wh-id that its receiver saw", ArgsUsage: "WH-ID",
			Action: a.one("inspect", "delivery", "delivery_id"),
		},
		{
			Name: "find", Usage: "by event, or the unacknowledged ones of an endpoint", Flags: []cli.Flag{
				text("tenant", "the tenant's id"), text("event", "the event's id"),
				text("event-file", "the event as it was published, or - for standard input: exact, and finds acknowledged ones"),
				text("endpoint", "its id, or TENANT/NAME with its host or description"), limit(maxPage),
			},
			Action: a.findDeliveries,
		},
	}}
}

func (a *app) findDeliveries(ctx context.Context, c *cli.Command) error {
	columns := []string{"delivery_id", "endpoint_id", "event_type", "state", "attempts", "last_status", "reason",
		"next_attempt_at", "updated_at"}
	if c.String("event-file") == "" && c.String("event") == "" {
		return a.list(a.flags, "inspect", "deliveries", columns...)(ctx, c)
	}
	return a.on(func(ctx context.Context, c *cli.Command, s stack) error {
		f, err := a.flags(c)
		if err != nil {
			return err
		}
		if path := c.String("event-file"); path != "" {
			body, err := a.read(path)
			if err != nil {
				return err
			}
			if f["event"], err = jsonObject(path, body); err != nil {
				return err
			}
		}
		var found page // without a limit: a list by event has no pages
		if err := s.Ask(ctx, "inspect", "deliveries", f, &found); err != nil {
			return err
		}
		return a.printPage(c, found, columns...)
	})(ctx, c)
}

func (a *app) keys() *cli.Command {
	tenant := &cli.StringFlag{Name: "tenant", Usage: "the tenant's id", Required: true}
	return &cli.Command{Name: "keys", Usage: "API keys of tenants (policy KeyIssuers)", Commands: []*cli.Command{
		{
			Name: "issue", Usage: "a new key; it is shown once", Flags: []cli.Flag{
				tenant, text("description", "whose it is"),
				&cli.StringSliceFlag{Name: "scope", Usage: "webhooks:read, webhooks:write; both by default"},
			},
			Action: a.on(func(ctx context.Context, c *cli.Command, s stack) error {
				f, err := a.flags(c)
				if err != nil {
					return err
				}
				return a.answer(ctx, c, s, "apikeys", "issue", f)
			}),
		},
		{
			Name: "list", Usage: "the keys of a tenant, newest first", Flags: []cli.Flag{tenant, limit(maxPage)},
			Action: a.list(a.flags, "apikeys", "list",
				"key_id", "scopes", "description", "created_at", "last_used_at", "revoked_at"),
		},
		{
			Name: "revoke", Usage: "end a key for good", ArgsUsage: "KEY-ID",
			Action: a.about(func(ctx context.Context, c *cli.Command, s stack, id string) error {
				id = strings.TrimPrefix(id, "hk_")
				if err := a.confirm(c, "End the key "+safe(id)+" for good"); err != nil {
					return err
				}
				return a.answer(ctx, c, s, "apikeys", "revoke", fields{"key_id": id})
			}),
		},
	}}
}
