// Package delivery is the heart of Herald: a delivery, and one attempt to make it.
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
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// Ref identifies a delivery and its owner, in every message and record of it.
type Ref struct {
	DeliveryID string    `dynamodbav:"delivery_id"`         // wh-id
	TenantID   string    `dynamodbav:"tenant_id,omitempty"` // empty, as the next two, of a message that is unreadable
	EndpointID string    `dynamodbav:"endpoint_id,omitempty"`
	EventID    string    `dynamodbav:"event_id,omitempty"`
	OccurredAt time.Time `dynamodbav:"occurred_at,omitempty"` // of the event, as its publisher says; may be zero
	CreatedAt  time.Time `dynamodbav:"created_at"`            // when the auth service sent the event
	Replay     int       `dynamodbav:"replay"`                // which replay this is: 0 for the delivery's first life
}

// Message is one delivery on its way: its metadata and the exact bytes to POST.
type Message struct {
	Ref
	Attempts int    // places of the schedule used before this message was sent
	Life     Life   // zero in the first message of a life
	Body     []byte // {"type":…,"data":…}

	// Trace is the publisher's. It decides nothing, and a delivery without one is complete.
	Trace trace.Context
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
	text := identity(tenantID, eventID, endpointID)
	return "msg_" + encoded(append(text, c[:]...))
}

// testPrefix begins the id of every test, and of nothing else. An id is signed, so a receiver can believe it.
const testPrefix = "test_"

// TestID returns the id of a test. Its hash differs from that of every delivery of an event, so nobody can make one id
// into the other by exchanging the prefix.
func TestID(tenantID, eventID, endpointID string, c Content) string {
	text := identity(tenantID, eventID, endpointID, testPrefix)
	return testPrefix + encoded(append(text, c[:]...))
}

// identity is the text of some strings that no other strings have.
func identity(parts ...string) []byte {
	text := make([]byte, 0, 512)
	for _, s := range parts {
		text = binary.BigEndian.AppendUint32(text, uint32(len(s))) //nolint:gosec // ids are at most 128 bytes
		text = append(text, s...)
	}
	return text
}

func encoded(text []byte) string {
	sum := sha256.Sum256(text)
	return idEncoding.EncodeToString(sum[:20])
}

// maxType bounds the search for the end of the type, quote included.
const maxType = 128

// The faults of a message that Check finds.
var (
	ErrNoType  = errors.New("body does not start with a type")
	ErrForeign = errors.New("delivery id does not match tenant, event, endpoint and body")
)

// EventType returns the body's "type", which fan-out always writes first.
func (m Message) EventType() (string, error) {
	name, err := m.RawType()
	return string(name), err
}

// RawType is EventType as a part of the body. It takes no memory.
func (m Message) RawType() ([]byte, error) {
	rest, ok := bytes.CutPrefix(m.Body, []byte(`{"type":"`))
	if !ok {
		return nil, ErrNoType
	}
	end := bytes.IndexByte(rest[:min(len(rest), maxType)], '"')
	if end <= 0 {
		return nil, ErrNoType
	}
	return rest[:end], nil
}

// TestType is the type of a test that names no other. No event has it.
const TestType = "herald.test"

// NewTest is a test for an endpoint, with a sample of the type's data. Its event id has to be new, so that every test
// has another id.
func NewTest(of Ref, eventType, data string) Message {
	m := Message{Ref: of, Body: []byte(`{"type":"` + eventType + `","data":` + data + `}`)}
	m.DeliveryID = TestID(m.TenantID, m.EventID, m.EndpointID, ContentOf(m.Body))
	return m
}

// IsTest reports whether the owner of the endpoint or an operator asked for the delivery, to see its receiver's
// answer. It is attempted once: no receiver needs it, so nothing is retried or kept.
func (r Ref) IsTest() bool { return strings.HasPrefix(r.DeliveryID, testPrefix) }

// Check finds parts of a message that do not belong together: a message that was mixed up or cut off on its way is
// never signed. It finds corruption, no forger: an id is a hash without a key.
func (m Message) Check() error {
	id := ID
	if m.IsTest() {
		id = TestID
	}
	if m.DeliveryID != id(m.TenantID, m.EventID, m.EndpointID, ContentOf(m.Body)) {
		return ErrForeign
	}
	_, err := m.RawType()
	return err
}
