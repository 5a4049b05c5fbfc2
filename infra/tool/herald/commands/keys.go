package commands

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
)

func keyCommands(s setup) *cli.Command {
	tenant := &cli.StringFlag{Name: "tenant", Usage: "the tenant's id", Required: true}
	issues := func(f usage.Fields) string { return about("Issue a key of the tenant %s, and show it", f.TenantID) }
	return group("keys", "API keys of tenants (policy KeyIssuers)",
		usage.Unplanned(command("issue", "a new key; it is shown once", asked(s, issues, api.IssueKey, newKeyOf), tenant,
			usage.Text("description", "who has it"),
			&cli.StringSliceFlag{Name: "scope", Usage: inWords(apikey.Scopes()...) + "; both by default"})),
		command("list", "the keys of a tenant, newest first", list(s, api.ListKeys, keysOf, keyColumns),
			tenant, limitFlag(stack.MaxPage)),
		usage.Unplanned(command("revoke KEY-ID", "end a key for good", s.on(revokeKey))),
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
