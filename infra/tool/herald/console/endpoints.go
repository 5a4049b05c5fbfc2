package console

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

func endpointsPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	of := api.EndpointsRequest{
		TenantID: q.Get("tenant_id"), State: api.State(q.Get("state")), Host: q.Get("host"),
		Description: q.Get("description"),
	}
	empty := "No endpoint is in trouble. Healthy ones are listed with their tenant, or by the state healthy."
	if of != (api.EndpointsRequest{}) {
		empty = "No endpoint is like that. Tenants create endpoints by the management API."
	}
	of.Page = pageOf(q)
	found, err := ask(ctx, s, api.ListEndpoints, of)
	if err != nil {
		return nil, err
	}
	t := s.site.EndpointList(q, found.Data).Or(empty)
	return list{Table: t.Then(s.nextPage("/endpoints", q, found.NextCursor))}, nil
}

// troubles are an endpoint's deliveries that wait, and its dead letters: the first of both.
type troubles struct {
	open api.DeliveryList
	dead api.List[api.DeadLetter]
}

// tenant is the tenant of an endpoint, as far as a delivery or a dead letter names it.
func (t troubles) tenant() string {
	for _, d := range t.open.Data {
		if d.TenantID != "" {
			return d.TenantID
		}
	}
	for _, l := range t.dead.Data {
		if l.TenantID != "" {
			return l.TenantID
		}
	}
	return ""
}

// canReplay reports whether a dead letter is there to be replayed.
func (t troubles) canReplay() bool {
	return slices.ContainsFunc(t.dead.Data, func(l api.DeadLetter) bool { return l.Status != deadletter.Replayed })
}

func (s *Server) troubles(ctx context.Context, of api.EndpointRequest) (t troubles, err error) {
	t.open, err = ask(ctx, s, api.ListDeliveries,
		api.DeliveriesRequest{Page: few, EndpointID: of.EndpointID, TenantID: of.TenantID})
	if err != nil {
		return t, err
	}
	t.dead, err = ask(ctx, s, api.ListDeadLetters, api.DeadLettersRequest{
		Page: few, Selector: api.Selector{EndpointID: of.EndpointID, TenantID: of.TenantID},
	})
	return t, err
}

// endpointPage shows an endpoint with its deliveries. Where the address has no tenant, since an id was pasted, a
// delivery or a dead letter names it.
func endpointPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	of := api.EndpointRequest{EndpointID: q.Get("endpoint_id"), TenantID: q.Get("tenant_id")}
	its, err := s.troubles(ctx, of)
	if err != nil {
		return nil, err
	}
	if of.TenantID == "" {
		of.TenantID = its.tenant()
	}
	answer, err := stack.Ask(ctx, s.Stack, api.GetEndpoint, of)
	if refused, is := errors.AsType[*api.Refusal](err); is && refused.Field == "tenant_id" && of.TenantID == "" {
		return detail{Head: &parts.Head{Kind: "Endpoint", Name: "Of which tenant?", ID: of.EndpointID,
			Advice: []string{"It is in no trouble, and nothing of it waits or died: its tenant leads to it."}},
			More: of.EndpointID}, nil
	}
	if err != nil {
		return nil, err
	}
	e := answer.Fields
	return detail{
		Head: s.site.EndpointHead(e, its.canReplay()), Timeline: s.site.EndpointTimeline(e), Raw: string(answer.JSON),
		Lists: s.troubleLists(e, its),
	}, nil
}

// troubleLists are the lists on the page of an endpoint. They lead on to all.
func (s *Server) troubleLists(e api.Endpoint, its troubles) []parts.Section {
	known := url.Values{"endpoint_id": {"known"}, "tenant_id": {"known"}}
	waiting := s.site.DeliveryList(known, its.open.Data).
		Or("Every delivery was acknowledged, or has its dead letter below.")
	died := s.site.LetterList(known, its.dead.Data).
		Or("None. A delivery dies when its schedule, or its life of 7 days, ends.")
	died.Tick = ""
	if its.open.NextCursor != nil {
		waiting.Then(s.site.Link("/deliveries", "endpoint_id", e.EndpointID, "tenant_id", e.TenantID))
	}
	if its.dead.NextCursor != nil {
		died.Then(s.site.Link("/dead", "endpoint_id", e.EndpointID, "tenant_id", e.TenantID))
	}
	return []parts.Section{{Title: "Not acknowledged", List: waiting}, {Title: "Dead letters", List: died}}
}
