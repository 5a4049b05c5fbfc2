// Package envelope recognises messages that are not events because another program has wrapped or encoded the event: a
// topic, a bus, a change stream or a client library.
//
// It promises to name the form and its cure in words of its own, and never to quote the message. It knows nothing of
// what makes an event valid: event.Decode asks it about bodies that it has refused, and only about those.
package envelope

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// form is a kind of message, recognised by its own fields.
type form struct {
	has  []jsontext.Pointer // all of them, at most deepest names deep
	cure string
}

// tenantID is the field that an event has and that none of the forms has.
const tenantID = "/tenant_id"

// deepest is how deep the fields of a form are.
const deepest = 3

// forms are tried in this order: a confirmation has the fields of a notification, and a pointer is a list.
var forms = []form{
	{
		[]jsontext.Pointer{"/TopicArn", "/Token", "/SubscribeURL"},
		"an SNS subscription that waits: open its SubscribeURL, then turn on raw message delivery",
	},
	{
		[]jsontext.Pointer{"/Type", "/TopicArn", "/MessageId", "/Message"},
		"an SNS notification: turn on raw message delivery",
	},
	{
		[]jsontext.Pointer{"/Records/0/Sns"},
		"an SNS batch, as Lambda gets it: send the Message of each record as a message of its own",
	},
	{
		[]jsontext.Pointer{"/Records/0/eventSource"},
		"a batch of AWS records: make an event of each, and send it as a message of its own",
	},
	{
		[]jsontext.Pointer{"/eventSource", "/eventSourceARN"},
		"a record of a stream or queue: give the pipe an input transformer; see publishing.md#eventbridge",
	},
	{
		[]jsontext.Pointer{"/detail-type", "/source", "/detail"},
		"an EventBridge event: give the rule an input transformer; see publishing.md#eventbridge",
	},
	{
		[]jsontext.Pointer{"/specversion", "/source", "/type"},
		"a CloudEvent: send tenant_id, type and data without it; see publishing.md#cloudevents",
	},
	{
		[]jsontext.Pointer{"/op", "/source/connector"},
		debezium,
	},
	{
		[]jsontext.Pointer{"/payload/op", "/payload/source/connector"},
		debezium,
	},
	{
		[]jsontext.Pointer{"/0", "/1/s3BucketName", "/1/s3Key"},
		"an S3 pointer of the SQS extended client: send the event without this client; see publishing.md#large-events",
	},
	{
		[]jsontext.Pointer{"/0"},
		"a list: send each event as a message of its own",
	},
}

const (
	debezium = "a Debezium change: let it relay an outbox table; see publishing.md#debezium"
	encoded  = "Base64 of JSON: send the JSON itself"
	quoted   = "JSON in a JSON string: encode it once"
)

// Cure names the form of a refused body and what its publisher has to do. It is empty where the form is unknown, and
// where the body has the field tenant_id: its publisher knows what an event is, and has another fault. It takes time in
// proportion to the body, whose size the caller bounds.
func Cure(body []byte) string {
	body = bytes.TrimSpace(body)
	if !jsontext.Value(body).IsValid() {
		return ofText(body)
	}
	switch jsontext.Value(body).Kind() {
	case jsontext.KindString:
		return OfString(body)
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		return ofFields(fields(body))
	default:
		return ""
	}
}

// OfString is the cure of a JSON string in the place of an object; "" for any other value.
func OfString(value jsontext.Value) string {
	text, err := jsontext.AppendUnquote(nil, value)
	inner := jsontext.Value(text)
	switch {
	case err != nil || value.Kind() != jsontext.KindString:
		return ""
	case inner.IsValid() && strings.ContainsRune(`{["`, rune(inner.Kind())):
		return quoted
	default:
		return ofText(text)
	}
}

// ofText is the cure of a text that is not JSON.
func ofText(text []byte) string {
	text = bytes.TrimSpace(text)
	if !bytes.HasPrefix(text, []byte("e")) { // as Base64 of a brace begins
		return ""
	}
	alphabet := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(string(text), "="))
	decoded, err := base64.RawStdEncoding.DecodeString(alphabet)
	if err == nil && jsontext.Value(decoded).IsValid() {
		return encoded
	}
	return ""
}

// ofFields is the cure of the first form that has all its fields among these.
func ofFields(found map[jsontext.Pointer]bool) string {
	if found[tenantID] {
		return ""
	}
	missing := func(p jsontext.Pointer) bool { return !found[p] }
	for _, f := range forms {
		if !slices.ContainsFunc(f.has, missing) {
			return f.cure
		}
	}
	return ""
}

// known are the fields that decide.
var known = func() map[jsontext.Pointer]bool {
	all := map[jsontext.Pointer]bool{tenantID: true}
	for _, f := range forms {
		for _, p := range f.has {
			all[p] = true
		}
	}
	return all
}()

// most is how many names and values are looked at: 256 KiB may have a hundred thousand, the forms have some fifty.
const most = 10_000

// fields are the known ones that a valid text has. The values below deepest are passed over.
func fields(text []byte) map[jsontext.Pointer]bool {
	found := map[jsontext.Pointer]bool{}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for range most {
		if d.StackDepth() == deepest && (d.PeekKind() == '{' || d.PeekKind() == '[') {
			if d.SkipValue() != nil {
				return found
			}
		} else if _, err := d.ReadToken(); err != nil {
			return found // its end
		}
		if p := d.StackPointer(); known[p] {
			found[p] = true
		}
	}
	return found
}
