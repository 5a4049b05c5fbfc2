package operator

import (
	"context"

	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
)

// Directory finds endpoints for operators, with all that stands between them and their deliveries.
type Directory struct {
	Endpoints interface {
		Get(ctx context.Context, tenantID, endpointID string) (e endpoint.Endpoint, found bool, err error)
	}
	Health interface {
		Get(ctx context.Context, endpointID string) (health.Item, error)
		GetTenant(ctx context.Context, tenantID string) (health.Item, error)
	}
}

// Found is an endpoint, deleted or not, and its health. The items in View have their names even
// where nothing is stored.
type Found struct {
	Endpoint endpoint.Endpoint
	View     health.View
}

// Find returns the endpoint, or a Refusal. Endpoints are kept by tenant: tenantID may be left out
// only where the endpoint's health says whose it is, which is where it is in trouble.
func (d Directory) Find(ctx context.Context, tenantID, endpointID string) (Found, error) {
	if err := Required("endpoint_id", endpointID); err != nil {
		return Found{}, err
	}
	item, err := d.Health.Get(ctx, endpointID)
	if err != nil {
		return Found{}, err
	}
	switch {
	case tenantID == "" && item.TenantID == "":
		return Found{}, Refuse(CodeInvalidField, "tenant_id",
			"is required: the endpoint is not in trouble, so only its tenant leads to it")
	case tenantID == "":
		tenantID = item.TenantID
	case item.TenantID != "":
		if err := CheckTenant(tenantID, item.TenantID); err != nil {
			return Found{}, err
		}
	}
	e, found, err := d.Endpoints.Get(ctx, tenantID, endpointID)
	if err != nil {
		return Found{}, err
	}
	if !found {
		return Found{}, Refuse(CodeNotFound, "endpoint_id", "the tenant has no endpoint with this id")
	}
	tenant, err := d.Health.GetTenant(ctx, tenantID)
	if err != nil {
		return Found{}, err
	}
	item.TenantID, item.EndpointID = tenantID, endpointID
	return Found{
		Endpoint: e,
		View:     health.View{TenantID: tenantID, EndpointID: endpointID, Endpoint: item, Tenant: tenant},
	}, nil
}

// The states that are shown beside those of package health.
const (
	StatePaused  = "paused"
	StateHealthy = "healthy"
)

// State is how an endpoint or a tenant stands: a pause hides the state under it.
func State(i health.Item) string {
	switch {
	case i.Paused:
		return StatePaused
	case i.State == health.None:
		return StateHealthy
	}
	return string(i.State)
}
