package stack

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Attempt is a line of deliver's log about an attempt. What a line does not have is zero.
type Attempt struct {
	At                               time.Time
	TenantID, EndpointID, DeliveryID string
	Number, Replay                   int // of the attempt, and of the delivery's life
	Outcome                          delivery.Verdict
	Status                           int // 0 where there was no response
	Reason                           delivery.Reason
	Millis                           float64
	Next                             time.Duration // to the next attempt
}

// ReadAttempt reads a line of deliver's log. It reports false for a line of the platform, or a batch's summary.
func ReadAttempt(text string) (a Attempt, is bool) {
	l, err := readLine([]byte(text))
	if err != nil {
		return Attempt{}, false
	}
	a = l.attempt()
	return a, a.Outcome != "" && a.EndpointID != ""
}

// The keys of a line that Lambda's log handler adds.
const (
	keyTime    = "timestamp"
	keyMessage = "message"
)

// line is a line of a function's log: texts and numbers as texts, by the keys of package telemetry.
type line map[string]string

// readLine reads a line that is a JSON object.
func readLine(text []byte) (line, error) {
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("reading a line of the log: %w", err)
	}
	l := line{}
	for name, v := range fields {
		l[name] = string(v)
		if v.Kind() == '"' {
			text, err := jsontext.AppendUnquote(nil, v)
			if err != nil {
				return nil, fmt.Errorf("reading a line of the log: %w", err)
			}
			l[name] = string(text)
		}
	}
	return l, nil
}

// number is 0 where the line has no number.
func (l line) number(key string) float64 {
	n, err := strconv.ParseFloat(l[key], 64)
	if err != nil {
		return 0
	}
	return n
}

// at is when the line was written. CloudWatch writes times without a T.
func (l line) at() time.Time {
	written := l[keyTime]
	if !strings.HasSuffix(written, "Z") {
		written = strings.Replace(written, " ", "T", 1) + "Z"
	}
	at, err := time.Parse(time.RFC3339, written)
	if err != nil {
		return time.Time{}
	}
	return at
}

// attempt is what the line says of an attempt.
func (l line) attempt() Attempt {
	return Attempt{
		At: l.at(), TenantID: l[telemetry.KeyTenant], EndpointID: l[telemetry.KeyEndpoint],
		DeliveryID: l[telemetry.KeyDelivery], Number: int(l.number(telemetry.KeyAttempt)),
		Replay:  int(l.number(telemetry.KeyReplay)),
		Outcome: delivery.Verdict(l[telemetry.KeyOutcome]), Status: int(l.number(telemetry.KeyStatus)),
		Reason: delivery.Reason(l[telemetry.KeyReason]), Millis: l.number(telemetry.KeyMillis),
		Next: time.Duration(l.number(telemetry.KeyNext) * float64(time.Second)),
	}
}
