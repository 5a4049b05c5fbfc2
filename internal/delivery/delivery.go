// Package delivery is the heart of Herald: what one delivery is, and how one attempt to
// deliver it goes.
//
// It promises that a delivery keeps its id and body bytes for life, that timestamp and
// signature are made anew for every attempt, and that only the receiver's status decides
// success. It writes no state, acknowledges nothing and knows no AWS.
package delivery

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"time"
)

// Ref says which delivery it is and whose: what every message and record of it repeats.
type Ref struct {
	DeliveryID string // wh-id
	TenantID   string
	EndpointID string
	EventID    string
	OccurredAt time.Time // of the event, as its publisher says, for operators; zero if it does not
	CreatedAt  time.Time // when fan-out made it
	Replay     int       // which replay this is: 0 for the delivery's first life
}

// Message is one delivery on its way: its metadata and the exact bytes to POST.
type Message struct {
	Ref
	Retrying  bool      // travels on RetryQueue
	Attempts  int       // POSTs made before RetryQueue; meaningful when Retrying
	NotBefore time.Time // Retry-After's floor of what waits in Backlog, and of what 0.1.0 sent; zero: none
	Life      Life      // its zero fields are for deliver to fill in
	Body      []byte    // {"type":…,"data":…}
}

var idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Content is the digest of the exact bytes that are POSTed, the event's type among them.
type Content [sha256.Size]byte

// ContentOf returns the digest of a body.
func ContentOf(body []byte) Content { return sha256.Sum256(body) }

// ID returns the delivery id of (tenant, event, endpoint, content): "msg_" and 32 characters of a
// SHA-256. The same event twice has the same ids, so a receiver that deduplicates by wh-id covers
// every at-least-once duplicate in the pipeline. Another content has another id, so that it never
// passes for a duplicate where a publisher gives two events one id.
func ID(tenantID, eventID, endpointID string, c Content) string {
	text := make([]byte, 0, 512)
	for _, s := range [...]string{tenantID, eventID, endpointID} {
		text = binary.BigEndian.AppendUint32(text, uint32(len(s))) //nolint:gosec // ids are at most 128 bytes
		text = append(text, s...)
	}
	sum := sha256.Sum256(append(text, c[:]...))
	return "msg_" + idEncoding.EncodeToString(sum[:20])
}

// maxType bounds the search for the end of the type, quote included.
const maxType = 128

var errNoType = errors.New("body does not start with a type")

// EventType returns the body's "type", which fan-out always writes first.
func (m Message) EventType() (string, error) {
	name, err := typeOf(m.Body)
	return string(name), err
}

// CheckEventType returns the error that EventType would.
func (m Message) CheckEventType() error {
	_, err := typeOf(m.Body)
	return err
}

func typeOf(body []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(body, []byte(`{"type":"`))
	if !ok {
		return nil, errNoType
	}
	end := bytes.IndexByte(rest[:min(len(rest), maxType)], '"')
	if end <= 0 {
		return nil, errNoType
	}
	return rest[:end], nil
}

// State is where a delivery stands. Acknowledged is terminal.
type State string

// The delivery states (infra/docs/design.md, "Delivery states").
const (
	Queued       State = "queued" // only after a replay
	Retrying     State = "retrying"
	Waiting      State = "waiting" // in Backlog, for its schedule or for its endpoint
	Acknowledged State = "acknowledged"
	Dead         State = "dead"
	Discarded    State = "discarded"
)

// Record is what operators see of a delivery. Attempts counts the places in the retry
// schedule that were used, the first attempt included.
type Record struct {
	Ref
	EventType     string
	State         State
	Attempts      int
	LastStatus    int // HTTP status of the last attempt, 0 for none
	Reason        Reason
	DurationMS    int64     // the last attempt, milliseconds
	NextAttemptAt time.Time // zero when none is planned
	UpdatedAt     time.Time
}
