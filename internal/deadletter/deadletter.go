// Package deadletter is what Herald keeps of a delivery whose retries are exhausted: a record
// that operators can list, and the body and the history of deaths, sealed.
//
// It promises that nothing sealed opens under another delivery, tenant, endpoint, part or
// death than it was sealed for, that a changed or cut-off byte is noticed, and that every
// format version ever written stays readable. It knows no AWS: data keys come through [Keys].
// It never logs, and never keeps a plaintext key longer than one call.
package deadletter

import (
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
)

// Status is where a dead letter stands.
type Status string

// The statuses. Dead → replaying → replayed; a replayed delivery that dies again is dead again.
const (
	Dead      Status = "dead"
	Replaying Status = "replaying" // an operator's replay has claimed it and not yet finished
	Replayed  Status = "replayed"  // its message is on DeliveryQueue, or was
)

// Valid reports whether s is one of the statuses.
func (s Status) Valid() bool { return s == Dead || s == Replaying || s == Replayed }

// MaxReplays bounds the replays of one delivery, so that body and history stay within one
// DynamoDB item (400 KB): 100 entries of about half a kilobyte beside a body of 272 KiB.
const MaxReplays = 100

// StaleClaim is how long a replay holds its claim: longer than any operator function runs.
// What a crashed one left behind can be claimed again after it.
const StaleClaim = 2 * time.Minute

// UnreadablePrefix starts the delivery id of a message that could not be read; the SQS
// message id follows.
const UnreadablePrefix = "unreadable_"

// Record is one dead letter. The fields up to UpdatedAt are those of its latest death.
type Record struct {
	delivery.Ref // Replay is the life that died
	EventType    string
	Status       Status
	Reason       delivery.Reason
	Attempts     int // places in the retry schedule used before the latest death
	LastStatus   int // HTTP status of the last attempt, 0 for none
	ReplayCount  int // replays an operator started
	DiedAt       time.Time
	UpdatedAt    time.Time
	Sealed       Sealed
}

// Binding is what the record's seals are bound to.
func (r Record) Binding() Binding {
	return Binding{DeliveryID: r.DeliveryID, TenantID: r.TenantID, EndpointID: r.EndpointID}
}

// Sealed are the encrypted parts of a record.
type Sealed struct {
	Body       []byte // the bytes that are POSTed; of an unreadable message, its SQS body
	Attributes []byte // of an unreadable message only
	History    []SealedEntry
}

// SealedEntry is one sealed death. Replay names it and is bound into its seal.
type SealedEntry struct {
	Replay int
	Sealed []byte
}

// Entry is one death of a delivery.
type Entry struct {
	DiedAt     time.Time       `json:"died_at"`
	Reason     delivery.Reason `json:"reason"`
	Attempts   int             `json:"attempts"`
	LastStatus int             `json:"last_status"`
	Replay     int             `json:"replay"`
	MessageID  string          `json:"message_id"` // on DeadLetterQueue
	Detail     string          `json:"detail,omitempty"`
}
