package delivery

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/retry"
	"github.com/herald-webhooks/herald/internal/rules/signature"
	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// Response is the outbound client's report on one POST. Status is 0 when no response arrived, and Reason is "" only
// for a 2xx.
type Response struct {
	Status     int
	Reason     Reason
	RetryAfter string // the header as received
	Date       string // likewise, of an answer with RetryAfter
	Elapsed    time.Duration
}

// Field is one header of a POST.
type Field struct{ Name, Value string }

// Request is one POST.
type Request struct {
	// TenantID is the owner of the delivery.
	TenantID string

	URL string

	// Header is sent in this order.
	Header []Field

	Body []byte
}

// Poster sends one HTTPS POST within its own time limit. It keeps nothing of the request.
type Poster interface {
	Post(ctx context.Context, r Request) Response
}

// Verdict is the next step of a delivery after an attempt.
type Verdict string

// The verdicts.
const (
	VerdictAcknowledged Verdict = "acknowledged"
	VerdictRetry        Verdict = "retry"
	VerdictDead         Verdict = "dead"
	VerdictDiscarded    Verdict = "discarded"
)

// Outcome is the result of one attempt. It changes nothing by itself: the caller stores it
// and answers SQS.
type Outcome struct {
	Verdict Verdict

	// Reason is "" for an acknowledged delivery.
	Reason Reason

	// Status is the HTTP status of the answer; 0 if there was none.
	Status int

	RetryAfter time.Duration
	Elapsed    time.Duration

	// Parent is the parent id that the receiver got with the publisher's trace. It is zero if it got none.
	Parent trace.SpanID
}

// Target is the destination of a delivery. It is read anew for every attempt.
type Target struct {
	URL string

	// Signer signs with the endpoint's secret.
	Signer signature.Signer

	// Previous signs with the secret before the last rotation. It is zero unless that secret still signs, too.
	Previous signature.Signer

	// Headers are the owner's headers.
	Headers []Field
}

// Sender makes attempts.
type Sender struct {
	Client     Poster
	UserAgent  string
	Companions Companions
	Asymmetric bool // companions also have signatures by the endpoint's key pair, if it has one
	Now        func() time.Time

	// NewSpan is random and never zero. Nil: receivers get no trace.
	NewSpan func() trace.SpanID
}

// Attempt signs and sends the delivery once. Progress says where a failed one goes.
// First attempts and retries are the same code (infra/docs/spec.md, "Outbound delivery").
func (s Sender) Attempt(ctx context.Context, m Message, t Target) Outcome {
	name, err := m.EventType()
	if err != nil {
		return Outcome{Verdict: VerdictDead, Reason: ReasonUnreadable}
	}
	sent := s.Now()
	seconds := sent.Unix()
	timestamp := strconv.FormatInt(seconds, 10)
	header := []Field{
		{"Content-Type", "application/json"},
		{"User-Agent", s.UserAgent},
		{"Wh-Id", m.DeliveryID},
		{"Wh-Timestamp", timestamp},
		{"Wh-Signature", signature.Sign(t.Signer.Secret, m.DeliveryID, seconds, m.Body)},
		{"Wh-Webhook-Event", name},
	}
	if s.Asymmetric && t.Signer.Key != nil {
		header = append(header, Field{"Wh-Key-Id", t.Signer.KeyID()})
	}
	// CONDITIONALS_BOUNDARY: without companions no header is added anyway; this saves the work of signing.
	if prefixes := s.Companions.prefixes(); len(prefixes) > 0 {
		signed := s.sign(t, m, seconds)
		for _, prefix := range prefixes {
			header = append(header,
				Field{prefix + "Id", m.DeliveryID}, Field{prefix + "Timestamp", timestamp}, Field{prefix + "Signature", signed})
		}
	}
	parent := s.parent(m, t)
	if parent != (trace.SpanID{}) {
		header = append(header, Field{"Traceparent", m.Trace.Traceparent(parent)})
	}
	header = append(header, t.Headers...)
	r := s.Client.Post(ctx, Request{TenantID: m.TenantID, URL: t.URL, Header: header, Body: m.Body})
	out := Outcome{Verdict: VerdictRetry, Reason: r.Reason, Status: r.Status, Elapsed: r.Elapsed, Parent: parent}
	switch {
	case r.Status >= 200 && r.Status <= 299:
		out.Verdict, out.Reason = VerdictAcknowledged, ""
	default:
		out.RetryAfter = retry.After(r.RetryAfter, r.Date, s.Now())
	}
	return out
}

// parent is the parent id of an attempt in its publisher's trace, new each time: Herald makes the request, and not the
// publisher's span. It is zero if the receiver gets no trace, for instance because the endpoint's owner has set a
// traceparent header.
func (s Sender) parent(m Message, t Target) trace.SpanID {
	own := func(h Field) bool { return strings.EqualFold(h.Name, "traceparent") }
	if s.NewSpan == nil || m.Trace.IsZero() || slices.ContainsFunc(t.Headers, own) {
		return trace.SpanID{}
	}
	return s.NewSpan()
}

// sign returns all signatures of a delivery that stock libraries read: those by secrets first, and of each kind the
// newest first.
func (s Sender) sign(t Target, m Message, seconds int64) string {
	signed := []string{signature.SignDecoded(t.Signer.Secret, m.DeliveryID, seconds, m.Body)}
	if t.Previous.Secret != "" {
		signed = append(signed, signature.SignDecoded(t.Previous.Secret, m.DeliveryID, seconds, m.Body))
	}
	for _, signer := range []signature.Signer{t.Signer, t.Previous} {
		if s.Asymmetric && signer.Key != nil {
			signed = append(signed, signature.SignAsymmetric(signer.Key, m.DeliveryID, seconds, m.Body))
		}
	}
	return strings.Join(signed, " ")
}
