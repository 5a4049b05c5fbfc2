// Package event is the vocabulary of the auth service: the event names of the catalogue, the subscription patterns and
// the message on EventsQueue.
//
// It promises that a decoded Event is complete and valid, and that Data holds the published
// bytes unchanged. It never guesses: anything it cannot accept is an *Invalid naming the field.
package event

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/badjson"
	"github.com/herald-webhooks/herald/internal/rules/event/envelope"
)

// Event is one accepted event message by the rules of infra/docs/publishing.md.
type Event struct {
	ID         string         // 1–128 printable ASCII; the SQS message id where the publisher gave none
	TenantID   string         // of the form of ValidTenantID
	Type       string         // one of Types
	OccurredAt time.Time      // UTC, zero where not given
	Data       jsontext.Value // a JSON object, byte for byte as published
}

// The reasons of rejected events: a word, or a sentence that begins in one way.
const (
	// NotProcessed is the reason of an event that fanout received again and again without finishing.
	NotProcessed = "not_processed"

	// InvalidEvent begins the reason of every event that breaks a rule.
	InvalidEvent = "invalid event: "
)

// Invalid says why a message is not an event. Reason never quotes the message's data.
type Invalid struct {
	EventID string // the publisher's id where it could be read, else the SQS message id
	Field   string // the top-level field at fault, "" for the message as a whole
	Reason  string
}

// Error is the reason with its field. It is kept with the rejected event, and shown to operators.
func (e *Invalid) Error() string {
	if e.Field == "" {
		return InvalidEvent + e.Reason
	}
	return InvalidEvent + e.Field + ": " + e.Reason
}

// MaxBody is the largest event message that EventsQueue accepts, in bytes.
const MaxBody = 256 << 10

// TooLong is the reason of a message of more than MaxBody bytes.
func TooLong(size int) string {
	return fmt.Sprintf("%d bytes are more than the %d allowed", size, MaxBody)
}

// The forms of texts, which JSON Schema can also say. A tenant's id has one more rule: see ValidTenantID.
const (
	IDPattern       = `^[ -~]{1,128}$`
	TenantIDPattern = `^[A-Za-z0-9_.:@|+=~-]{1,128}$`
)

var (
	idForm     = regexp.MustCompile(IDPattern)
	tenantForm = regexp.MustCompile(TenantIDPattern)
)

// TenantIDRule says what ValidTenantID takes, as the rest of a sentence about a field.
const TenantIDRule = "must be 1 to 128 of A-Z a-z 0-9 _ - . : @ | + = ~, and neither . nor .."

// ValidTenantID reports whether id has the form of a tenant's id: names such as acme.com, org:123 and auth0|42. It has
// no character that ends a key, a path or an argument (no slash, space, quote, #, comma or control), so that an id can
// be a part of each. The alphabet may grow and never shrinks, since stored items have these ids.
func ValidTenantID(id string) bool { return tenantForm.MatchString(id) && id != "." && id != ".." }

// message are the fields of an event message as they stand in its body; nil is missing.
type message struct {
	ID         jsontext.Value `json:"id"`
	TenantID   jsontext.Value `json:"tenant_id"`
	Type       jsontext.Value `json:"type"`
	OccurredAt jsontext.Value `json:"occurred_at"`
	Data       jsontext.Value `json:"data"`
}

// Decode reads the body of a message on EventsQueue. messageID is the SQS message id, which
// serves where the event has no id. The error is always an *Invalid. Where another program wrapped or encoded the
// event, its reason says how the publisher gets rid of that.
func Decode(body []byte, messageID string) (Event, error) { return implemented.Decode(body, messageID) }

// Decode is [Decode] with this vocabulary's types.
func (v Vocabulary) Decode(body []byte, messageID string) (Event, error) {
	e, refused := v.Judge(body, messageID)
	if refused != nil {
		return Event{}, refused
	}
	return e, nil
}

// Judge is Decode with nil for no refusal.
func (v Vocabulary) Judge(body []byte, messageID string) (Event, *Invalid) {
	e, refused := v.decode(body, messageID)
	if refused != nil && len(body) <= MaxBody {
		if cure := envelope.Cure(body); cure != "" {
			return Event{}, &Invalid{EventID: refused.EventID, Reason: cure}
		}
	}
	return e, refused
}

// decode is Decode without a word about envelopes.
func (v Vocabulary) decode(body []byte, messageID string) (Event, *Invalid) {
	e := Event{ID: messageID}
	refuse := func(field, format string, args ...any) (Event, *Invalid) {
		return Event{}, &Invalid{EventID: e.ID, Field: field, Reason: fmt.Sprintf(format, args...)}
	}
	if len(body) > MaxBody {
		return refuse("", "%s", TooLong(len(body)))
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return refuse("", "not a JSON object: %s", malformed(err, body))
	}
	if given(m.ID) {
		id, ok := text(m.ID)
		if !ok || !idForm.MatchString(id) {
			return refuse("id", "must be 1 to 128 printable ASCII characters")
		}
		e.ID = id
	}
	if field, reason := e.fill(m, v); reason != "" {
		return refuse(field, "%s", reason)
	}
	return e, nil
}

// given reports whether an optional field has a value: serializers write null for absent fields.
func given(v jsontext.Value) bool { return v != nil && v.Kind() != 'n' }

// missing names the first required field that a message does not have; "" is none.
func (m message) missing() string {
	for _, f := range []struct {
		name  string
		value jsontext.Value
	}{{"tenant_id", m.TenantID}, {"type", m.Type}, {"data", m.Data}} {
		if f.value == nil {
			return f.name
		}
	}
	return ""
}

// fill takes over all fields but the id. reason is "" when they are valid. It stops at the first fault: a publisher's
// program is mended one fault at a time, and rejected events tell only one.
func (e *Event) fill(m message, v Vocabulary) (field, reason string) {
	if field := m.missing(); field != "" {
		return field, "is required"
	}
	var ok bool
	e.TenantID, ok = text(m.TenantID)
	if !ok || !ValidTenantID(e.TenantID) {
		return "tenant_id", TenantIDRule
	}
	e.Type, ok = text(m.Type)
	if !ok || !v.known[e.Type] {
		return "type", Unknown + v.suggestion(e.Type)
	}
	if given(m.OccurredAt) {
		e.OccurredAt, ok = timeOf(m.OccurredAt)
		if !ok {
			return "occurred_at", "must be an RFC 3339 time"
		}
	}
	if m.Data.Kind() != '{' {
		return "data", notAnObject(m.Data)
	}
	e.Data = m.Data
	if e.Type == userCreated && v.specified && !hasUserID(e.Data) {
		return "data.userId", "must be user_ and at least one more character"
	}
	return "", ""
}

// notAnObject is the reason of data of another kind. An object in a JSON string was encoded twice.
func notAnObject(data jsontext.Value) string {
	const reason = "must be an object"
	if cure := envelope.OfString(data); cure != "" {
		return reason + ", not " + cure
	}
	return reason
}

// Payload returns the bytes that are signed and sent: {"type":…,"data":…}, Data unchanged
// (infra/docs/spec.md, "Delivery").
func (e Event) Payload() []byte {
	head := `{"type":"` + e.Type + `","data":` // only known names get here: nothing to escape
	return slices.Concat([]byte(head), e.Data, []byte("}"))
}

// text is the value of a JSON string. Any other value is none, null too.
func text(v jsontext.Value) (string, bool) {
	s, err := jsontext.AppendUnquote(nil, v)
	return string(s), v.Kind() == '"' && err == nil
}

// userCreated is the only event whose data the specification shows.
const userCreated = "user.created"

// hasUserID holds user.created to the one field of data that the specification shows (infra/docs/spec.md, "Payload
// shape"). A catalogue that describes user.created itself has another shape, which SchemaCheck is about.
func hasUserID(data jsontext.Value) bool {
	var d struct {
		UserID jsontext.Value `json:"userId"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return false
	}
	id, ok := text(d.UserID)
	return ok && strings.HasPrefix(id, "user_") && len(id) > len("user_")
}

// malformed tells where the JSON broke without quoting the message.
func malformed(err error, body []byte) string {
	switch d := badjson.Diagnose(err, body); d.Kind {
	case badjson.DuplicateName:
		return fmt.Sprintf("duplicate name at byte %d", d.Offset)
	case badjson.LoneSurrogate:
		return fmt.Sprintf("a surrogate without its other half at byte %d", d.Offset)
	case badjson.Malformed:
		return fmt.Sprintf("malformed at byte %d", d.Offset)
	default:
		return "wrong type at the top level"
	}
}
