package awsmodel

import (
	"context"
	"maps"
	"slices"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// rows is the table Endpoints as control calls it (dynamo.Endpoints).
type rows struct{ *Process }

// Get reads a row, also of a deleted endpoint.
func (r rows) Get(ctx context.Context, tenantID, id string) (e endpoint.Endpoint, found bool, err error) {
	err = r.one(ctx, "Read Endpoints", id, func() { e, found = r.model.Endpoints[id] })
	return e, found && e.TenantID == tenantID && err == nil, err
}

func (r rows) List(ctx context.Context, tenantID string) (all []endpoint.Endpoint, err error) {
	return asked(ctx, r.Process, "Read Endpoints", tenantID, func() (all []endpoint.Endpoint) {
		for _, id := range slices.Sorted(maps.Keys(r.model.Endpoints)) {
			if e := r.model.Endpoints[id]; e.TenantID == tenantID {
				all = append(all, e)
			}
		}
		return all
	})
}

func (r rows) Marks(ctx context.Context, tenantID string) (endpoint.TenantMarks, error) {
	return asked(ctx, r.Process, "Read Endpoints", tenantID, func() endpoint.TenantMarks {
		marks := endpoint.TenantMarks{Tenant: r.model.Stops[tenantID], Endpoints: map[string]endpoint.Marks{}}
		for id, e := range r.model.Endpoints {
			marks.Endpoints[id] = e.Marks
		}
		return marks
	})
}

// Mark changes the marks of an endpoint, or of a tenant.
func (r rows) Mark(ctx context.Context, key dynamo.EndpointKey, change func(*endpoint.Marks) bool) (
	changed bool, marks endpoint.Marks, err error,
) {
	m := r.model
	err = r.one(ctx, "Write Endpoints", key.EndpointID, func() {
		if key.EndpointID == "" {
			marks = m.Stops[key.TenantID]
			changed = change(&marks)
			m.Stops[key.TenantID] = marks
			return
		}
		if e, found := m.Endpoints[key.EndpointID]; found {
			changed = change(&e.Marks)
			m.Endpoints[key.EndpointID], marks = e, e.Marks
		}
	})
	return changed && err == nil, marks, err
}

// audited is the audit log as control writes it; nobody reads it here.
type audited struct{ *Process }

func (p audited) Write(ctx context.Context, _ ...audit.Line) error {
	return p.one(ctx, "PutLogEvents", "", func() {})
}
