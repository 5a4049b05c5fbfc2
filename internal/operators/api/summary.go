package api

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// GetSummary shows an overview of all trouble.
var GetSummary = Action[SummaryRequest, Summary]{Inspect, "summary"}

// SummaryRequest asks for a Summary.
type SummaryRequest struct {
	// Adds the causes of death of all dead letters. To ask for them together reads the letters once: 10,000 take eight
	// calls of DynamoDB and about 500 read units.
	Causes bool `json:"causes"`
}

// Summary is an overview of endpoints in trouble, the backlog, queues and dead letters.
type Summary struct {
	Endpoints EndpointCounts `json:"endpoints"`

	// The backlog of all endpoints together.
	Waiting Backlogged `json:"waiting"`

	// Dead letters by status.
	DeadLetters map[deadletter.Status]LetterCount `json:"dead_letters"`

	// Queues by their logical ids in the template.
	Queues map[string]Depth `json:"queues"`

	// Causes of death, on request.
	Causes *Causes `json:"causes,omitzero"`

	// The version of the Go Cryptographic Module where the function is in FIPS 140-3 mode; else absent.
	FIPSModule string `json:"fips_module,omitzero"`
}

// EndpointCounts counts endpoints in trouble.
type EndpointCounts struct {
	// Endpoints by state. None of them is healthy.
	States map[State]int `json:"states"`

	// Paused tenants with an endpoint among these.
	PausedTenants int `json:"paused_tenants"`

	// Tenants with deliveries that go through SlowQueue.
	SlowTenants int `json:"slow_tenants"`

	// Some of the slow tenants, the ones that stay slow the longest first: 20 at most.
	Slow []SlowTenant `json:"slow"`

	// There are more than were counted.
	More bool `json:"more"`
}

// SlowTenant is a tenant with deliveries that go through SlowQueue.
type SlowTenant struct {
	TenantID string `json:"tenant_id"`

	// When that ends, unless the tenant stays slow.
	Until time.Time `json:"until"`
}

// Backlogged is the backlog of all endpoints together, at least.
type Backlogged struct {
	// Deliveries that wait.
	Count int `json:"count"`

	// How many of them wait for their endpoints, and not for their schedules.
	Held int `json:"held"`

	// There are more than were counted.
	More bool `json:"more"`

	// When the next of them is due. A time long past means that release does not run. Null if nothing waits.
	NextDueAt time.Time `json:"next_due_at"`
}

// LetterCount is how many dead letters have one status, and when the oldest of them died.
type LetterCount struct {
	Count int `json:"count"`

	// Null if there are none.
	OldestDiedAt time.Time `json:"oldest_died_at"`
}

// Depth counts a queue's messages. The counts are SQS's approximations.
type Depth struct {
	// Messages that a receive may get now.
	Visible int `json:"visible"`

	// Received, or invisible until a retry. On RetryQueue and SlowQueue these are waits and normal.
	InFlight int `json:"in_flight"`

	// Messages that were sent with a delay.
	Delayed int `json:"delayed"`
}
