// Package trace is the part of a publisher's trace that travels with a delivery: the trace's id, the id of the span
// that published the event, and whether the trace is sampled.
//
// It reads and writes two forms: traceparent of W3C Trace Context, levels 1 and 2, and X-Ray's tracing header, which
// SQS carries as the system attribute AWSTraceHeader. It promises that everything it returns is hexadecimal: a
// publisher's text gets into no log and into no header. A malformed text is no error, but no trace: an event is worth
// more than its trace. It carries no tracestate, no baggage and no other field.
package trace

import (
	"cmp"
	"encoding/hex"
	"strings"
)

// ID is the id of a trace. All zeros stand for none.
type ID [16]byte

// SpanID is the id of a span, the parent of whatever its trace meets next. All zeros stand for none.
type SpanID [8]byte

// String is the id in lower-case hexadecimal, as all forms have it.
func (s SpanID) String() string { return hex.EncodeToString(s[:]) }

// Context is a delivery's place in a trace. The zero Context is no trace.
type Context struct {
	ID ID

	// Parent is the publisher's span. X-Ray's header may lack it.
	Parent SpanID

	// Sampled says that the publisher may have recorded the trace.
	Sampled bool
}

// IsZero reports whether there is no trace.
func (c Context) IsZero() bool { return c.ID == ID{} }

// TraceID is the trace's id for logs and answers, or "" without a trace.
func (c Context) TraceID() string {
	if c.IsZero() {
		return ""
	}
	return hex.EncodeToString(c.ID[:])
}

// Of is the trace of an event, by the two texts that its publisher may have sent. Traceparent wins: a publisher writes
// it for each event, and X-Ray's header may be one for a whole batch.
func Of(traceparent, xray string) Context {
	return cmp.Or(ParseTraceparent(traceparent), ParseXRay(xray))
}

// IDOf is the id of a trace that a text names, by itself or in one of the two headers, or "".
func IDOf(text string) string {
	var c Context
	if decode(c.ID[:], text) {
		return c.TraceID()
	}
	return cmp.Or(Of(text, text), ParseXRay("Root="+text)).TraceID()
}

// The lengths of the parts of a traceparent: 00-<trace id>-<parent id>-<flags>.
const (
	traceparentSize = 55
	sampledFlag     = 1
)

// ParseTraceparent reads a traceparent, by the rules of https://www.w3.org/TR/trace-context-2: lower-case hexadecimal,
// no id of zeros, and never version ff. A text of version 00 has exactly 55 characters. A text of a later version is
// read as far as version 00 goes, if it ends after these 55 characters or a dash follows. Flags other than sampled mean
// nothing here.
func ParseTraceparent(text string) Context {
	if len(text) < traceparentSize {
		return Context{}
	}
	parts := strings.Split(text[:traceparentSize], "-")
	if len(parts) != 4 || !mayGoOn(parts[0], text[traceparentSize:]) {
		return Context{}
	}
	var version, flags [1]byte
	var c Context
	read := decode(version[:], parts[0]) && decode(c.ID[:], parts[1]) && decode(c.Parent[:], parts[2]) &&
		decode(flags[:], parts[3])
	if !read || c.IsZero() || c.Parent == (SpanID{}) {
		return Context{}
	}
	c.Sampled = flags[0]&sampledFlag != 0
	return c
}

// mayGoOn reports whether a traceparent of a version may go on like this behind its 55 characters.
func mayGoOn(version, rest string) bool {
	switch version {
	case "ff":
		return false
	case "00":
		return rest == ""
	}
	return rest == "" || rest[0] == '-'
}

// Traceparent is the trace as version 00 for a receiver, below a parent that must not be zero. It is "" without a
// trace. Of the flags only sampled is known: the publisher's others may have been lost on the way.
func (c Context) Traceparent(parent SpanID) string {
	if c.IsZero() {
		return ""
	}
	flags := "-00"
	if c.Sampled {
		flags = "-01"
	}
	return "00-" + c.TraceID() + "-" + parent.String() + flags
}

// ParseXRay reads X-Ray's tracing header, Root=1-8hex-24hex;Parent=16hex;Sampled=1, with its fields in any order and
// any others among them. Parent may be missing or empty. A sampling decision that has not been made counts as not
// sampled.
func ParseXRay(text string) Context {
	var c Context
	for field := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch name {
		case "Root":
			if !c.ID.decodeRoot(value) {
				return Context{}
			}
		case "Parent":
			if value != "" && !decode(c.Parent[:], value) {
				return Context{}
			}
		case "Sampled":
			c.Sampled = value == "1"
		}
	}
	if c.IsZero() {
		return Context{}
	}
	return c
}

// decodeRoot reads X-Ray's form of a trace's id, which sets the first eight digits apart.
func (id *ID) decodeRoot(text string) bool {
	first, last, _ := strings.Cut(strings.TrimPrefix(text, "1-"), "-")
	return strings.HasPrefix(text, "1-") && decode(id[:4], first) && decode(id[4:], last)
}

// XRay is the trace as X-Ray's tracing header, of 74 characters at most, or "" without a trace. ParseXRay reads back
// all of it.
func (c Context) XRay() string {
	if c.IsZero() {
		return ""
	}
	id := c.TraceID()
	text := "Root=1-" + id[:8] + "-" + id[8:]
	if c.Parent != (SpanID{}) {
		text += ";Parent=" + c.Parent.String()
	}
	if c.Sampled {
		return text + ";Sampled=1"
	}
	return text + ";Sampled=0"
}

// decode reads lower-case hexadecimal that fills to.
func decode(to []byte, text string) bool {
	if len(text) != 2*len(to) || strings.ContainsAny(text, "ABCDEF") {
		return false
	}
	_, err := hex.Decode(to, []byte(text))
	return err == nil
}
