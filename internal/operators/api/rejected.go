package api

import "time"

// ListRejected shows events on EventsDeadLetterQueue, the oldest first. That is audited, unless the request has an
// event_id: then no body is shown. A queue has no pages: there is no cursor, and next_cursor is always null.
var ListRejected = Action[RejectedRequest, RejectedList]{Inspect, "rejected_events"}

// RejectedRequest selects rejected events.
type RejectedRequest struct {
	// How many events are shown, not how many are searched: 1 to 100, and 50 if it is left out.
	Limit    *int   `json:"limit"`
	TenantID string `json:"tenant_id"`

	// Asks where this event is. Bodies are left out, and with a tenant_id an event that names no tenant is shown, too.
	EventID string `json:"event_id"`

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

	// Whether the event of event_id was found. Otherwise left out.
	Result Result `json:"result,omitzero"`

	// With an event_id, how many events were searched.
	Searched int `json:"searched,omitzero"`

	// How far the search went.
	Note string `json:"note,omitzero"`
}

// The results of a search for one event. ResultNotFound is among them: the whole queue was searched.
const (
	ResultFound      Result = "found"
	ResultPart       Result = "part_searched" // not found among 1,000, or those that could be received
	ResultPublishing Result = "publishing"    // a job works through the queue: ask when it is done
)

// RejectedEvent is one event on EventsDeadLetterQueue: fanout did not accept it, or failed to process it repeatedly. It
// is there until 14 days after it was sent there or, if SQS moved it, after it was published.
type RejectedEvent struct {
	// The id that SendMessage returned to the publisher.
	MessageID string `json:"message_id"`

	// The event's id, or its message's if the event has no id.
	EventID string `json:"event_id"`

	// With an event_id, what the body says, empty where it is no event: its tenant and its type.
	TenantID  string `json:"tenant_id,omitzero"`
	EventType string `json:"event_type,omitzero"`

	// Why fanout rejected it, or not_processed if SQS moved it here.
	Reason string    `json:"reason"`
	SentAt time.Time `json:"sent_at"`

	// The length of the body in bytes, shown or not.
	Bytes int `json:"bytes"`

	// Null if the answer has no room for it, or if the request has an event_id.
	Body *string `json:"body"`
}
