package webhooks

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/cursor"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/rules/problem"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// list answers a page of the tenant's endpoints, newest first. It reads all of a kind, of which there are few, and cuts
// the page out. The cursor is the last id shown: endpoints that come or go between two pages shift none of them.
func (h *Handler) list(ctx context.Context, c *call) (any, error) {
	limit, filter, err := c.listQuery()
	if err != nil {
		return nil, err
	}
	after := ""
	if text, given := c.query["cursor"]; given {
		var ok bool
		after, ok = cursor.Open(text, c.key.TenantID, filter)
		if !ok || !endpoint.ValidID(after) {
			fields := []problem.Field{{Parameter: "cursor", Detail: "was not issued for this list"}}
			return nil, &problem.Error{Code: problem.CodeInvalidCursor, Fields: fields}
		}
	}
	all, err := h.newestFirst(ctx, c.key.TenantID, filter)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e endpoint.Endpoint) bool {
		return !selects(filter, e.Status) || (after != "" && e.ID >= after)
	})
	page := management.EndpointList{Data: make([]management.Endpoint, 0, min(limit, len(all)))}
	if len(all) > limit {
		next := cursor.Make(all[limit-1].ID, c.key.TenantID, filter)
		page.NextCursor, all = &next, all[:limit]
	}
	all, err = h.Endpoints.About(ctx, all...) // of the page alone
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		page.Data = append(page.Data, h.viewOf(e, c.now))
	}
	return page, nil
}

// newestFirst are the tenant's live or, for their filter, deleted endpoints, with operators' limits.
func (h *Handler) newestFirst(ctx context.Context, tenantID, filter string) ([]endpoint.Endpoint, error) {
	read := h.Endpoints.Live // the others would be paid for, too
	if filter == string(endpoint.Deleted) {
		read = h.Endpoints.Deleted
	}
	all, err := read(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	marks, err := h.Endpoints.Marks(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	limited := make([]endpoint.Endpoint, 0, len(all))
	for _, e := range all {
		limited = append(limited, limitedBy(marks, e))
	}
	slices.SortFunc(limited, func(a, b endpoint.Endpoint) int { return cmp.Compare(b.ID, a.ID) }) // by time of creation
	return limited, nil
}

// selects reports whether a list with this filter shows a status.
func selects(filter string, s endpoint.Status) bool {
	if filter == notDeleted {
		return s != endpoint.Deleted
	}
	return string(s) == filter
}

// read answers one endpoint, deleted or not.
func (h *Handler) read(ctx context.Context, c *call) (any, error) {
	e, err := h.load(ctx, c)
	if err != nil {
		return nil, err
	}
	e, err = h.told(ctx, e)
	if err != nil {
		return nil, err
	}
	marks, err := h.Endpoints.Marks(ctx, e.TenantID)
	if err != nil {
		return nil, err
	}
	return h.viewOf(limitedBy(marks, e), c.now), nil
}

// limitedBy returns an endpoint with an operator's limit out of the marks of its tenant, for its owner to see. Who has
// set it, and why, is for operators.
func limitedBy(marks endpoint.TenantMarks, e endpoint.Endpoint) endpoint.Endpoint {
	e.Marks.RateLimit = marks.Of(e).RateLimit
	return e
}

// load reads the endpoint of the path. An id that cannot be one is not asked for. Another tenant's endpoint is not
// found, as one that never was: ids of others cannot be tried out.
func (h *Handler) load(ctx context.Context, c *call) (endpoint.Endpoint, error) {
	if !endpoint.ValidID(c.endpointID) {
		return endpoint.Endpoint{}, problem.New(problem.CodeEndpointNotFound)
	}
	e, found, err := h.Endpoints.Get(ctx, c.key.TenantID, c.endpointID)
	if err == nil && !found {
		err = problem.New(problem.CodeEndpointNotFound)
	}
	return current(e, c.now), err
}

// current is an endpoint without a secret before the last rotation that no longer signs. The next write forgets that.
func current(e endpoint.Endpoint, now time.Time) endpoint.Endpoint {
	if !e.Overlaps(now) {
		e.EndOverlap()
	}
	return e
}

// eventTypes answers every type with its description and the schema and an example of its data, and the patterns.
func (h *Handler) eventTypes(context.Context, *call) (any, error) {
	answer := management.EventTypes{Patterns: event.Patterns()}
	for _, t := range catalogue.Types() {
		answer.Data = append(answer.Data, typeOf(t))
	}
	return answer, nil
}

// typeOf is a type of the catalogue as tenants see it.
func typeOf(t catalogue.Type) management.EventType {
	return management.EventType{
		Name: t.Name, Description: t.Description, Schema: jsontext.Value(t.Schema), Example: jsontext.Value(t.Example),
		Deprecated: t.Deprecated, ReplacedBy: t.ReplacedBy,
	}
}
