package model

import (
	"cmp"
	"context"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Marks returns the marks of a tenant and of its endpoints.
func (r Endpoints) Marks(ctx context.Context, tenantID string) (endpoint.TenantMarks, error) {
	marks, err := asked(ctx, r.Process, readEndpoints, "marks#"+tenantID, func() endpoint.TenantMarks {
		return r.model.marksOf(tenantID)
	})
	if err == nil && r.model.readable(brokenMarks+tenantID) != nil {
		return endpoint.TenantMarks{}, unreadable(tenantID)
	}
	return marks, err
}

// marksOf are a tenant's marks, as they are stored.
func (m *Model) marksOf(tenantID string) endpoint.TenantMarks {
	marks := endpoint.TenantMarks{Tenant: m.Stops[tenantID], Endpoints: map[string]endpoint.Marks{}}
	for key, left := range m.Left {
		if key.TenantID == tenantID {
			marks.Endpoints[key.EndpointID] = left
		}
	}
	for _, e := range m.of(tenantID) {
		if e.Marks != (endpoint.Marks{}) {
			marks.Endpoints[e.ID] = e.Marks
		}
	}
	return marks
}

// marksFor are the marks that hold for an endpoint. Those of its tenant's other endpoints hold at a site alone. Without
// one, a simulation need not look through them for each delivery.
func (m *Model) marksFor(e endpoint.Endpoint) endpoint.Marks {
	if e.Site == "" {
		own := map[string]endpoint.Marks{e.ID: e.Marks}
		return endpoint.TenantMarks{Tenant: m.Stops[e.TenantID], Endpoints: own}.Of(e)
	}
	return m.marksOf(e.TenantID).Of(e)
}

// Mark changes the marks of an endpoint, or of a tenant, where change says that there is anything to change.
func (r Endpoints) Mark(
	ctx context.Context, key dynamo.EndpointKey, change func(*endpoint.Marks) bool,
) (changed bool, marks endpoint.Marks, err error) {
	m := r.model
	if m.readable(brokenMarks+key.TenantID) != nil {
		return false, marks, unreadable(key.TenantID)
	}
	err = r.one(ctx, writeEndpoints, cmp.Or(key.EndpointID, key.TenantID), func() {
		if key.EndpointID == "" {
			marks = m.Stops[key.TenantID]
			changed = change(&marks)
			if changed {
				marks = keptMarks(marks)
				m.Stops[key.TenantID] = marks
			}
			return
		}
		e, found := m.Endpoints[key.EndpointID]
		if !found {
			marks, changed = m.markLeft(key, change)
			return
		}
		marks = e.Marks
		changed = change(&marks)
		if changed {
			marks = keptMarks(marks)
			e.Marks = marks
			m.Endpoints[key.EndpointID] = e
		}
	})
	return changed && err == nil, marks, err
}

// markLeft changes marks that have outlasted their endpoint.
func (m *Model) markLeft(key dynamo.EndpointKey, change func(*endpoint.Marks) bool) (endpoint.Marks, bool) {
	marks := m.Left[key]
	changed := change(&marks)
	delete(m.Left, key)
	if marks.Carries() {
		m.Left[key] = keptMarks(marks)
	}
	return marks, changed
}

// keptMarks are marks as the table keeps them: their times in milliseconds.
func keptMarks(m endpoint.Marks) endpoint.Marks {
	inMillis(&m.PausedAt, &m.ResumedAt, &m.DiscardedBefore, &m.ReleasedAt, &m.LimitedAt)
	return m
}
