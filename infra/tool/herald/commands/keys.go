package commands

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
)

func keyCommands(s setup) *cli.Command {
	tenant := &cli.StringFlag{Name: "tenant", Usage: "the tenant's id", Required: true}
	issues := func(f usage.Fields) string { return about("Issue a key of the tenant %s, and show it", f.TenantID) }
	return group("keys", "API keys of tenants",
		usage.Unplanned(command("issue", "a new key; it is shown once (policy KeyIssuers)",
			asked(s, issues, api.IssueKey, newKeyOf), tenant, usage.Text("description", "who has the key"),
			&cli.StringSliceFlag{Name: "scope", Usage: inWords(apikey.Scopes()...) + "; both by default"})),
		command("list", "the keys of a tenant, newest first", list(s, api.ListKeys, keysOf, keyColumns),
			tenant, limitFlag(stack.MaxPage)),
		usage.Unplanned(command("revoke KEY-ID", "end a key for good", s.on(revokeKey))),
		command("revoke-all TENANT", "end all keys of a tenant for good", s.on(revokeAll),
			usage.Text("reason", "for the audit log, such as a ticket")),
	)
}

func newKeyOf(f usage.Fields) api.IssueKeyRequest {
	request := api.IssueKeyRequest{TenantID: f.TenantID, Description: f.Description}
	if len(f.Scopes) > 0 {
		request.Scopes = &f.Scopes
	}
	return request
}

func keysOf(f usage.Fields, page api.Page) api.KeysRequest {
	return api.KeysRequest{Page: page, TenantID: f.TenantID}
}

func revokeKey(ctx context.Context, c call) error {
	// Of a whole key, too: its secret is not for logs.
	id, _, _ := strings.Cut(strings.TrimPrefix(c.fields.KeyID, "hk_"), "_")
	if err := c.confirm("End the key " + answers.Safe(id) + " for good"); err != nil {
		return err
	}
	return answer(ctx, c, api.RevokeKey, api.RevokeKeyRequest{KeyID: id})
}

// revokedJSON is what programs read of revoke-all: the sum of all requests.
type revokedJSON struct {
	TenantID string `json:"tenant_id"`
	Revoked  int    `json:"revoked"`
}

// revokeAll counts a tenant's keys, has the number typed, and revokes them.
func revokeAll(ctx context.Context, c call) error {
	tenant := c.fields.TenantID
	keys, more, err := stack.GoodKeys(ctx, c.stack, tenant)
	if err != nil {
		return err
	}
	number := next.Number(len(keys), "key", "keys")
	if more {
		number = "more than " + number
	}
	if c.dryRun() {
		c.Say("would revoke %s of %s", number, answers.Safe(tenant))
		return nil
	}
	// Where no key was listed, one may have been issued a moment ago.
	if err := c.confirmNumber("End "+number+" of "+answers.Safe(tenant)+" for good", len(keys)); err != nil {
		return err
	}
	revoked, err := stack.RevokeAll(ctx, c.stack,
		api.RevokeAllRequest{TenantID: tenant, Confirm: true, Reason: c.fields.Reason})
	if err == nil {
		c.One(revokedJSON{tenant, revoked})
	}
	return err
}
