package stack

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// Tenant is a tenant, with its keys and the acts about it. These are asked elsewhere and need rights of their own, so
// each may be missing alone.
type Tenant struct {
	answers.Answer[api.Tenant]

	// Nothing but keys and acts is there. The answer is empty.
	Bare bool

	Keys    answers.List[api.Key]
	KeysErr error

	Acts    TenantActs
	ActsErr error

	// Changes by keys are looked at since then: the tenant's own keys made all of its endpoints at some time.
	Since time.Time
}

// ChangesOf is how long ago a key may have been stolen, where the operator does not say since when.
const ChangesOf = 7 * 24 * time.Hour

// Changes are what the tenant's keys changed since then.
func (t Tenant) Changes() []KeyChange {
	return KeyChanges(slices.DeleteFunc(slices.Clone(t.Acts.Acts), func(a Act) bool { return a.At.Before(t.Since) }))
}

// TenantTrail reads the acts about a tenant ([Trail]).
type TenantTrail interface {
	OfTenant(ctx context.Context, tenantID string, now time.Time) (TenantActs, error)
}

// Incomplete reports whether keys that can be used, or changes by keys since then, may be missing.
func (t Tenant) Incomplete() bool {
	return t.KeysErr != nil || t.ActsErr != nil || t.Acts.More || t.Acts.From.After(t.Since)
}

// ReadTenant reads a tenant, its keys and, with a trail, its acts at the same time. It fails where nothing is stored
// under the id, and where what is stored cannot be read.
func ReadTenant(
	ctx context.Context, functions Functions, trail TenantTrail, tenantID string, now time.Time,
) (t Tenant, err error) {
	if !event.ValidTenantID(tenantID) { // the function says so, and nothing else is asked
		_, err = Ask(ctx, functions, api.GetTenant, api.TenantRequest{TenantID: tenantID})
		return t, err
	}
	parts := []func(){
		func() { t.Answer, err = Ask(ctx, functions, api.GetTenant, api.TenantRequest{TenantID: tenantID}) },
		func() {
			t.Keys, t.KeysErr = All(ctx, functions, api.ListKeys, mostKeys, func(p api.Page) api.KeysRequest {
				return api.KeysRequest{Page: p, TenantID: tenantID}
			})
		},
	}
	if trail != nil {
		parts = append(parts, func() { t.Acts, t.ActsErr = trail.OfTenant(ctx, tenantID, now) })
	}
	parallel.Each(len(parts), len(parts), func(n int) error { parts[n](); return nil })
	if errors.Is(err, api.ErrNotFound) && len(t.Keys.Data)+len(t.Acts.Acts) > 0 {
		t.Bare, err = true, nil
		t.Fields.TenantID = tenantID
	}
	t.Since = now.Add(-ChangesOf)
	return t, err
}

// GoodKeys are the keys that are not revoked.
func (t Tenant) GoodKeys() (n int) {
	for _, k := range t.Keys.Data {
		if k.RevokedAt.IsZero() {
			n++
		}
	}
	return n
}

// ToPause are the endpoints that the tenant's keys have made, restored or moved since then, except those that are
// deleted, or that an operator has paused one by one. A pause of the tenant stops them as well, until it is resumed.
func (t Tenant) ToPause() (ids []string) {
	endpoints := t.Fields.Endpoints
	for _, id := range Elsewhere(t.Changes()) {
		at := slices.IndexFunc(endpoints.Data, func(e api.ListedEndpoint) bool { return e.EndpointID == id })
		if at < 0 && endpoints.More || at >= 0 && !endpoints.Data[at].EndpointPaused {
			ids = append(ids, id)
		}
	}
	return ids
}
