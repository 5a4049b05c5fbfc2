package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Endpoints returns the store as the process calls it.
func (p *Process) Endpoints() Endpoints { return Endpoints{Process: p} }

// Endpoints is the table Endpoints as one process calls it (dynamo.Endpoints). The marks of an endpoint are kept with
// its row in Model.Endpoints, and are read by Marks and by Reader alone.
type Endpoints struct {
	*Process

	most int // live ones of a tenant; 0: endpoint.MaxLive
}

// Most returns the store with another bound of a tenant's live endpoints.
func (r Endpoints) Most(live int) Endpoints {
	r.most = live
	return r
}

const (
	readEndpoints  = "Read Endpoints"
	writeEndpoints = "Write Endpoints"
)

// Get reads a row, also of a deleted endpoint.
func (r Endpoints) Get(ctx context.Context, tenantID, id string) (e endpoint.Endpoint, found bool, err error) {
	err = r.one(ctx, readEndpoints, id, func() { e, found = r.model.Endpoints[id] })
	if !found || e.TenantID != tenantID || err != nil {
		return endpoint.Endpoint{}, false, err
	}
	if r.model.readable(brokenEndpoint+id) != nil {
		return endpoint.Endpoint{}, false, unreadable(id)
	}
	return bare(e), true, nil
}

// About returns endpoints with what their owner says about them.
func (r Endpoints) About(ctx context.Context, all ...endpoint.Endpoint) ([]endpoint.Endpoint, error) {
	if !slices.ContainsFunc(all, func(e endpoint.Endpoint) bool { return e.AboutRow != endpoint.AboutNone }) {
		return all, nil
	}
	return asked(ctx, r.Process, readEndpoints, all[0].TenantID, func() (told []endpoint.Endpoint) {
		for _, e := range all {
			if e.AboutRow != endpoint.AboutNone {
				e.About = r.model.Endpoints[e.ID].About
				e.AboutRow = e.About.Row()
			}
			told = append(told, e)
		}
		return told
	})
}

// Published returns the public keys of a live endpoint of any tenant. It is never behind.
func (r Endpoints) Published(ctx context.Context, id string) (e endpoint.Endpoint, found bool, err error) {
	stored, err := asked(ctx, r.Process, readEndpoints, id, func() endpoint.Endpoint { return r.model.Endpoints[id] })
	if err != nil || stored.ID == "" || !stored.Live() {
		return endpoint.Endpoint{}, false, err
	}
	return endpoint.Endpoint{
		ID: id, TenantID: stored.TenantID, PublicKey: stored.PublicKey, PreviousKey: stored.PreviousKey,
		PreviousUntil: stored.PreviousUntil,
	}, true, nil
}

// bare is an endpoint as its own row has it: without the marks and the About, which have other rows.
func bare(e endpoint.Endpoint) endpoint.Endpoint {
	e.Marks, e.About = endpoint.Marks{}, endpoint.About{}
	return e
}

func unreadable(id string) error { return fmt.Errorf("%s: %w", id, endpoint.ErrUnreadable) }

// List returns a tenant's rows by id, the deleted ones too. If a row is unreadable, it returns an error and the others.
func (r Endpoints) List(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	return r.those(ctx, tenantID, func(endpoint.Endpoint) bool { return true })
}

// Live returns the rows that are not deleted.
func (r Endpoints) Live(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	return r.those(ctx, tenantID, endpoint.Endpoint.Live)
}

// Deleted returns the others.
func (r Endpoints) Deleted(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	return r.those(ctx, tenantID, func(e endpoint.Endpoint) bool { return !e.Live() })
}

// Subscriptions returns the ids and events of the tenant's active endpoints.
func (r Endpoints) Subscriptions(ctx context.Context, tenantID string) (all []endpoint.Endpoint, err error) {
	live, err := r.Live(ctx, tenantID)
	for _, e := range live {
		if e.Status == endpoint.Active {
			all = append(all, endpoint.Endpoint{TenantID: e.TenantID, ID: e.ID, Events: e.Events, Status: e.Status})
		}
	}
	return all, err
}

func (r Endpoints) those(
	ctx context.Context, tenantID string, wanted func(endpoint.Endpoint) bool,
) (all []endpoint.Endpoint, err error) {
	var broken error
	err = r.one(ctx, readEndpoints, tenantID, func() {
		for _, e := range r.model.of(tenantID) {
			if !wanted(e) {
				continue
			}
			if r.model.broken[brokenEndpoint+e.ID] {
				broken = errors.Join(broken, unreadable(e.ID))
				continue
			}
			all = append(all, bare(e))
		}
	})
	if err != nil {
		return nil, err
	}
	return all, broken
}

// subscriberRows is how many rows a call of Subscribers reads at most. It is small, so that tests have several pages.
const subscriberRows = 7

// Subscribers returns live endpoints of all tenants that wanted takes. It is never behind.
func (r Endpoints) Subscribers(
	ctx context.Context, wanted func(dynamo.Subscriber) bool, limit int, cursor string,
) (found []dynamo.Subscriber, next string, err error) {
	var rows paged[string]
	err = r.one(ctx, readEndpoints, "all tenants", func() {
		rows = cut(slices.Sorted(maps.Keys(r.model.Endpoints)), subscriberRows, cursor)
		next = rows.next
		for _, id := range rows.page {
			s, live := r.model.subscriber(id)
			if !live || !wanted(s) {
				continue
			}
			found = append(found, s)
			if len(found) == limit {
				next = behindKey + id
				return
			}
		}
	})
	if err = cmp.Or(err, rows.err); err != nil {
		return nil, "", err
	}
	return found, next, nil
}

// subscriber is what Subscribers shows of a row.
func (m *Model) subscriber(id string) (s dynamo.Subscriber, live bool) {
	e := m.Endpoints[id]
	s.EndpointKey = dynamo.EndpointKey{TenantID: e.TenantID, EndpointID: id}
	if m.broken[brokenEndpoint+id] {
		s.Err = unreadable(id)
	} else {
		s.Status, s.Events = e.Status, e.Events
	}
	return s, e.Live()
}

// of are a tenant's rows, by id.
func (m *Model) of(tenantID string) (all []endpoint.Endpoint) {
	for _, id := range slices.Sorted(maps.Keys(m.Endpoints)) {
		if e := m.Endpoints[id]; e.TenantID == tenantID {
			all = append(all, e)
		}
	}
	return all
}
