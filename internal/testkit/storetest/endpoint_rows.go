package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	mathrand "math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Endpoints is the store of endpoints, with their tenants' counts and marks.
type Endpoints interface {
	Get(ctx context.Context, tenantID, endpointID string) (e endpoint.Endpoint, found bool, err error)
	Subscriptions(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
	Live(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
	Deleted(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
	List(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
	Create(ctx context.Context, e endpoint.Endpoint, check dynamo.Check) error
	Readdress(ctx context.Context, was, now endpoint.Endpoint, check dynamo.Check) error
	Replace(ctx context.Context, was, now endpoint.Endpoint) error
	Surplus(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
	Prune(ctx context.Context, surplus []endpoint.Endpoint) error
	About(ctx context.Context, all ...endpoint.Endpoint) ([]endpoint.Endpoint, error)
	Marks(ctx context.Context, tenantID string) (endpoint.TenantMarks, error)
	Subscribers(
		ctx context.Context, wanted func(dynamo.Subscriber) bool, limit int, cursor string,
	) (found []dynamo.Subscriber, next string, err error)
	Mark(
		ctx context.Context, key dynamo.EndpointKey, change func(*endpoint.Marks) bool,
	) (changed bool, marks endpoint.Marks, err error)
}

// Endpoint is a new endpoint of a tenant, with a revision that no other has.
func Endpoint(tenant string, created time.Time) endpoint.Endpoint {
	return endpoint.Endpoint{
		ID: endpoint.NewID(created), TenantID: tenant, URL: "https://example.com/hooks", Status: endpoint.Active,
		Events:    []string{"user.*", "organization.created"},
		CreatedAt: created, UpdatedAt: created, SecretVersion: 1, SealedSecret: []byte("sealed"), RateLimit: 10,
		Revision: rand.Text(),
	}
}

// prune deletes deleted endpoints for good.
func prune(t testing.TB, b Backend, surplus ...endpoint.Endpoint) {
	t.Helper()
	if err := b.Endpoints.Prune(t.Context(), surplus); err != nil {
		t.Fatal(err)
	}
}

// gone returns e as it is after its deletion at the time, same as another request stores it without a change, and back
// as it is restored.
func gone(e endpoint.Endpoint, at time.Time) endpoint.Endpoint {
	e.Status = endpoint.Deleted
	e.DeletedAt = at
	e.UpdatedAt = at
	e.Revision = rand.Text()
	return e
}

func same(e endpoint.Endpoint) endpoint.Endpoint {
	e.Revision = rand.Text()
	return e
}

func back(e endpoint.Endpoint) endpoint.Endpoint {
	e.Status = endpoint.Active
	e.DeletedAt = time.Time{}
	e.Revision = rand.Text()
	return e
}

func create(t testing.TB, b Backend, tenant string, created time.Time) endpoint.Endpoint {
	t.Helper()
	e := Endpoint(tenant, created)
	if err := b.Endpoints.Create(t.Context(), e, nil); err != nil {
		t.Fatal(err)
	}
	return e
}

func replace(t testing.TB, b Backend, was, now endpoint.Endpoint) endpoint.Endpoint {
	t.Helper()
	if err := b.Endpoints.Replace(t.Context(), was, now); err != nil {
		t.Fatal(err)
	}
	return now
}

func wantEndpoint(t testing.TB, b Backend, doing string, want endpoint.Endpoint) {
	t.Helper()
	got, found, err := b.Endpoints.Get(t.Context(), want.TenantID, want.ID)
	want.About = endpoint.About{} // in a row of its own
	if diff := cmp.Diff(want, got); err != nil || !found || diff != "" {
		t.Errorf("%s: %v, %v (-want +got):\n%s", doing, found, err, diff)
	}
}

// wantLive are acme's endpoints that are not deleted, and all.
func wantLive(t testing.TB, b Backend, live, all int) {
	t.Helper()
	listed, err := b.Endpoints.List(t.Context(), "acme")
	alive, failed := b.Endpoints.Live(t.Context(), "acme")
	deleted, failedToo := b.Endpoints.Deleted(t.Context(), "acme")
	if err = errors.Join(err, failed, failedToo); err != nil {
		t.Fatal(err)
	}
	if len(alive) != live || len(listed) != all || len(deleted) != all-live {
		t.Errorf("%d live, %d deleted and %d in all, want %d of %d", len(alive), len(deleted), len(listed), live, all)
	}
}

// patiently makes a change until other endpoints' changes are no longer in its way.
func patiently(change func() error) (err error) {
	for range 1000 {
		if err = change(); !errors.Is(err, dynamo.ErrBusy) {
			return err
		}
		time.Sleep(time.Duration(mathrand.N(20)) * time.Millisecond)
	}
	return err
}

// steps are an endpoint's states, each with the one before.
func steps(states ...endpoint.Endpoint) iter.Seq2[endpoint.Endpoint, endpoint.Endpoint] {
	return func(yield func(was, now endpoint.Endpoint) bool) {
		for n := 1; n < len(states); n++ {
			if !yield(states[n-1], states[n]) {
				return
			}
		}
	}
}

func free([]endpoint.Endpoint) error { return nil }
