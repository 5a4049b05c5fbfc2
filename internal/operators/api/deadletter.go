package api

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// The actions that show dead letters.
var (
	// ListDeadLetters lists dead letters, the latest death first, and opens none.
	ListDeadLetters = Action[DeadLettersRequest, List[DeadLetter]]{Inspect, "dead_letters"}

	// OpenDeadLetter shows one dead letter in clear. That is audited, and takes a decryption by KMS, which appears in
	// CloudTrail.
	OpenDeadLetter = Action[DeliveryRequest, OpenedDeadLetter]{Inspect, "dead_letter"}
)

// Selector selects dead letters by endpoint, tenant or status, narrowed by event, reason, and the times at which they
// died (since, until) and were published, or rejected events by the time at which they were sent (since, until).
type Selector = job.Selector

// SearchedLetters is how many dead letters a page of a list searches that is narrowed by event or times of publishing,
// the latest deaths first. Such a page may be short or empty although others follow.
const SearchedLetters = 20_000

// DeadLettersRequest selects dead letters.
type DeadLettersRequest struct {
	Page
	Selector
}

// DeadLetter is a dead letter as a list shows it: nothing sealed is opened. It is kept for DeadLetterDays after its
// latest death.
type DeadLetter struct {
	DeliveryID string `json:"delivery_id"`

	// Empty for unreadable messages, as is the endpoint: they name neither.
	TenantID   string `json:"tenant_id"`
	EndpointID string `json:"endpoint_id"`

	// Host and description of the endpoint as they are now.
	Host        string `json:"host"`
	Description string `json:"description"`
	EventID     string `json:"event_id"`
	EventType   string `json:"event_type"`

	// Dead, or how far its replay has come.
	Status deadletter.Status `json:"status"`
	Reason delivery.Reason   `json:"reason"`

	// How many places of the schedule were used before the latest death.
	Attempts int `json:"attempts"`

	// The HTTP status of the last attempt. 0 means that there was no response.
	LastStatus int       `json:"last_status"`
	CreatedAt  time.Time `json:"created_at"`

	// The time of the latest death.
	DiedAt time.Time `json:"died_at"`

	// How often an operator has sent it again.
	ReplayCount int `json:"replay_count"`
}

// OpenedDeadLetter is a dead letter in clear.
type OpenedDeadLetter struct {
	DeadLetter

	// The time that the publisher gave. Null if the event had none.
	OccurredAt time.Time `json:"occurred_at"`

	// The exact text that is POSTed.
	Body string `json:"body"`

	// The headers of every attempt, without timestamp and signature.
	Headers map[string]string `json:"headers"`

	// An entry for each death.
	History []deadletter.Entry `json:"history"`

	// The attributes of a message that could not be read.
	Attributes []deadletter.Attribute `json:"attributes,omitempty"`
}
