package awsmodel

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// rows is the table Endpoints as control calls it (dynamo.Endpoints).
type rows struct{ *Process }

// Get reads a row, also of a deleted endpoint.
func (r rows) Get(ctx context.Context, _, id string) (e endpoint.Endpoint, found bool, err error) {
	err = r.one(ctx, "Read Endpoints", id, func() { e, found = r.model.Endpoints[id] })
	return e, found && err == nil, err
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

func (r rows) Marks(ctx context.Context, tenantID string) (endpoint.Marks, error) {
	return asked(ctx, r.Process, "Read Endpoints", tenantID, func() endpoint.Marks { return r.model.Stops[tenantID] })
}

func (r rows) Pause(
	ctx context.Context, key dynamo.EndpointKey, at time.Time, by, reason string,
) (changed bool, marks endpoint.Marks, err error) {
	return r.mark(ctx, key, func(m *endpoint.Marks) bool {
		changed := m.PausedAt.IsZero()
		if changed {
			m.PausedAt, m.PausedBy, m.PauseReason = at, by, reason
		}
		return changed
	})
}

func (r rows) Resume(ctx context.Context, key dynamo.EndpointKey, at time.Time) (
	changed bool, marks endpoint.Marks, err error,
) {
	return r.mark(ctx, key, func(m *endpoint.Marks) bool {
		changed := !m.PausedAt.IsZero()
		if changed {
			m.PausedAt, m.PausedBy, m.PauseReason, m.ResumedAt = time.Time{}, "", "", at
		}
		return changed
	})
}

func (r rows) Discard(
	ctx context.Context, key dynamo.EndpointKey, before time.Time,
) (changed bool, marks endpoint.Marks, err error) {
	return r.mark(ctx, key, func(m *endpoint.Marks) bool { return later(&m.DiscardedBefore, before) })
}

func (r rows) Release(
	ctx context.Context, key dynamo.EndpointKey, at time.Time,
) (changed bool, marks endpoint.Marks, err error) {
	return r.mark(ctx, key, func(m *endpoint.Marks) bool { return later(&m.ReleasedAt, at) })
}

func later(stored *time.Time, at time.Time) bool {
	if !at.After(*stored) {
		return false
	}
	*stored = at
	return true
}

// mark changes an operator's marks, on a row that exists or the tenant's.
func (r rows) mark(ctx context.Context, key dynamo.EndpointKey, change func(*endpoint.Marks) bool) (
	changed bool, marks endpoint.Marks, err error,
) {
	m := r.model
	err = r.one(ctx, "Write Endpoints", key.EndpointID, func() {
		if key.EndpointID == dynamo.StopsKey {
			marks = m.Stops[key.TenantID]
			changed = change(&marks)
			m.Stops[key.TenantID] = marks
			return
		}
		if e, found := m.row(key.EndpointID); found {
			changed = change(&e.Marks)
			m.Endpoints[key.EndpointID], marks = e, e.Marks
		}
	})
	return changed && err == nil, marks, err
}
