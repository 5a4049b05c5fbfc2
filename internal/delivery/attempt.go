package delivery

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/signature"
)

// Response is what the outbound client reports of one POST. Status is 0 when no response
// arrived, and Reason is "" only for a 2xx.
type Response struct {
	Status     int
	Reason     Reason
	RetryAfter string // the header as received
	Elapsed    time.Duration
}

// Poster sends one HTTPS POST within its own time limit. It takes over header.
type Poster interface {
	Post(ctx context.Context, url string, header http.Header, body []byte) Response
}

// Verdict is what the caller has to do with a delivery after an attempt.
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
	URL    string
	Secret string // the literal text of the signing secret
}

// Sender makes attempts.
type Sender struct {
	Client    Poster
	UserAgent string
	Now       func() time.Time
}

// Attempt signs and sends the delivery once. What follows on a failure is for Standing to say.
// First attempts and retries are the same code (infra/docs/spec.md, "Outbound delivery").
func (s Sender) Attempt(ctx context.Context, m Message, t Target) Outcome {
	name, err := m.EventType()
	if err != nil {
		return Outcome{Verdict: VerdictDead, Reason: ReasonUnreadable}
	}
	sent := s.Now()
	seconds := sent.Unix()
	// One array holds the values of all headers.
	values := [...]string{
		"application/json", s.UserAgent, m.DeliveryID, strconv.FormatInt(seconds, 10),
		signature.Sign(t.Secret, m.DeliveryID, seconds, m.Body), name,
	}
	header := http.Header{
		"Content-Type":     values[0:1:1],
		"User-Agent":       values[1:2:2],
		"Wh-Id":            values[2:3:3],
		"Wh-Timestamp":     values[3:4:4],
		"Wh-Signature":     values[4:5:5],
		"Wh-Webhook-Event": values[5:6:6],
	}
	r := s.Client.Post(ctx, t.URL, header, m.Body)
	out := Outcome{Verdict: VerdictRetry, Reason: r.Reason, Status: r.Status, Elapsed: r.Elapsed}
	switch {
	case r.Status >= 200 && r.Status <= 299:
		out.Verdict, out.Reason = VerdictAcknowledged, ""
	default:
		out.RetryAfter = retry.After(r.RetryAfter, s.Now())
	}
	return out
}
