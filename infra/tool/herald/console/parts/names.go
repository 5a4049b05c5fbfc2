package parts

import (
	"cmp"
	"strings"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// Endpoint is what an endpoint is called, as far as it is known. An empty ID means that there is no endpoint.
type Endpoint struct{ TenantID, ID, Description, Host string }

// Named is what an endpoint is called.
func Named(e api.Endpoint) Endpoint {
	host, _, _ := strings.Cut(strings.TrimPrefix(e.URL, "https://"), "/")
	return Endpoint{e.TenantID, e.EndpointID, e.Description, host}
}

// Listed is what an endpoint of a list is called.
func Listed(e api.ListedEndpoint) Endpoint {
	return Endpoint{e.TenantID, e.EndpointID, e.Description, e.Host}
}

// OfCause is the endpoint of a cause of death.
func OfCause(c api.Cause) Endpoint { return Endpoint{c.TenantID, c.EndpointID, c.Description, c.Host} }

// ofLetter is the endpoint of a dead letter.
func ofLetter(l api.DeadLetter) Endpoint {
	return Endpoint{l.TenantID, l.EndpointID, l.Description, l.Host}
}

// Name is an endpoint's name: its description, or else its host, or else its id.
func (e Endpoint) Name() string { return cmp.Or(e.Description, e.Host, e.ID) }

// EndpointLink leads to the page of an endpoint.
func (s Site) EndpointLink(e Endpoint) string {
	return s.Link("/endpoint", "endpoint_id", e.ID, "tenant_id", e.TenantID)
}
