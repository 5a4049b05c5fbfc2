package commands

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
)

func keyCommands(s setup) *cli.Command {
	tenant := &cli.StringFlag{Name: "tenant", Usage: "the tenant's id", Required: true}
	return group("keys", "API keys of tenants (policy KeyIssuers)",
		usage.Unplanned(command("issue", "a new key; it is shown once", s.asked(
			about("Issue a key of the tenant %s, and show it", "tenant_id"), "apikeys", "issue"), tenant,
			usage.Text("description", "who has it"),
			&cli.StringSliceFlag{Name: "scope", Usage: "webhooks:read, webhooks:write; both by default"})),
		command("list", "the keys of a tenant, newest first",
			s.list("apikeys", "list", "key_id", "scopes", "description", "created_at", "last_used_at", "revoked_at"),
			tenant, limitFlag(stack.MaxPage)),
		usage.Unplanned(command("revoke KEY-ID", "end a key for good", s.on(revokeKey))),
	)
}

func revokeKey(ctx context.Context, c call) error {
	// Of a whole key, too: its secret is not for logs.
	id, _, _ := strings.Cut(strings.TrimPrefix(answers.Text(c.fields, "key_id"), "hk_"), "_")
	if err := c.confirm("End the key " + answers.Safe(id) + " for good"); err != nil {
		return err
	}
	return c.answer(ctx, "apikeys", "revoke", answers.Row{"key_id": id})
}
