package api

import "github.com/herald-webhooks/herald/internal/rules/endpoint"

// ListSubscribers lists the endpoints of all tenants that select an event type, in no order. It reads the whole table
// Endpoints, 1,000 rows a request at most, so it has a right of its own. A page ends early where few endpoints select
// the type, and may be empty although others follow. Deleted endpoints are left out, and get the type if they are
// restored. An endpoint that is changed while the pages are read may be missing.
var ListSubscribers = Action[SubscribersRequest, List[Subscriber]]{InspectScan, "subscribers"}

// StatusUnreadable is the status of an endpoint with a damaged row. Whether it selects the type is not known.
const StatusUnreadable = endpoint.Status(StateUnreadable)

// SubscribersRequest names an event type.
type SubscribersRequest struct {
	Page

	// The name of the type, such as user.signed_in. The catalogue need not have it yet: wildcards are matched by the
	// name before the first dot, even if no catalogue declares them, and then they select nothing.
	EventType string `json:"event_type"`
}

// Subscriber is an endpoint that selects an event type.
type Subscriber struct {
	TenantID   string `json:"tenant_id"`
	EndpointID string `json:"endpoint_id"`

	// Active, disabled (it gets the type when its owner enables it), or unreadable: its row is damaged, and may select
	// the type.
	Status endpoint.Status `json:"status"`

	// The entries of its subscription that select the type: its name, a wildcard, or all of them.
	SelectedBy []string `json:"selected_by"`
}
