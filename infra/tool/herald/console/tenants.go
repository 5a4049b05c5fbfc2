package console

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// keysPage lists a tenant's keys, and otherwise tenants to choose from.
func keysPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	of := api.KeysRequest{Page: pageOf(q), TenantID: q.Get("tenant_id")}
	if of.TenantID == "" {
		tenants, err := s.tenants(ctx, "/keys")
		return list{Table: tenants, Note: "Choose a tenant."}, err
	}
	found, err := ask(ctx, s, api.ListKeys, of)
	if err != nil {
		return nil, err
	}
	t := s.site.KeyList(q, found.Data).Or("The tenant has no keys. They are issued on the command line.")
	return list{Table: t.Then(s.nextPage("/keys", q, found.NextCursor))}, nil
}

// tenants are those that are known without a list of all, which no index has: of endpoints in trouble, of causes of
// death, and of operators' acts of the last week.
func (s *Server) tenants(ctx context.Context, path string) (*parts.Table, error) {
	of := api.EndpointsRequest{Page: api.Page{Limit: new(stack.MaxPage)}}
	troubled, err := ask(ctx, s, api.ListEndpoints, of)
	if err != nil {
		return nil, err
	}
	causes, err := ask(ctx, s, api.ListCauses, api.Selector{})
	if err != nil {
		return nil, err
	}
	acts, _, err := s.Trail.Acts(ctx, s.Now().Add(-7*24*time.Hour))
	if err != nil {
		return nil, err
	}
	known := map[string][]string{}
	note := func(id, why string) {
		if id != "" && !slices.Contains(known[id], why) {
			known[id] = append(known[id], why)
		}
	}
	for _, e := range troubled.Data {
		note(e.TenantID, "has an endpoint in trouble")
	}
	for _, cause := range causes.Data {
		note(cause.TenantID, "has dead letters")
	}
	for _, act := range acts {
		note(act.TenantID, "an operator acted for it this week")
	}
	ids := slices.Sorted(maps.Keys(known))
	itself := func(id string) string { return id }
	t := parts.NewTable(url.Values{}, ids, parts.Tenants(s.site, itself),
		parts.Text("why it is here", "wide", "", func(id string) any { return known[id] }))
	t.Linked(parts.Each(ids, func(id string) string { return s.site.Link(path, "tenant_id", id) }))
	return t.Or("No tenant is in trouble, and no operator acted for one this week. Name one above."), nil
}
