package delivery

import (
	"context"
	"strconv"
	"time"

	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/signature"
)

// Response is the outbound client's report on one POST. Status is 0 when no response arrived, and Reason is "" only
// for a 2xx.
type Response struct {
	Status     int
	Reason     Reason
	RetryAfter string // the header as received
	Elapsed    time.Duration
}

// Field is one header of a POST.
type Field struct{ Name, Value string }

// Request is one POST.
type Request struct {
	TenantID string // the delivery's owner
	URL      string
	Header   []Field // in the order in which it is sent
	Body     []byte
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
	Verdict    Verdict
	Reason     Reason // "" when acknowledged
	Status     int    // HTTP status, 0 for none
	RetryAfter time.Duration
	Elapsed    time.Duration
}

// Target is where a delivery goes now: read afresh for every attempt.
type Target struct {
	URL      string
	Secret   string  // the text of the signing secret
	Previous string  // of the one that a rotation replaced, while it signs, too; otherwise ""
	Headers  []Field // the owner's own
}

// Sender makes attempts.
type Sender struct {
	Client     Poster
	UserAgent  string
	Companions Companions
	Now        func() time.Time
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
		{"Wh-Signature", signature.Sign(t.Secret, m.DeliveryID, seconds, m.Body)},
		{"Wh-Webhook-Event", name},
	}
	if prefixes := s.Companions.prefixes(); len(prefixes) > 0 {
		signed := signature.SignDecoded(t.Secret, m.DeliveryID, seconds, m.Body)
		if t.Previous != "" {
			signed += " " + signature.SignDecoded(t.Previous, m.DeliveryID, seconds, m.Body)
		}
		for _, prefix := range prefixes {
			header = append(header,
				Field{prefix + "Id", m.DeliveryID}, Field{prefix + "Timestamp", timestamp}, Field{prefix + "Signature", signed})
		}
	}
	header = append(header, t.Headers...)
	r := s.Client.Post(ctx, Request{TenantID: m.TenantID, URL: t.URL, Header: header, Body: m.Body})
	out := Outcome{Verdict: VerdictRetry, Reason: r.Reason, Status: r.Status, Elapsed: r.Elapsed}
	switch {
	case r.Status >= 200 && r.Status <= 299:
		out.Verdict, out.Reason = VerdictAcknowledged, ""
	default:
		out.RetryAfter = retry.After(r.RetryAfter, s.Now())
	}
	return out
}
