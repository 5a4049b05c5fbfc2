package delivery

import "time"

// State is how far a delivery has come. Acknowledged is terminal.
type State string

// The delivery states. These functions write them:
//
//	[*] --> unfinished : deliver, not delivered yet
//	[*] --> acknowledged : deliver, 2xx
//	retrying --> waiting : deliver, long wait or held
//	waiting --> retrying : deliver, short wait
//	queued --> retrying : deliver, failed
//	queued --> waiting : deliver, long wait or held
//	unfinished --> acknowledged : deliver, 2xx
//	unfinished --> discarded : deliver or release, endpoint gone, unsubscribed or discarded
//	[*] --> discarded : deliver, a test that was not acknowledged
//	unfinished --> dead : deadletter, schedule or life over, or crashed
//	unfinished --> dead : replay, not sent
//	dead --> unfinished : replay, queued again
//	dead --> acknowledged : deliver, a duplicate's 2xx
//	dead --> purged : replay, its dead letter
//	purged --> acknowledged : deliver, a duplicate's 2xx
//	discarded --> acknowledged : deliver, a duplicate's 2xx
//
// Unfinished are queued, retrying and waiting. A delivery that release sends stays waiting.
const (
	Queued       State = "queued" // only after a replay
	Retrying     State = "retrying"
	Waiting      State = "waiting" // in Backlog, for its schedule or for its endpoint
	Acknowledged State = "acknowledged"
	Dead         State = "dead"
	Discarded    State = "discarded"
	Purged       State = "purged" // its dead letter, by an operator
)

// Held reports whether a delivery with such a next attempt waits for its endpoint, and not for its schedule.
func (s State) Held(nextAttemptAt time.Time) bool { return s == Waiting && nextAttemptAt.IsZero() }

// Ended reports whether the life is over, and no receiver has taken it.
func (s State) Ended() bool { return s == Dead || s == Discarded || s == Purged }

// Record is the operators' view of a delivery. Attempts counts the used places of the retry schedule, the first
// attempt included. The tags, Ref's too, name its attributes in the table Deliveries.
type Record struct {
	Ref
	EventType     string    `dynamodbav:"event_type"`
	TraceID       string    `dynamodbav:"trace_id,omitempty"` // of the publisher's trace, if it sent one
	State         State     `dynamodbav:"state"`
	Attempts      int       `dynamodbav:"attempts"`
	LastStatus    int       `dynamodbav:"last_status,omitempty"` // HTTP status of the last attempt, 0 for none
	Reason        Reason    `dynamodbav:"reason,omitempty"`
	DurationMS    int64     `dynamodbav:"duration_ms"`               // the last attempt, milliseconds
	NextAttemptAt time.Time `dynamodbav:"next_attempt_at,omitempty"` // zero when none is planned
	UpdatedAt     time.Time `dynamodbav:"changed_at"`
}

// Replaces reports whether the record may be stored in place of another of the same delivery. It is the rule of the
// table Deliveries: duplicates, which come in any order, take nothing back. The conditions of package dynamo and the
// model of the tests follow it. "Unless older" is with as many
// attempts or more in the same replay, or in a later one:
//
//	| stored | acknowledged | queued, retrying, waiting | dead, discarded | purged |
//	|---|---|---|---|---|
//	| queued, retrying, waiting | yes | unless older | unless older | no |
//	| dead | yes | in a later replay | in a later replay | in the same replay |
//	| discarded, purged | yes | in a later replay | in a later replay | no |
//	| acknowledged | yes | no | no | no |
func (r Record) Replaces(stored Record) bool {
	switch {
	case r.State == Acknowledged:
		return true
	case stored.State == Acknowledged:
		return false
	case r.State == Purged:
		// A state that the delivery has got since its death stays.
		return stored.State == Dead && r.Replay == stored.Replay
	case r.Replay > stored.Replay:
		return true
	case r.Replay < stored.Replay:
		return false
	}
	return r.Attempts >= stored.Attempts && !stored.State.Ended()
}
