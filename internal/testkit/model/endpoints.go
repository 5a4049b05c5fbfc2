package model

import (
	"context"
	"maps"
	"slices"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// Endpoints returns the store as the process calls it.
func (p *Process) Endpoints() Endpoints { return Endpoints{p} }

// Endpoints is the table Endpoints as control calls it (dynamo.Endpoints).
type Endpoints struct{ *Process }

// Get reads a row, also of a deleted endpoint.
func (r Endpoints) Get(ctx context.Context, tenantID, id string) (e endpoint.Endpoint, found bool, err error) {
	err = r.one(ctx, "Read Endpoints", id, func() { e, found = r.model.Endpoints[id] })
	return e, found && e.TenantID == tenantID && err == nil, err
}

// List returns a tenant's rows, the deleted ones too.
func (r Endpoints) List(ctx context.Context, tenantID string) (all []endpoint.Endpoint, err error) {
	return asked(ctx, r.Process, "Read Endpoints", tenantID, func() (all []endpoint.Endpoint) {
		for _, id := range slices.Sorted(maps.Keys(r.model.Endpoints)) {
			if e := r.model.Endpoints[id]; e.TenantID == tenantID {
				all = append(all, e)
			}
		}
		return all
	})
}

// Marks returns the marks of a tenant and of its endpoints.
func (r Endpoints) Marks(ctx context.Context, tenantID string) (endpoint.TenantMarks, error) {
	return asked(ctx, r.Process, "Read Endpoints", tenantID, func() endpoint.TenantMarks {
		marks := endpoint.TenantMarks{Tenant: r.model.Stops[tenantID], Endpoints: map[string]endpoint.Marks{}}
		for id, e := range r.model.Endpoints {
			marks.Endpoints[id] = e.Marks
		}
		return marks
	})
}

// Mark changes the marks of an endpoint, or of a tenant.
func (r Endpoints) Mark(ctx context.Context, key dynamo.EndpointKey, change func(*endpoint.Marks) bool) (
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

// Audit returns it as the process calls it.
func (p *Process) Audit() Audit { return Audit{p} }

// Audit is the audit log as control writes it; nobody reads it here.
type Audit struct{ *Process }

func (p Audit) Write(ctx context.Context, _ ...audit.Line) error {
	return p.one(ctx, "PutLogEvents", "", func() {})
}
