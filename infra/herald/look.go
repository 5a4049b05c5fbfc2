package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"
)

func (a *app) deliveries() *cli.Command {
	return group("deliveries", "deliveries of an event or endpoint, or one",
		command("show WH-ID", "one delivery, by the wh-id that its receiver saw",
			a.one("inspect", "delivery")),
		command("find", "by event, or the unacknowledged ones of an endpoint",
			a.list("inspect", "deliveries", "delivery_id", "endpoint_id", "event_type", "state", "attempts",
				"last_status", "reason", "next_attempt_at", "updated_at"),
			text("tenant", "the tenant's id"), text("event", "the event's id"),
			text("event-file", "the event as it was published, or - for standard input: exact, and finds acknowledged ones"),
			text("endpoint", "its id, or TENANT/NAME with its host or description"), limit(maxPage)),
	)
}

func (a *app) keys() *cli.Command {
	tenant := &cli.StringFlag{Name: "tenant", Usage: "the tenant's id", Required: true}
	return group("keys", "API keys of tenants (policy KeyIssuers)",
		command("issue", "a new key; it is shown once", a.one("apikeys", "issue"), tenant, text("description", "whose it is"),
			&cli.StringSliceFlag{Name: "scope", Usage: "webhooks:read, webhooks:write; both by default"}),
		command("list", "the keys of a tenant, newest first",
			a.list("apikeys", "list", "key_id", "scopes", "description", "created_at", "last_used_at", "revoked_at"),
			tenant, limit(maxPage)),
		command("revoke KEY-ID", "end a key for good",
			a.on(func(ctx context.Context, c *cli.Command, s stack, f fields) error {
				// Of a whole key, too: its secret is not for logs.
				id, _, _ := strings.Cut(strings.TrimPrefix(cellOf(f, "key_id"), "hk_"), "_")
				if err := a.confirm(c, "End the key "+safe(id)+" for good"); err != nil {
					return err
				}
				return a.answer(ctx, c, s, "apikeys", "revoke", fields{"key_id": id})
			})),
	)
}
