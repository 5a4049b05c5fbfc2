package api

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Health tells why an endpoint gets no deliveries.
type Health struct {
	State State `json:"state"`

	// Since when it is in this state. Null if that is not known.
	Since time.Time `json:"since"`

	// Failures in a row since failing_since.
	Failures     int       `json:"failures"`
	FailingSince time.Time `json:"failing_since"`

	// The first failure since the last 2xx of a healthy endpoint. Failed recoveries do not end an outage.
	OutageSince   time.Time `json:"outage_since"`
	LastFailureAt time.Time `json:"last_failure_at"`

	// The HTTP status of the last failure. 0 means that there was no response.
	LastStatus int `json:"last_status"`

	// The reason of the last failure, as of an attempt.
	LastReason delivery.Reason `json:"last_reason"`

	// Null if nothing was counted.
	Recent *Recent `json:"recent"`

	// The last probe of an open circuit. Null before the first.
	LastProbeAt time.Time `json:"last_probe_at"`

	// The next probe of an open circuit. Null if nothing waits.
	NextProbeAt time.Time `json:"next_probe_at"`

	// The beginning of the last recovery.
	RecoveredAt time.Time `json:"recovered_at"`

	// The operator who paused the endpoint or its tenant, with the reason that they gave.
	PausedBy    string `json:"paused_by"`
	PauseReason string `json:"pause_reason"`

	// Deliveries with a life that began earlier are discarded.
	DiscardedBefore time.Time `json:"discarded_before"`

	// Why no probe is sent.
	Note string `json:"note,omitzero"`
}

// Recent counts the attempts of the last ten minutes, as far as they were stored with failures.
type Recent struct {
	Attempts  int `json:"attempts"`
	Successes int `json:"successes"`
}

// Waiting is an endpoint's part of Backlog, counted up to 1,000.
type Waiting struct {
	// How many deliveries wait.
	Count int `json:"count"`

	// How many of them wait for the endpoint, and not for their schedule.
	Held int `json:"held"`

	// There are more than were counted.
	More bool `json:"more"`

	// When the oldest of them was created.
	OldestCreatedAt time.Time `json:"oldest_created_at"`

	// The end of the oldest one's life. It is later if that one was replayed.
	KeptUntil time.Time `json:"kept_until"`
}

// Limits are those on an endpoint's deliveries, each in deliveries a second. Null means that there is no limit.
type Limits struct {
	// The owner's limit.
	RateLimit *int `json:"rate_limit"`

	// An operator's limit.
	OperatorRateLimit *int `json:"operator_rate_limit"`

	// The smaller one of the two.
	EffectiveRateLimit *int `json:"effective_rate_limit"`

	// The operator who set the limit, when, and the reason that they gave.
	LimitedBy   string    `json:"limited_by"`
	LimitedAt   time.Time `json:"limited_at"`
	LimitReason string    `json:"limit_reason"`
}
