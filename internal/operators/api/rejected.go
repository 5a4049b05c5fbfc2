package api

import "time"

// ListRejected shows events on EventsDeadLetterQueue, the oldest first. That is audited. A queue has no pages: there is
// no cursor, and next_cursor is always null.
var ListRejected = Action[RejectedRequest, RejectedList]{Inspect, "rejected_events"}

// RejectedRequest selects rejected events.
type RejectedRequest struct {
	// How many events are shown, not how many are searched: 1 to 100, and 50 if it is left out.
	Limit    *int   `json:"limit"`
	TenantID string `json:"tenant_id"`

	// A part of the reason.
	Reason string `json:"reason"`

	// The earliest time of sending. It is included.
	Since time.Time `json:"since"`

	// The end of the times of sending. It is not included.
	Until time.Time `json:"until"`
}

// RejectedList is a list of rejected events.
type RejectedList struct {
	List[RejectedEvent] `json:",embed"`

	// How far the search went.
	Note string `json:"note,omitzero"`
}

// RejectedEvent is one event on EventsDeadLetterQueue.
type RejectedEvent struct {
	// The id that SendMessage returned to the publisher.
	MessageID string `json:"message_id"`

	// The event's id, or its message's if the event has no id.
	EventID string `json:"event_id"`

	// Why fanout rejected it, or not_processed if SQS moved it here.
	Reason string    `json:"reason"`
	SentAt time.Time `json:"sent_at"`

	// The length of the body in bytes, shown or not.
	Bytes int `json:"bytes"`

	// Null if the answer has no room for it.
	Body *string `json:"body"`
}
