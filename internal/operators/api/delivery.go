package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// The actions that show deliveries.
var (
	// GetDelivery shows one delivery.
	GetDelivery = Action[DeliveryRequest, Delivery]{Inspect, "delivery"}

	// ListDeliveries lists an endpoint's deliveries that are not acknowledged, the newest first, or those of one event or
	// one trace.
	ListDeliveries = Action[DeliveriesRequest, DeliveryList]{Inspect, "deliveries"}
)

// DeliveryRequest names one delivery, or one dead letter.
type DeliveryRequest struct {
	// The wh-id that the receiver saw.
	DeliveryID string `json:"delivery_id"`

	// Where it is given, the delivery of another tenant is refused.
	TenantID string `json:"tenant_id"`
}

// DeliveriesRequest asks for the deliveries of an endpoint, an event or a trace. The list of an endpoint alone has
// pages.
type DeliveriesRequest struct {
	Page

	// The deliveries of this endpoint that are not acknowledged. With a tenant, its host or description will do.
	EndpointID string `json:"endpoint_id"`

	// The deliveries of this event, by its id or, if it had none, by the id of its SQS message. Without event, those
	// that are not acknowledged are searched: of each endpoint the newest 1,000.
	EventID string `json:"event_id"`

	// The event byte for byte as it was published. Its deliveries are found in any state that has a record.
	Event jsontext.Value `json:"event"`

	// The deliveries of this trace that are not acknowledged: likewise the newest 1,000 of each endpoint. A traceparent or
	// X-Ray's header will do.
	TraceID string `json:"trace_id"`

	// Required with event_id and trace_id, unless the event is given.
	TenantID string `json:"tenant_id"`

	// With an endpoint alone: the earliest time at which the event was published (created_at). It is included.
	PublishedSince time.Time `json:"published_since"`

	// The end of these times. It is not included.
	PublishedUntil time.Time `json:"published_until"`
}

// DeliveryList is a list of deliveries.
type DeliveryList struct {
	List[Delivery] `json:",embed"`

	// How far the search went.
	Note string `json:"note,omitzero"`
}

// Delivery is the state of one delivery. Its record is kept for 30 days after the last change, or as long as
// AcknowledgedDays says once it is acknowledged. RecordAcknowledged decides which acknowledged deliveries have one.
type Delivery struct {
	DeliveryID string `json:"delivery_id"`
	TenantID   string `json:"tenant_id"`
	EndpointID string `json:"endpoint_id"`
	EventID    string `json:"event_id"`
	EventType  string `json:"event_type"`

	// The trace that its publisher sent, until its dead letter is purged.
	TraceID string `json:"trace_id,omitempty"`

	// It is a test that the endpoint's owner or an operator asked for.
	Test  bool           `json:"test,omitzero"`
	State delivery.State `json:"state"`

	// How many places of the schedule were used in this life of the delivery.
	Attempts int `json:"attempts"`

	// How often an operator has sent it again.
	Replay int `json:"replay"`

	// The HTTP status of the last attempt. 0 means that there was no response.
	LastStatus int `json:"last_status"`

	// Why the last attempt failed, why the delivery waits, or why it ended.
	Reason delivery.Reason `json:"reason"`

	// How long the last attempt took, in milliseconds.
	DurationMS int64 `json:"duration_ms"`

	// Null if no attempt is planned: a waiting delivery then waits for its endpoint.
	NextAttemptAt time.Time `json:"next_attempt_at"`

	// The time that the publisher gave. Null if the event had none.
	OccurredAt time.Time `json:"occurred_at"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}
