package console

import (
	"context"
	"errors"
	"net/url"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

func endpointsPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	of := api.EndpointsRequest{
		TenantID: q.Get("tenant_id"), State: api.State(q.Get("state")), Host: q.Get("host"),
		Description: q.Get("description"),
	}
	empty := "No endpoint is in trouble. To list healthy ones, choose a tenant or the state healthy."
	if of != (api.EndpointsRequest{}) {
		empty = "No endpoint matches. Tenants create endpoints with the management API."
	}
	of.Page = pageOf(q)
	found, err := ask(ctx, s, api.ListEndpoints, of)
	if err != nil {
		return nil, err
	}
	t := s.site.EndpointList(q, found.Data).Or(empty)
	return list{Table: t.Then(s.nextPage("/endpoints", q, found.NextCursor))}, nil
}

// tenantIn is the tenant of an endpoint, as far as a delivery or a dead letter names it.
func tenantIn(its stack.Troubles) string {
	for _, d := range its.Open.Data {
		if d.TenantID != "" {
			return d.TenantID
		}
	}
	for _, l := range its.Dead.Data {
		if l.TenantID != "" {
			return l.TenantID
		}
	}
	return ""
}

// endpointPage shows an endpoint with its deliveries. Where the address has no tenant, since an id was pasted, a
// delivery or a dead letter names it.
func endpointPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	of := api.EndpointRequest{EndpointID: q.Get("endpoint_id"), TenantID: q.Get("tenant_id")}
	its, err := stack.ReadTroubles(ctx, s.Stack, of)
	if err != nil {
		return nil, err
	}
	if of.TenantID == "" {
		of.TenantID = tenantIn(its)
	}
	answer, err := stack.Ask(ctx, s.Stack, api.GetEndpoint, of)
	if refused, is := errors.AsType[*api.Refusal](err); is && refused.Field == "tenant_id" && of.TenantID == "" {
		return detail{Head: &parts.Head{Kind: "Endpoint", Name: "Of which tenant?", ID: of.EndpointID,
			Advice: []string{"It is not in trouble, and none of its deliveries waits or died. To find it, name its tenant."}},
			More: of.EndpointID}, nil
	}
	if err != nil {
		return nil, err
	}
	return detailOf(s.site.EndpointPage(answer.Fields, its), answer.JSON), nil
}
