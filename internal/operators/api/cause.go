package api

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// ListCauses counts the causes of death of selected dead letters, of those that are not replayed unless the request
// has another status.
var ListCauses = Action[Selector, Causes]{Inspect, "causes"}

// Causes are causes of death by endpoint and reason, the most frequent first. They are counted in the 20,000 latest
// deaths.
type Causes struct {
	// 50 at most.
	Data []Cause `json:"data"`

	// There are more dead letters than were counted, or more causes than are shown.
	More bool `json:"more"`
}

// Cause is an endpoint, and a cause of death of its deliveries.
type Cause struct {
	// Empty for unreadable messages, as is the endpoint: they name neither.
	TenantID   string `json:"tenant_id"`
	EndpointID string `json:"endpoint_id"`

	// Host and description of the endpoint as they are now.
	Host        string `json:"host"`
	Description string `json:"description"`

	// The state of the endpoint as it is now.
	State  State           `json:"state"`
	Reason delivery.Reason `json:"reason"`

	// The HTTP status of the latest death. 0 means that there was no response.
	LastStatus int `json:"last_status"`

	// How many letters died of it.
	Count        int       `json:"count"`
	FirstDiedAt  time.Time `json:"first_died_at"`
	LatestDiedAt time.Time `json:"latest_died_at"`
}
