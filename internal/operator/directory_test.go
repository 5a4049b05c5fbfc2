package operator_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/operator"
)

// shelf is a tenant with two endpoints, of which one is in trouble.
type shelf struct{ endpointErr, healthErr, tenantErr error }

func (s shelf) endpoint(_ context.Context, tenantID, endpointID string) (endpoint.Endpoint, bool, error) {
	known := tenantID == "acme" && (endpointID == "webhook_1" || endpointID == "webhook_ill")
	return endpoint.Endpoint{ID: endpointID, TenantID: tenantID}, known, s.endpointErr
}

func (s shelf) Get(_ context.Context, endpointID string) (health.Item, error) {
	if endpointID == "webhook_ill" || endpointID == "webhook_purged" {
		return health.Item{TenantID: "acme", EndpointID: endpointID, Version: 3, State: health.Open}, s.healthErr
	}
	return health.Item{EndpointID: endpointID}, s.healthErr
}

func (s shelf) GetTenant(_ context.Context, tenantID string) (health.Item, error) {
	return health.Item{TenantID: tenantID, Version: 1, Paused: true}, s.tenantErr
}

type shelved struct{ shelf }

func (s shelved) Get(ctx context.Context, tenantID, endpointID string) (endpoint.Endpoint, bool, error) {
	return s.endpoint(ctx, tenantID, endpointID)
}

func find(t *testing.T, s shelf, tenantID, endpointID string) (operator.Found, error) {
	t.Helper()
	return operator.Directory{Endpoints: shelved{s}, Health: s}.Find(t.Context(), tenantID, endpointID)
}

func TestDirectory_Find_namesEveryItem(t *testing.T) {
	paused := health.Item{TenantID: "acme", Version: 1, Paused: true}
	for name, row := range map[string]struct {
		tenantID, endpointID string
		item                 health.Item
	}{
		"a healthy one of a tenant": {"acme", "webhook_1", health.Item{}},
		"one in trouble":            {"acme", "webhook_ill", health.Item{Version: 3, State: health.Open}},
		"one in trouble, by its id": {"", "webhook_ill", health.Item{Version: 3, State: health.Open}},
	} {
		row.item.TenantID, row.item.EndpointID = "acme", row.endpointID
		want := operator.Found{
			Endpoint: endpoint.Endpoint{ID: row.endpointID, TenantID: "acme"},
			View:     health.View{TenantID: "acme", EndpointID: row.endpointID, Endpoint: row.item, Tenant: paused},
		}
		got, err := find(t, shelf{}, row.tenantID, row.endpointID)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestDirectory_Find_refuses(t *testing.T) {
	for name, row := range map[string]struct{ tenantID, endpointID, want string }{
		"no endpoint":                   {"acme", "", "invalid_field endpoint_id"},
		"a healthy one of nobody":       {"", "webhook_1", "invalid_field tenant_id"},
		"one that does not exist":       {"acme", "webhook_9", "not_found endpoint_id"},
		"one that is gone, with a past": {"acme", "webhook_purged", "not_found endpoint_id"},
		"another tenant's":              {"other", "webhook_1", "not_found endpoint_id"},
		"another tenant's, in trouble":  {"other", "webhook_ill", "tenant_mismatch tenant_id"},
	} {
		_, err := find(t, shelf{}, row.tenantID, row.endpointID)
		var refusal *operator.Refusal
		if !errors.As(err, &refusal) || refusal.Code+" "+refusal.Field != row.want {
			t.Errorf("%s: %v, want %s", name, err, row.want)
		}
	}
}

func TestDirectory_Find_takesNothingUnreadForHealthy(t *testing.T) {
	unread := errors.New("ThrottlingException")
	for name, s := range map[string]shelf{
		"endpoint": {endpointErr: unread}, "health": {healthErr: unread}, "tenant": {tenantErr: unread},
	} {
		if _, err := find(t, s, "acme", "webhook_1"); !errors.Is(err, unread) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestState_showsThePauseBeforeTheStateUnderIt(t *testing.T) {
	got := map[string]string{}
	for _, i := range []health.Item{
		{}, {State: health.Open}, {State: health.Open, Paused: true}, {Paused: true}, {State: health.Recovering, Held: true},
	} {
		got[string(i.State)+map[bool]string{true: " paused"}[i.Paused]] = operator.State(i)
	}
	want := map[string]string{
		"": "healthy", "open": "open", "open paused": "paused", " paused": "paused", "recovering": "recovering",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}
