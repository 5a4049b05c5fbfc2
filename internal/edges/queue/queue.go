// Package queue is Herald's use of SQS: delivery messages as SQS messages, sends in batches within SQS's limits,
// visibility timeouts.
//
// It promises that a delivery's body is the SQS body byte for byte, that no send or change is lost silently (entries
// that failed are reported by index), and that messages of every version it ever wrote stay readable. It never
// receives or deletes: Lambda's event source mappings do.
package queue

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// The message attributes of a delivery message. The body is exactly the text that is POSTed, {"type":…,"data":…}, with
// data byte for byte as published. SQS takes ten attributes, so that everything new goes into life, such as
// "v1,started=1764000000000,due=1764000385000,reason=http_5xx,status=503". Its fields have a fixed order, zero ones
// are left out, and times are Unix milliseconds: started, the beginning of the life; due, the next attempt by the
// schedule; probe, the claim of a probe; slot, the one that release has taken; on DeadLetterQueue only, reason and
// status of the death. A message of another version, or one that does not fit its own delivery id, is unreadable: it
// is never signed, and SQS redrives it. MessageGroupId is the tenant, for SQS's fair queues.
const (
	attrVersion  = "version"
	attrDelivery = "delivery_id"
	attrTenant   = "tenant_id"
	attrEndpoint = "endpoint_id"
	attrEvent    = "event_id"
	attrOccurred = "occurred_at" // when the event occurred, if its publisher said so
	attrCreated  = "created_at"  // when the event was sent to EventsQueue
	attrReplay   = "replay"      // 0 for the first life, 1 for the first replay
	attrAttempts = "attempts"    // places of the schedule used before the message was sent; absent for 0
	attrLife     = "life"

	version = "1"
)

// traced ends the text of the life where the message has its publisher's trace. Without it the trace is that of the
// invocation which sent the message: in Lambda, SQS gives it to every message of a call that has none.
const traced = ",traced"

// systemTrace is the one system attribute that a sender may set. SQS counts it neither among the ten nor in the size.
const systemTrace = string(types.MessageSystemAttributeNameAWSTraceHeader)

// attrTraceparent is the message attribute of an event with its publisher's trace.
const attrTraceparent = "traceparent"

// ErrUnreadable is wrapped by every error of Decode.
var ErrUnreadable = errors.New("unreadable delivery message")

// Attributes returns the message attributes of m: seven, ten at most, SQS's limit. Anything new goes into the life.
func Attributes(m delivery.Message) map[string]types.MessageAttributeValue {
	a := map[string]types.MessageAttributeValue{
		attrVersion:  text(version),
		attrDelivery: text(m.DeliveryID),
		attrTenant:   text(m.TenantID),
		attrEndpoint: text(m.EndpointID),
		attrEvent:    text(m.EventID),
		attrCreated:  text(m.CreatedAt.UTC().Format(time.RFC3339Nano)),
		attrReplay:   text(strconv.Itoa(m.Replay)),
	}
	if !m.OccurredAt.IsZero() {
		a[attrOccurred] = text(m.OccurredAt.UTC().Format(time.RFC3339Nano))
	}
	if m.Attempts > 0 {
		a[attrAttempts] = text(strconv.Itoa(m.Attempts))
	}
	switch {
	case !m.Trace.IsZero():
		a[attrLife] = text(m.Life.Encode() + traced)
	case m.Life != (delivery.Life{}):
		a[attrLife] = text(m.Life.Encode())
	}
	return a
}

// text is an attribute of SQS's type String. Numbers go as texts, too, so that there is one way to read all.
func text(s string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(s)}
}

// Decode reads a delivery message as Lambda hands it over. The error wraps ErrUnreadable and names the attribute that
// is wrong. It returns no part of a message that is wrong in one place, since its body is signed and sent as it is.
func Decode(r events.SQSMessage) (delivery.Message, error) {
	d := decoder{record: r}
	if v := d.text(attrVersion); d.err == nil && v != version {
		return delivery.Message{}, fmt.Errorf("%w: %s %q is not known", ErrUnreadable, attrVersion, v)
	}
	m := delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: d.text(attrDelivery),
			TenantID:   d.text(attrTenant),
			EndpointID: d.text(attrEndpoint),
			EventID:    d.text(attrEvent),
			CreatedAt:  d.time(attrCreated),
			Replay:     d.number(attrReplay),
		},
		Body: []byte(r.Body),
	}
	if d.has(attrOccurred) {
		m.OccurredAt = d.time(attrOccurred)
	}
	if d.has(attrAttempts) {
		m.Attempts = d.number(attrAttempts)
	}
	if d.has(attrLife) {
		m.Life, m.Trace = d.life()
	}
	if d.err != nil {
		return delivery.Message{}, d.err
	}
	if err := m.Check(); err != nil {
		return delivery.Message{}, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return m, nil
}

// decoder keeps the first error, so that Decode reads as a list of fields.
type decoder struct {
	record events.SQSMessage
	err    error
}

// has reports whether an optional attribute is there: one that would be zero is left out.
func (d *decoder) has(name string) bool {
	_, ok := d.record.MessageAttributes[name]
	return ok
}

// fail keeps the fault unless there is one.
func (d *decoder) fail(name, problem string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: attribute %s %s", ErrUnreadable, name, problem)
	}
}

// text reads an attribute that must be there. SQS refuses empty values, so an empty value counts as missing.
func (d *decoder) text(name string) string {
	value := d.record.MessageAttributes[name].StringValue
	if value == nil || *value == "" {
		d.fail(name, "is missing")
		return ""
	}
	return *value
}

// number reads a count, 0 or more.
func (d *decoder) number(name string) int {
	n, err := strconv.Atoi(d.text(name))
	if err != nil || n < 0 {
		d.fail(name, "is not a number")
	}
	return n
}

// time reads a time, to the nanosecond.
func (d *decoder) time(name string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, d.text(name))
	if err != nil {
		d.fail(name, "is not a time")
	}
	return t
}

// life reads the attribute that holds all later additions to the format, and the trace if it says that there is one.
func (d *decoder) life() (delivery.Life, trace.Context) {
	text, hasTrace := strings.CutSuffix(d.text(attrLife), traced)
	l, err := delivery.DecodeLife(text)
	if err != nil {
		d.fail(attrLife, err.Error())
	}
	if !hasTrace {
		return l, trace.Context{}
	}
	return l, trace.ParseXRay(d.record.Attributes[systemTrace])
}

// TraceOf is the trace of an event that its publisher sent, as Lambda hands it over.
func TraceOf(r events.SQSMessage) trace.Context {
	return trace.Of(aws.ToString(r.MessageAttributes[attrTraceparent].StringValue), r.Attributes[systemTrace])
}

// TraceIn is TraceOf for a message as the SQS client receives it.
func TraceIn(m types.Message) trace.Context {
	return trace.Of(aws.ToString(m.MessageAttributes[attrTraceparent].StringValue), m.Attributes[systemTrace])
}

// Receive is SQS's account of a message that was received.
type Receive struct {
	Count  int       // receives from its queue, this one included
	SentAt time.Time // zero where SQS does not say
}

// ReceiveOf reads a record's ApproximateReceiveCount, at least 1, and its SentTimestamp. Lambda hands both over; an
// event that a test made by hand may lack them.
func ReceiveOf(r events.SQSMessage) Receive {
	count, err := strconv.Atoi(r.Attributes["ApproximateReceiveCount"])
	if err != nil || count < 1 {
		count = 1
	}
	receive := Receive{Count: count}
	if ms, err := strconv.ParseInt(r.Attributes["SentTimestamp"], 10, 64); err == nil {
		receive.SentAt = time.UnixMilli(ms).UTC()
	}
	return receive
}
