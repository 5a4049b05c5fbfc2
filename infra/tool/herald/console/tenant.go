package console

import (
	"context"
	"net/url"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// itsTraffic is the field of an address that asks for a tenant's traffic, from the log.
const itsTraffic = "traffic"

// tenantPage shows a tenant with its keys. Its acts are a part that the page asks for by itself: to read the audit log
// may take 20 s.
func tenantPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	t, err := stack.ReadTenant(ctx, s.Stack, nil, q.Get("tenant_id"), s.Now())
	if err != nil {
		return nil, err
	}
	id := t.Fields.TenantID
	shown := detailOf(s.site.TenantPage(t), t.JSON)
	shown.Head.Buttons = s.tenantButtons(t)
	shown.Head.Links = []parts.Cell{
		{Text: "Its dead letters", Link: s.site.Link("/dead", "status", string(deadletter.Dead), "tenant_id", id)},
		{Text: "Its rejected events", Link: s.site.Link("/rejected", "tenant_id", id)},
	}
	if q.Get(itsTraffic) == "" {
		shown.Head.Links = append(shown.Head.Links, parts.Cell{Text: "Its traffic, from the log",
			Link:  s.site.Link("/tenant", "tenant_id", id, itsTraffic, "1"),
			Title: "AWS bills the bytes that two queries search: an hour of deliver's log each"})
	} else {
		traffic, err := stack.ReadTraffic(ctx, s.Log, id, s.Now())
		shown.Lists = append([]parts.Section{s.site.TenantTraffic(traffic, err)}, shown.Lists...)
	}
	shown.More = id
	return shown, nil
}

// tenantActsPage is the part of a tenant's page with its acts.
func tenantActsPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	of, err := s.selector(q)
	if err != nil {
		return nil, err
	}
	t, err := stack.ReadTenant(ctx, s.Stack, s.Trail, q.Get("tenant_id"), s.Now())
	if !of.Since.IsZero() {
		t.Since = of.Since
	}
	return s.site.TenantActs(t), err
}

// tenantButtons are the acts on a tenant. Those that cannot be undone ask first.
func (s *Server) tenantButtons(t stack.Tenant) (all []parts.Button) {
	id, marks := t.Fields.TenantID, t.Fields.Marks
	of := []parts.Field{{Name: "tenant_id", Value: id}}
	reason := parts.Input{Name: "reason", Label: "Reason"}
	form := func(action string, label string, inputs ...parts.Input) {
		all = append(all, parts.Button{Label: label, Action: s.site.Base + "/tenant/" + action, Fields: of, Inputs: inputs,
			Function: api.Control})
	}
	asks := func(act, label string, function api.Function, warning string) {
		link := s.site.Link("/confirm", "act", act, "tenant_id", id)
		all = append(all, parts.Button{Label: label, Link: link, Function: function, Warning: warning})
	}
	if t.GoodKeys() > 0 {
		asks(compromised, "A key is in the wrong hands…", api.APIKeysRevoke,
			"This pauses the tenant and ends all of its keys.")
		asks(revokeKeys, "End all of its keys…", api.APIKeysRevoke, "")
	}
	switch {
	case t.Bare:
		return all
	case marks.Paused():
		asks(next.ResumeTenant, parts.Controls[next.ResumeTenant].Label, api.Control, "")
	default:
		form(api.Pause.Name, "Pause the tenant", parts.Input{Name: "reason", Label: "Reason", Optional: true})
	}
	rate := parts.Input{
		Name: "rate_limit", Label: "Deliveries a second", Least: endpoint.MinRate, Most: endpoint.MaxRate,
	}
	form(api.Limit.Name, "Limit each endpoint", rate, reason)
	if marks.RateLimit > 0 {
		form(api.Unlimit.Name, "Remove the limit")
	}
	form(api.Allow.Name, "Allow endpoints at one domain",
		parts.Input{Name: "endpoints_per_host", Label: "Endpoints, 0 for the stack's bound", Most: endpoint.MostLive}, reason)
	return all
}
