// Package deadletter is the record that Herald keeps of a dead delivery: operators can list it, and body
// and history of deaths are sealed.
//
// It promises that nothing sealed opens under another delivery, tenant, endpoint, event type, reason,
// number of deaths or part than it was sealed for, that a changed or cut-off byte is noticed, and that
// every format version ever written stays readable. It knows no AWS: data keys come through [Keys].
// It never logs, and never keeps a plaintext key longer than one call.
//
// Body and deaths, with the publisher's trace, are encrypted with AES-256-GCM under data keys from KMS. Delivery,
// tenant, endpoint, type, reason and number of deaths are bound in: no record opens as another, and no death but the
// latest can be left out. Each death adds a sealed entry to the history; the body stays as it was first sealed. An
// unreadable message is sealed whole, under "unreadable_" and its SQS message id.
//
// A dead letter is dead from its first death, replaying while a replay has claimed it, and replayed when its message
// is on a queue. A claim that is older than two minutes may be taken up. A replay that was not sent, and a death of
// the replay, lead back to dead. It can be purged in each state: while it is replaying, after two minutes.
package deadletter

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Status is where a dead letter stands.
type Status string

// The statuses. Dead → replaying → replayed; a replayed delivery that dies again is dead again.
const (
	Dead      Status = "dead"
	Replaying Status = "replaying" // an operator's replay has claimed it and not yet finished
	Replayed  Status = "replayed"  // its message is on DeliveryQueue or RetryQueue, or was
)

// Valid reports whether s is one of the statuses.
func (s Status) Valid() bool { return s == Dead || s == Replaying || s == Replayed }

// MaxReplays bounds the replays of one delivery, so that body and history fit one DynamoDB item (400 KB): a body of
// 272 KiB and 100 entries of about half a kilobyte.
const MaxReplays = 100

// StaleClaim is how long a replay holds its claim: longer than any operator function runs.
// The claim of a crashed one can be taken over after it.
const StaleClaim = 2 * time.Minute

// UnreadablePrefix starts the delivery id of a message that could not be read; the SQS
// message id follows.
const UnreadablePrefix = "unreadable_"

// Record is one dead letter. Reason to DiedAt, and Replay, describe its latest death. The tags, Ref's too, name its
// attributes in the table DeadLetters.
type Record struct {
	delivery.Ref                 // Replay is the life that died
	EventType    string          `dynamodbav:"event_type,omitempty"`
	Status       Status          `dynamodbav:"status"`
	Reason       delivery.Reason `dynamodbav:"reason"`
	Attempts     int             `dynamodbav:"attempts"`     // places in the retry schedule used
	LastStatus   int             `dynamodbav:"last_status"`  // HTTP status of the last attempt, 0 for none
	ReplayCount  int             `dynamodbav:"replay_count"` // replays an operator started
	DiedAt       time.Time       `dynamodbav:"died_at"`
	UpdatedAt    time.Time       `dynamodbav:"updated_at"`
	JobID        string          `dynamodbav:"job_id,omitempty"` // of the last replay, if a job made it
	Sealed       Sealed          `dynamodbav:"-"`
}

// Binding is the binding of the record's n-th death, which died of the reason.
func (r Record) Binding(n int, reason delivery.Reason) Binding {
	return Binding{
		DeliveryID: r.DeliveryID, TenantID: r.TenantID, EndpointID: r.EndpointID,
		EventType: r.EventType, Reason: reason, Deaths: n,
	}
}

// Sealed are the encrypted parts of a record.
type Sealed struct {
	Body       []byte        `dynamodbav:"body,omitempty"`       // to be POSTed; of an unreadable message, its SQS body
	Attributes []byte        `dynamodbav:"attributes,omitempty"` // of an unreadable message only
	History    []SealedEntry `dynamodbav:"history,omitempty"`    // in the order of the deaths
}

// SealedEntry is one sealed death. Its other fields are bound into the seal.
type SealedEntry struct {
	Replay int             `dynamodbav:"replay"`
	Reason delivery.Reason `dynamodbav:"reason"`
	Sealed []byte          `dynamodbav:"sealed"`
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

	// Trace is the publisher's, in the form of X-Ray, so that a replay goes on in it.
	Trace string `json:"trace,omitempty"`
}
