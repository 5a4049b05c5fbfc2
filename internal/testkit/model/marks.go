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
		marks := endpoint.TenantMarks{Tenant: r.model.Stops[tenantID], Endpoints: map[string]endpoint.Marks{}}
		for _, e := range r.model.of(tenantID) {
			if e.Marks != (endpoint.Marks{}) {
				marks.Endpoints[e.ID] = e.Marks
			}
		}
		return marks
	})
	if err == nil && r.model.readable(brokenMarks+tenantID) != nil {
		return endpoint.TenantMarks{}, unreadable(tenantID)
	}
	return marks, err
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
		marks = e.Marks
		changed = change(&marks)
		if changed && found {
			marks = keptMarks(marks)
			e.Marks = marks
			m.Endpoints[key.EndpointID] = e
		}
	})
	return changed && err == nil, marks, err
}

// keptMarks are marks as the table keeps them: their times in milliseconds.
func keptMarks(m endpoint.Marks) endpoint.Marks {
	inMillis(&m.PausedAt, &m.ResumedAt, &m.DiscardedBefore, &m.ReleasedAt, &m.LimitedAt)
	return m
}
