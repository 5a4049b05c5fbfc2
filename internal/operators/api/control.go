package api

import "time"

// The actions of control. Each but a test changes marks of an endpoint or, without endpoint_id, of a tenant.
var (
	// Pause stops deliveries to an endpoint, or to all that a tenant has or will have. It holds for every batch that
	// deliver begins after the answer, and outlasts deleting and restoring the endpoint. Deliveries are held; 7 days
	// after their lives began they die as endpoint_paused, and can be replayed.
	Pause = Action[Target, ControlAnswer]{Control, "pause"}

	// Resume ends a pause. Pauses of an endpoint and of its tenant both have to be lifted. Held deliveries are then
	// sent as after an outage; an endpoint with an open circuit is probed first.
	Resume = Action[Target, ControlAnswer]{Control, "resume"}

	// Release has all waiting deliveries of an endpoint sent now, whatever circuit, schedule and Retry-After say. The
	// endpoint is recovering within a minute. Each POST uses one of a delivery's ten attempts: make sure that it works.
	Release = Action[Target, ControlAnswer]{Control, "release"}

	// Discard drops deliveries of an endpoint or a tenant for good: in Backlog by the next runs of release, on a queue
	// when deliver receives them. They leave no dead letter, and the time cannot be set back. Deliveries whose life
	// begins later are sent, replays included.
	Discard = Action[DiscardRequest, ControlAnswer]{Control, "discard"}

	// SendTest sends one delivery of the type herald.test to an endpoint, whatever it subscribes to, signed like any
	// other. It ends as acknowledged or discarded: it is attempted once, never held or kept as a dead letter, and
	// counts for no circuit and no service level. While the endpoint is stopped or its circuit open, it is refused.
	SendTest = Action[TestRequest, TestDelivery]{Control, "test"}

	// Limit sets an operator's limit on an endpoint, or the same on each endpoint that a tenant has or will have, in
	// place of the one before. There is no limit of all together. The owner sees the number, but not the reason. A
	// limit or a pause of an endpoint outlasts its deletion, and stays with it wherever its URL goes. It also holds for
	// every endpoint that the owner creates, moves or restores at the domain afterwards. Other endpoints that are there
	// already keep what they have; the answer's note says how many. Once a tenant has orders on some 300 endpoints, or
	// 200 with reasons of 256 characters, orders on others are refused (too_many_orders).
	Limit = Action[LimitRequest, ControlAnswer]{Control, "limit"}

	// Unlimit removes an operator's limit. The owner's stays. Like a resume, it ends the order for all endpoints at the
	// domain, even if the first one has since been deleted for good.
	Unlimit = Action[Target, ControlAnswer]{Control, "unlimit"}

	// Allow sets how many endpoints a tenant may have at one domain, where that is more than the stack allows all.
	Allow = Action[AllowRequest, ControlAnswer]{Control, "allow"}
)

// The results of control.
const (
	ResultPaused     Result = "paused"
	ResultResumed    Result = "resumed"
	ResultReleasing  Result = "releasing"  // within a minute
	ResultDiscarding Result = "discarding" // waiting ones within minutes, those on queues when they are received
	ResultSent       Result = "sent"       // a test
	ResultLimited    Result = "limited"
	ResultUnlimited  Result = "unlimited"
	ResultAllowed    Result = "allowed"
)

// Target names an endpoint, or without endpoint_id all endpoints of a tenant.
type Target struct {
	// The id of the endpoint. With a tenant, a host or a description that no other endpoint of the tenant has will do,
	// unless an endpoint of the tenant is unreadable.
	EndpointID string `json:"endpoint_id"`
	TenantID   string `json:"tenant_id"`

	// Why, in at most 256 printable characters. It is kept with a pause or a limit, and logged. A limit requires it.
	Reason string `json:"reason"`
}

// DiscardRequest says what is dropped.
type DiscardRequest struct {
	Target `json:",embed"`

	// Deliveries with a life that began earlier are dropped, in RFC 3339. Left out, it is the time of the request. It
	// must not be in the future.
	DiscardedBefore string `json:"discarded_before"`

	// Must be true, since discarded deliveries are never sent and that cannot be undone.
	Confirm bool `json:"confirm"`
}

// LimitRequest has the limit of an endpoint, or of each endpoint of a tenant.
type LimitRequest struct {
	Target `json:",embed"`

	// In deliveries a second: 1 to 300.
	RateLimit int `json:"rate_limit"`
}

// AllowRequest has a tenant's number of endpoints at one domain.
type AllowRequest struct {
	Target `json:",embed"`

	// 0 to 200. 0 allows as many as the stack does.
	EndpointsPerHost int `json:"endpoints_per_host"`
}

// TestRequest names one endpoint. A test of all endpoints of a tenant would be a flood.
type TestRequest struct {
	// The id of the endpoint. With a tenant, a host or a description that no other endpoint of the tenant has will do,
	// unless an endpoint of the tenant is unreadable.
	EndpointID string `json:"endpoint_id"`
	TenantID   string `json:"tenant_id"`
}

// ControlAnswer is the state after an action of control.
type ControlAnswer struct {
	TenantID string `json:"tenant_id"`

	// Empty if the action was about the tenant.
	EndpointID string `json:"endpoint_id"`
	Result     Result `json:"result"`

	// The state of the endpoint. A tenant is healthy or paused.
	State State `json:"state"`

	// An operator has paused all endpoints of the tenant.
	TenantPaused bool `json:"tenant_paused"`

	// Deliveries whose life began earlier are discarded. Null if there is no such order.
	DiscardedBefore time.Time `json:"discarded_before"`

	// The backlog at the time of a release or a discard.
	Waiting *WaitingCount `json:"waiting,omitzero"`

	// After a tenant's resume, its endpoints that stay open, paused or disabled: 20 at most.
	Held []StoppedEndpoint `json:"held,omitzero"`

	// Work that is left for later.
	Note string `json:"note,omitzero"`

	// After a limit or its end: the limit of the endpoint's owner, in deliveries a second.
	RateLimit int `json:"rate_limit,omitzero"`

	// Likewise the operator's limit.
	OperatorRateLimit int `json:"operator_rate_limit,omitzero"`

	// After an allowance: how many endpoints the tenant may have at one domain. Left out if the stack's own bound holds.
	EndpointsPerHost int `json:"endpoints_per_host,omitzero"`
}

// WaitingCount counts waiting deliveries, at least.
type WaitingCount struct {
	Count int `json:"count"`

	// There are more than were counted.
	More bool `json:"more"`
}

// StoppedEndpoint is an endpoint that still gets no deliveries although its tenant was resumed.
type StoppedEndpoint struct {
	EndpointID string `json:"endpoint_id"`

	// Open, paused or disabled.
	State State `json:"state"`
}

// TestDelivery is a test on its way. The action delivery of inspect shows how it ended.
type TestDelivery struct {
	TenantID   string `json:"tenant_id"`
	EndpointID string `json:"endpoint_id"`
	Host       string `json:"host"`
	DeliveryID string `json:"delivery_id"`
	Result     Result `json:"result"`

	// The headers of the POST, without timestamp and signature, which are made when it is sent.
	Headers map[string]string `json:"headers"`

	// The exact text that is POSTed.
	Body string `json:"body"`
}
