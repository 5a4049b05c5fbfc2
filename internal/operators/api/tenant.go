package api

import "time"

// GetTenant shows what is stored about a tenant, except for its keys, which are asked of apikeys. A tenant of which
// nothing is stored is not found: Herald keeps no list of tenants.
var GetTenant = Action[TenantRequest, Tenant]{Inspect, "tenant"}

// TenantRequest names one tenant.
type TenantRequest struct {
	TenantID string `json:"tenant_id"`
}

// Tenant is a tenant, and how its deliveries stand.
type Tenant struct {
	TenantID string      `json:"tenant_id"`
	Marks    TenantMarks `json:"marks"`

	// When its deliveries stop going through SlowQueue, unless it stays slow. Null if it is not slow.
	SlowUntil time.Time       `json:"slow_until"`
	Endpoints TenantEndpoints `json:"endpoints"`

	// Causes of death of its deliveries, of those that are not replayed.
	Causes Causes     `json:"causes"`
	Jobs   TenantJobs `json:"jobs"`
}

// TenantMarks are operators' orders about all endpoints that a tenant has or will have. Where there is no such order, a
// field is zero or null.
type TenantMarks struct {
	PausedBy    string    `json:"paused_by"`
	PausedAt    time.Time `json:"paused_at"`
	PauseReason string    `json:"pause_reason"`

	// Deliveries with a life that began earlier are discarded.
	DiscardedBefore time.Time `json:"discarded_before"`

	// Of each endpoint, in deliveries a second.
	RateLimit   int       `json:"rate_limit"`
	LimitedBy   string    `json:"limited_by"`
	LimitedAt   time.Time `json:"limited_at"`
	LimitReason string    `json:"limit_reason"`

	// How many endpoints it may have at one domain, where that is more than the stack allows.
	EndpointsPerHost int `json:"endpoints_per_host"`

	// The stored marks are damaged: nothing is sent to the tenant's endpoints.
	Unreadable bool `json:"unreadable"`
}

// Paused reports whether an operator has paused all endpoints of the tenant.
func (m TenantMarks) Paused() bool { return !m.PausedAt.IsZero() }

// TenantEndpoints are a tenant's endpoints.
type TenantEndpoints struct {
	// All that are not deleted, by state.
	States map[State]int `json:"states"`

	// How many are deleted, and can be restored by the tenant.
	Deleted int `json:"deleted"`

	// Those in trouble first: 100 at most.
	Data []ListedEndpoint `json:"data"`

	// There are more than are shown.
	More bool `json:"more"`
}

// TenantJobs are jobs that are about a tenant or one of its endpoints, and not done. Jobs about all tenants are left
// out.
type TenantJobs struct {
	Data []Job `json:"data"`

	// There are more jobs that are not done than were looked at.
	More bool `json:"more"`
}
