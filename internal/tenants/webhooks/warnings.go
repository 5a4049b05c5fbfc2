package webhooks

import (
	"context"
	"fmt"
	"slices"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// had returns the entries of events that the tenant's live endpoint with a URL has. A request may send them back, even
// if the catalogue has since lost some of them. There are none where the tenant has no such endpoint.
func (h *Handler) had(ctx context.Context, tenantID string, url *string) ([]string, error) {
	if url == nil {
		return nil, nil
	}
	live, err := h.Endpoints.Live(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(live, func(e endpoint.Endpoint) bool { return e.URL == *url })
	if at < 0 {
		return nil, nil
	}
	return live[at].Events, nil
}

// warned is the answer of a change, with what the owner should know about the events of the endpoint.
func warned(shown management.Endpoint) management.Endpoint {
	shown.Warnings = warnings(shown.Events, catalogue.Find)
	return shown
}

// warnings are about names that the catalogue does not have, and about deprecated types. Types that a wildcard selects
// are no reason for a warning: their owner did not choose them one by one.
func warnings(events []string, find func(name string) (catalogue.Type, bool)) (all []management.Warning) {
	for i, name := range events {
		w := management.Warning{Pointer: fmt.Sprintf("/events/%d", i)}
		t, found := find(name)
		switch {
		case !found && !event.IsPattern(name):
			w.Code = management.WarningUnknown
			w.Detail = name + " is not implemented any more. It is kept, and selects nothing"
		case t.ReplacedBy != "":
			w.Code, w.Detail = management.WarningDeprecated, name+" is deprecated. Use "+t.ReplacedBy+" in its place"
		case t.Deprecated:
			w.Code, w.Detail = management.WarningDeprecated, name+" is deprecated"
		default:
			continue
		}
		all = append(all, w)
	}
	return all
}
