package inspect

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// endpointList lists endpoints. Those in trouble are found by their circuits, those of a tenant by their ids.
type endpointList struct {
	ids      IDs
	circuits Circuits
	reader   endpointReader
	owners   Owners
	waiting  waitingCounter
	health   healthView
}

// wants reports whether a request's filters take an endpoint. Those without trouble are listed of a tenant only, or on
// request.
func (l endpointList) wants(r api.EndpointsRequest, f invoke.Found) bool {
	e, state := f.Endpoint, l.health.state(f)
	if r.State == "" && r.TenantID == "" && state.Untroubled() {
		return false
	}
	inState := r.State == "" || r.State == state
	atHost := r.Host == "" || strings.EqualFold(r.Host, e.Host())
	return inState && atHost && strings.Contains(strings.ToLower(e.Description), strings.ToLower(r.Description))
}

// readWanted reads endpoints, and keeps those that the request wants.
func (l endpointList) readWanted(
	ctx context.Context, req api.EndpointsRequest, keys []dynamo.EndpointKey,
) ([]invoke.Found, error) {
	found, err := l.reader.read(ctx, keys)
	return slices.DeleteFunc(found, func(f invoke.Found) bool { return !l.wants(req, f) }), err
}

// rounds bounds how long a page looks for items in a rare state. It then ends early, with a cursor.
const rounds = 20

// list lists the endpoints in trouble, in no order, or all of a tenant's.
func (l endpointList) list(
	ctx context.Context, call *invoke.Call, req api.EndpointsRequest,
) (api.List[api.ListedEndpoint], error) {
	if err := invoke.OneOf("state", req.State, api.States()...); err != nil {
		return api.List[api.ListedEndpoint]{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID))
	find := l.inTrouble
	if req.TenantID != "" {
		find = l.ofTenant
	}
	read := func(limit int, start string) ([]api.ListedEndpoint, string, error) {
		found, next, err := find(ctx, req, limit, start)
		if err != nil {
			return nil, "", err
		}
		shown, err := l.show(ctx, found)
		return shown, next, err
	}
	// A cursor is good for the same filters only.
	filter := strings.Join([]string{"endpoints", req.TenantID, string(req.State), req.Host, req.Description}, " ")
	return invoke.Paged(call, req.Page, filter, read)
}

// ofTenant looks for endpoints of a tenant, behind the one with the id start. Deleted ones are read on request only.
func (l endpointList) ofTenant(
	ctx context.Context, req api.EndpointsRequest, limit int, start string,
) (found []invoke.Found, next string, err error) {
	all, err := l.ids.List(ctx, req.TenantID)
	if err != nil {
		return nil, "", err
	}
	var keys []dynamo.EndpointKey
	// Ids are in the order of time, so the last one of a page is its cursor.
	for _, e := range all {
		if e.ID > start && (e.Live() || req.State == api.StateDeleted) {
			keys = append(keys, dynamo.EndpointKey{TenantID: req.TenantID, EndpointID: e.ID})
		}
	}
	found, err = l.readWanted(ctx, req, keys)
	if err != nil || len(found) <= limit {
		return found, "", err
	}
	return found[:limit], found[limit-1].Endpoint.ID, nil
}

// inTrouble looks for endpoints in trouble. The index of circuits finds them, so healthy endpoints cost nothing.
func (l endpointList) inTrouble(
	ctx context.Context, req api.EndpointsRequest, limit int, start string,
) (found []invoke.Found, next string, err error) {
	next = start
	for range rounds {
		keys, after, err := l.circuits.Trouble(ctx, limit-len(found), next)
		if err != nil {
			return nil, "", err
		}
		some, err := l.readWanted(ctx, req, keys)
		if err != nil {
			return nil, "", err
		}
		found = append(found, some...)
		next = after
		if next == "" || len(found) == limit {
			break
		}
	}
	return found, next, nil
}

// show shows endpoints with their contacts, their health and the count of their waiting deliveries.
func (l endpointList) show(ctx context.Context, found []invoke.Found) ([]api.ListedEndpoint, error) {
	waiting, err := l.waiting.of(ctx, found)
	if err != nil {
		return nil, err
	}
	contacts, err := l.contacts(ctx, found)
	if err != nil {
		return nil, err
	}
	shown := make([]api.ListedEndpoint, len(found))
	for n, f := range found {
		shown[n] = api.ListedEndpoint{
			TenantID: f.Endpoint.TenantID, EndpointID: f.Endpoint.ID, Host: f.Endpoint.Host(),
			Description: f.Endpoint.Description, Contact: contacts[f.Endpoint.ID], TenantPaused: f.Tenant.Paused(),
			EndpointPaused: f.Endpoint.Marks.Paused(), Limits: limitsOf(f.Endpoint),
			Health: l.health.show(f, waiting[f.Endpoint.ID]), Waiting: l.health.waiting(waiting[f.Endpoint.ID]),
		}
	}
	return shown, nil
}

// contacts are those of endpoints, by id. It makes a request for each tenant. An endpoint whose owner's words cannot be
// read is listed without them.
func (l endpointList) contacts(ctx context.Context, found []invoke.Found) (map[string]string, error) {
	of := map[string][]endpoint.Endpoint{}
	for _, f := range found {
		of[f.Endpoint.TenantID] = append(of[f.Endpoint.TenantID], f.Endpoint)
	}
	tenants := slices.Sorted(maps.Keys(of))
	told := make([][]endpoint.Endpoint, len(tenants))
	errs := parallel.Each(len(tenants), sideBySide, func(n int) (err error) {
		told[n], err = l.owners.About(ctx, of[tenants[n]]...)
		if invoke.Unreadable(err) {
			return nil
		}
		return err
	})
	contacts := map[string]string{}
	for _, e := range slices.Concat(told...) {
		contacts[e.ID] = e.About.Contact
	}
	return contacts, errors.Join(errs...)
}
