package model

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// keptEndpoint is a row as the table keeps it: its times in milliseconds.
func keptEndpoint(e endpoint.Endpoint) endpoint.Endpoint {
	inMillis(&e.CreatedAt, &e.UpdatedAt, &e.DeletedAt, &e.SecretRotatedAt, &e.SitedAt)
	return e
}

// set is the change of an endpoint: was it is read, now it is written. seen are the changes of the tenant's URLs before
// the check of one; nil: none is checked.
type set struct {
	was, now endpoint.Endpoint
	seen     *int
	most     int // live endpoints of the tenant
}

// Create stores a new endpoint that check allows.
func (r Endpoints) Create(ctx context.Context, e endpoint.Endpoint, check dynamo.Check) error {
	return r.readdress(ctx, endpoint.Endpoint{Status: endpoint.Deleted}, e, check)
}

// Readdress replaces an endpoint by a live one with a new URL that check allows.
func (r Endpoints) Readdress(ctx context.Context, was, now endpoint.Endpoint, check dynamo.Check) error {
	return r.readdress(ctx, was, now, check)
}

// Replace stores now in place of was, which must still be stored.
func (r Endpoints) Replace(ctx context.Context, was, now endpoint.Endpoint) error {
	return r.set(ctx, set{was: was, now: now})
}

func (r Endpoints) readdress(ctx context.Context, was, now endpoint.Endpoint, check dynamo.Check) error {
	if check == nil {
		return r.set(ctx, set{was: was, now: now})
	}
	var live []endpoint.Endpoint
	seen, err := asked(ctx, r.Process, readEndpoints, now.TenantID, func() int {
		for _, e := range r.model.of(now.TenantID) {
			if e.Live() {
				live = append(live, endpoint.Endpoint{
					TenantID: e.TenantID, ID: e.ID, Status: e.Status, URL: e.URL, OAuth: e.OAuth,
				})
			}
		}
		return r.model.urls[now.TenantID]
	})
	if err != nil {
		return err
	}
	if err := check(live); err != nil {
		return err
	}
	return r.set(ctx, set{was: was, now: now, seen: &seen})
}

func (r Endpoints) set(ctx context.Context, s set) error {
	s.most = cmp.Or(r.most, endpoint.MaxLive)
	refusal, err := asked(ctx, r.Process, writeEndpoints, s.now.ID, func() error {
		m := r.model
		refusal := m.refusal(s)
		stored := m.Endpoints[s.now.ID]
		if refusal != nil && reflect.DeepEqual(bare(stored), bare(keptEndpoint(s.now))) {
			return nil // a repeated call is no refusal
		}
		if refusal == nil {
			now := keptEndpoint(s.now)
			now.Marks = stored.Marks
			if !now.Retells(s.was) {
				now.About = stored.About
			}
			m.Endpoints[now.ID] = now
			if s.seen != nil {
				m.urls[now.TenantID]++
			}
		}
		return refusal
	})
	return cmp.Or(err, refusal)
}

// refusal says why a change is refused, in the order of the writes of DynamoDB's transaction: the row has changed, the
// tenant has too many, another URL was set, the old row has changed.
func (m *Model) refusal(s set) error {
	stored, found := m.Endpoints[s.now.ID]
	replaces := found && stored.Live() == s.was.Live() && stored.Revision == s.was.Revision
	appears := s.now.Live() && !s.was.Live()
	if appears {
		return m.refusedToAppear(s, found && stored.Live(), replaces)
	}
	switch {
	case !replaces:
		return dynamo.ErrConflict
	case m.overtaken(s):
		return dynamo.ErrBusy
	}
	return nil
}

func (m *Model) refusedToAppear(s set, there, replaces bool) error {
	switch {
	case there:
		return dynamo.ErrConflict
	case m.live(s.now.TenantID) >= s.most:
		return dynamo.ErrLimit
	case m.overtaken(s):
		return dynamo.ErrBusy
	case s.was.ID != "" && !replaces:
		return dynamo.ErrConflict
	}
	return nil
}

// overtaken reports whether the URL of another endpoint was set since the check.
func (m *Model) overtaken(s set) bool { return s.seen != nil && *s.seen != m.urls[s.now.TenantID] }

func (m *Model) live(tenantID string) (n int) {
	for _, e := range m.of(tenantID) {
		if e.Live() {
			n++
		}
	}
	return n
}

// Surplus returns the longest deleted endpoints of the tenant beyond those that are kept.
func (r Endpoints) Surplus(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	return asked(ctx, r.Process, readEndpoints, tenantID, func() []endpoint.Endpoint {
		return endpoint.Surplus(slices.DeleteFunc(r.model.of(tenantID), endpoint.Endpoint.Live))
	})
}

// Prune removes endpoints that Surplus has returned.
func (r Endpoints) Prune(ctx context.Context, surplus []endpoint.Endpoint) error {
	for _, seen := range surplus {
		if err := r.prune(ctx, seen); err != nil {
			return err
		}
	}
	return nil
}

// prune removes a row, unless it was restored since.
func (r Endpoints) prune(ctx context.Context, seen endpoint.Endpoint) error {
	return r.one(ctx, writeEndpoints, seen.ID, func() {
		if r.model.Endpoints[seen.ID].Revision == seen.Revision {
			if stored := r.model.Endpoints[seen.ID]; stored.Marks.Carries() {
				r.model.Left[dynamo.EndpointKey{TenantID: stored.TenantID, EndpointID: seen.ID}] = stored.Marks
			}
			delete(r.model.Endpoints, seen.ID)
		}
	})
}
