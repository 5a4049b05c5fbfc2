package api

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// The actions that show endpoints.
var (
	// GetEndpoint shows one endpoint and how its deliveries stand.
	GetEndpoint = Action[EndpointRequest, Endpoint]{Inspect, "endpoint"}

	// ListEndpoints lists the endpoints in trouble, in no order, or all of a tenant's.
	ListEndpoints = Action[EndpointsRequest, List[ListedEndpoint]]{Inspect, "endpoints"}
)

// EndpointRequest names one endpoint.
type EndpointRequest struct {
	// The id of the endpoint. With a tenant, a host or a description that no other endpoint of the tenant has will do,
	// unless an endpoint of the tenant is unreadable.
	EndpointID string `json:"endpoint_id"`

	// May be left out if the endpoint is in trouble.
	TenantID string `json:"tenant_id"`

	// Shows the path of the URL. That of a chat product is a secret, so showing it is audited.
	ShowPath bool `json:"show_path"`
}

// Endpoint is one endpoint, and how its deliveries stand.
type Endpoint struct {
	TenantID   string `json:"tenant_id"`
	EndpointID string `json:"endpoint_id"`

	// Without its query. It has its path only if the request asks for it.
	URL         string `json:"url"`
	Description string `json:"description"`

	// Whom its owner wants to be told about it, as the owner wrote it.
	Contact string `json:"contact"`

	// What its owner keeps with it.
	Metadata map[string]string `json:"metadata"`

	// Where its deliveries get their tokens. Null if they carry none.
	OAuth2 *OAuth2 `json:"oauth2"`

	// The status that the owner has given it.
	Status endpoint.Status `json:"status"`

	// The patterns of the types that it subscribes to.
	Events    []string  `json:"events"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`

	// Null if it is not deleted.
	DeletedAt       time.Time `json:"deleted_at"`
	SecretRotatedAt time.Time `json:"secret_rotated_at"`

	// Until then, the secret before the last rotation signs deliveries as well. Null if no earlier secret signs now.
	PreviousSecretUntil time.Time `json:"previous_secret_until"`

	// An operator has paused all endpoints of the tenant.
	TenantPaused bool `json:"tenant_paused"`
	Limits       `json:",embed"`
	Health       Health  `json:"health"`
	Waiting      Waiting `json:"waiting"`
}

// OAuth2 is how an endpoint's deliveries get their tokens. Nobody sees the client secret.
type OAuth2 struct {
	// As the URL of the endpoint is shown: without its query, and with its path only if the request asks for it.
	TokenURL string                `json:"token_url"`
	ClientID string                `json:"client_id"`
	Scope    string                `json:"scope"`
	Audience string                `json:"audience"`
	Method   endpoint.ClientMethod `json:"method"`
}

// EndpointsRequest selects endpoints.
type EndpointsRequest struct {
	Page

	// With a tenant, all of its endpoints are listed. Without one, all that are in trouble.
	TenantID string `json:"tenant_id"`

	// The state of the endpoints.
	State State `json:"state"`

	// The whole host of the URL, in small letters or capitals.
	Host string `json:"host"`

	// A part of the description.
	Description string `json:"description"`
}

// ListedEndpoint is an endpoint as a list shows it.
type ListedEndpoint struct {
	TenantID    string `json:"tenant_id"`
	EndpointID  string `json:"endpoint_id"`
	Host        string `json:"host"`
	Description string `json:"description"`

	// Whom its owner wants to be told about it, as the owner wrote it.
	Contact string `json:"contact"`

	// An operator has paused all endpoints of the tenant.
	TenantPaused bool `json:"tenant_paused"`

	// An operator has paused the endpoint itself, or its domain. That outlasts a pause of the tenant.
	EndpointPaused bool `json:"endpoint_paused"`
	Limits         `json:",embed"`
	Health         `json:",embed"`
	Waiting        Waiting `json:"waiting"`
}
