package job

import "time"

// Selector selects dead letters or, without endpoint and status, rejected events, for a job or a list. Operators give
// and see it as it is. Zero fields select all. Dead letters need one of endpoint, tenant and status, since that is how
// they are found.
type Selector struct {
	TenantID   string    `json:"tenant_id" dynamodbav:"tenant_id,omitempty"`
	EndpointID string    `json:"endpoint_id" dynamodbav:"endpoint_id,omitempty"`
	EventID    string    `json:"event_id,omitzero" dynamodbav:"event_id,omitempty"`
	Reason     string    `json:"reason" dynamodbav:"reason,omitempty"` // of the latest death; a part of an event's
	Status     string    `json:"status" dynamodbav:"status,omitempty"` // deadletter.Status
	Since      time.Time `json:"since" dynamodbav:"since,omitempty"`   // died, in ms; inclusive; of an event: sent
	Until      time.Time `json:"until" dynamodbav:"until,omitempty"`   // likewise; exclusive

	// Published is when the event of a dead letter was sent to EventsQueue (its created_at), in ms. The end is exclusive.
	// Rejected events have no such time.
	PublishedSince time.Time `json:"published_since,omitzero" dynamodbav:"published_since,omitempty"`
	PublishedUntil time.Time `json:"published_until,omitzero" dynamodbav:"published_until,omitempty"`
}

// Published reports whether a moment is in the times of publishing that s selects.
func (s Selector) Published(at time.Time) bool {
	return !at.Before(s.PublishedSince) && (s.PublishedUntil.IsZero() || at.Before(s.PublishedUntil))
}

// Narrowed reports whether s selects by what no index of dead letters has in its key, and what may be rare among them.
func (s Selector) Narrowed() bool {
	return s.EventID != "" || !s.PublishedSince.IsZero() || !s.PublishedUntil.IsZero()
}
