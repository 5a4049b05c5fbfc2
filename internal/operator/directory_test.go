package operator_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/operator"
)

var pausedAt = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// shelf is a tenant, paused, with two endpoints, of which one is in trouble.
type shelf struct{ endpointErr, circuitErr, marksErr error }

func (s shelf) Get(_ context.Context, tenantID, endpointID string) (endpoint.Endpoint, bool, error) {
	known := tenantID == "acme" && (endpointID == "webhook_1" || endpointID == "webhook_ill")
	return endpoint.Endpoint{ID: endpointID, TenantID: tenantID}, known, s.endpointErr
}

// List has two endpoints of one host, and one that was deleted.
func (s shelf) List(_ context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	return []endpoint.Endpoint{
		{ID: "webhook_1", TenantID: tenantID, URL: "https://a.example/x", Description: "orders"},
		{ID: "webhook_ill", TenantID: tenantID, URL: "https://a.example/y", Description: "invoices"},
		{ID: "webhook_old", TenantID: tenantID, URL: "https://a.example", Description: "orders", Status: endpoint.Deleted},
		{ID: "webhook_2", TenantID: tenantID, URL: "https://b.example"},
	}, s.endpointErr
}

func (s shelf) Marks(context.Context, string) (endpoint.TenantMarks, error) {
	return endpoint.TenantMarks{
		Tenant: endpoint.Marks{PausedAt: pausedAt}, Endpoints: map[string]endpoint.Marks{"webhook_ill": {PausedBy: "ann"}},
	}, s.marksErr
}

type circuits struct{ shelf }

func (s circuits) Get(_ context.Context, endpointID string) (circuit.Item, error) {
	if endpointID == "webhook_ill" || endpointID == "webhook_purged" {
		return circuit.Item{TenantID: "acme", EndpointID: endpointID, Version: 3, State: circuit.Open}, s.circuitErr
	}
	return circuit.Item{EndpointID: endpointID}, s.circuitErr
}

func find(t *testing.T, s shelf, tenantID, endpointID string) (operator.Found, error) {
	t.Helper()
	return operator.Directory{Endpoints: s, Circuits: circuits{s}}.Find(t.Context(), tenantID, endpointID)
}

func TestDirectory_Find(t *testing.T) {
	ill := circuit.Item{TenantID: "acme", EndpointID: "webhook_ill", Version: 3, State: circuit.Open}
	for name, row := range map[string]struct {
		tenantID, endpointID string
		item                 circuit.Item
	}{
		"a healthy endpoint of a tenant": {"acme", "webhook_1", circuit.Item{TenantID: "acme", EndpointID: "webhook_1"}},
		"one in trouble":                 {"acme", "webhook_ill", ill},
		"one in trouble, by its id":      {"", "webhook_ill", ill},
	} {
		t.Run(name, func(t *testing.T) {
			want := operator.Found{
				Endpoint: endpoint.Endpoint{ID: row.endpointID, TenantID: "acme"}, Tenant: endpoint.Marks{PausedAt: pausedAt},
				Circuit: row.item,
			}
			if row.endpointID == "webhook_ill" {
				want.Endpoint.Marks.PausedBy = "ann"
			}
			got, err := find(t, shelf{}, row.tenantID, row.endpointID)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestDirectory_Find_refuses(t *testing.T) {
	for name, row := range map[string]struct{ tenantID, endpointID, code, field string }{
		"no endpoint":                 {"acme", "", operator.CodeInvalidField, "endpoint_id"},
		"a healthy one by its id":     {"", "webhook_1", operator.CodeInvalidField, "tenant_id"},
		"another tenant's in trouble": {"other", "webhook_ill", operator.CodeTenantMismatch, "tenant_id"},
		"another tenant's":            {"other", "webhook_1", operator.CodeNotFound, "endpoint_id"},
		"one that was purged":         {"acme", "webhook_purged", operator.CodeNotFound, "endpoint_id"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := find(t, shelf{}, row.tenantID, row.endpointID)
			var refusal *operator.Refusal
			if !errors.As(err, &refusal) || refusal.Code != row.code || refusal.Field != row.field {
				t.Errorf("got %v, want %s of %s", err, row.code, row.field)
			}
		})
	}
	for _, s := range []shelf{{endpointErr: endpoint.ErrUnreadable}, {marksErr: endpoint.ErrUnreadable}} {
		found, err := find(t, s, "acme", "webhook_1")
		if err != nil || found.State() != "unreadable" || found.Endpoint.ID != "webhook_1" || !found.Since().IsZero() {
			t.Errorf("what is unreadable is %+v, %v", found, err)
		}
	}
	fault := errors.New("ThrottlingException")
	for _, s := range []shelf{{endpointErr: fault}, {circuitErr: fault}, {marksErr: fault}} {
		if _, err := find(t, s, "acme", "webhook_1"); !errors.Is(err, fault) {
			t.Errorf("a fault is %v", err)
		}
	}
}

func TestFound_State_hidesTheCircuitUnderAStop(t *testing.T) {
	at := func(hours int) time.Time { return pausedAt.Add(time.Duration(hours) * time.Hour) }
	open := circuit.Item{State: circuit.Open, Since: at(3)}
	paused := endpoint.Marks{PausedAt: at(1)}
	for name, row := range map[string]struct {
		found operator.Found
		state string
		since time.Time
	}{
		"healthy": {operator.Found{Endpoint: endpoint.Endpoint{Status: endpoint.Active}}, "healthy", time.Time{}},
		"open":    {operator.Found{Endpoint: endpoint.Endpoint{Status: endpoint.Active}, Circuit: open}, "open", at(3)},
		"disabled and open": {operator.Found{
			Endpoint: endpoint.Endpoint{Status: endpoint.Disabled, UpdatedAt: at(2)}, Circuit: open}, "disabled", at(2)},
		"paused, disabled and open": {operator.Found{
			Endpoint: endpoint.Endpoint{Status: endpoint.Disabled, Marks: paused}, Circuit: open}, "paused", at(1)},
		"of a paused tenant": {operator.Found{
			Endpoint: endpoint.Endpoint{Status: endpoint.Active}, Tenant: endpoint.Marks{PausedAt: at(4)}}, "paused", at(4)},
		"deleted and paused": {operator.Found{
			Endpoint: endpoint.Endpoint{Status: endpoint.Deleted, DeletedAt: at(5), Marks: paused}}, "deleted", at(5)},
	} {
		t.Run(name, func(t *testing.T) {
			if row.found.State() != row.state || !row.found.Since().Equal(row.since) {
				t.Errorf("%s since %s, want %s since %s", row.found.State(), row.found.Since(), row.state, row.since)
			}
		})
	}
}

func TestDirectory_Find_byHostOrDescription(t *testing.T) {
	for name, want := range map[string]string{
		"orders":   "webhook_1",
		"invoices": "webhook_ill",
		"A.example": "invalid_field endpoint_id: give the id, since several match: webhook_1 a.example orders; " +
			"webhook_ill a.example invoices",
		"c.example": "not_found endpoint_id: the tenant has no endpoint with this id, host or description",
	} {
		found, err := find(t, shelf{}, "acme", name)
		got := found.Endpoint.ID
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s finds %s, want %s", name, got, want)
		}
	}
	var refused *operator.Refusal
	if _, err := find(t, shelf{}, "", "orders"); !errors.As(err, &refused) || refused.Field != "tenant_id" {
		t.Errorf("without a tenant: %v", err)
	}
}
