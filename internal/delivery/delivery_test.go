package delivery

import (
	"context"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/signature"
)

func TestIDIsStableAndItsPartsDoNotRunTogether(t *testing.T) {
	id := ID("tenant", "event", "webhook_1")
	if id != ID("tenant", "event", "webhook_1") {
		t.Error("the same triple has two ids")
	}
	if !regexp.MustCompile(`^msg_[a-z2-7]{32}$`).MatchString(id) {
		t.Errorf("id %q", id)
	}
	for _, other := range [][3]string{{"tenante", "vent", "webhook_1"}, {"tenant", "eventw", "ebhook_1"}, {"", "tenantevent", "webhook_1"}, {"event", "tenant", "webhook_1"}} {
		if ID(other[0], other[1], other[2]) == id {
			t.Errorf("%q has the id of another triple", other)
		}
	}
	// A changed digest would give deliveries in flight a second id: this one is for ever.
	if want := "msg_7ksudkawegs6rg6tljk3qdfoulwgebc2"; id != want {
		t.Errorf("id %q, want %q", id, want)
	}
}

func TestEventType(t *testing.T) {
	for body, want := range map[string]string{
		`{"type":"user.created","data":{}}`: "user.created",
		`{"data":{},"type":"user.created"}`: "", `{"type":""`: "", `{"type":"x`: "", ``: "",
	} {
		got, err := Message{Body: []byte(body)}.EventType()
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", body, got, err)
		}
	}
}

// scripted answers every POST with the same response and keeps what it was sent.
type scripted struct {
	response Response
	url      string
	header   http.Header
	body     []byte
}

func (s *scripted) Post(_ context.Context, url string, header http.Header, body []byte) Response {
	s.url, s.header, s.body = url, header, body
	return s.response
}

func attempt(t *testing.T, r Response, number int) (Outcome, *scripted) {
	t.Helper()
	client := &scripted{response: r}
	sender := Sender{Client: client, Schedule: retry.Schedule{Base: time.Second, Factor: 2, MaxRetries: 4}, UserAgent: "Herald/test",
		Now: func() time.Time { return time.Unix(1_700_000_000, 999) }}
	m := Message{Ref: Ref{DeliveryID: "msg_1"}, Body: []byte(`{"type":"user.created","data":{ "userId":"user_1"}}`)}
	return sender.Attempt(t.Context(), m, Target{URL: "https://example.com/hook", Secret: "whs_x"}, number), client
}

func TestAttemptSendsTheContractsHeaders(t *testing.T) {
	_, client := attempt(t, Response{Status: 200}, 0)
	want := map[string]string{
		"Content-Type": "application/json", "User-Agent": "Herald/test", "Wh-Id": "msg_1", "Wh-Timestamp": "1700000000",
		"Wh-Webhook-Event": "user.created", "Wh-Signature": signature.Sign("whs_x", "msg_1", 1_700_000_000, client.body),
	}
	if len(client.header) != len(want) {
		t.Errorf("headers %v", client.header)
	}
	for name, value := range want {
		if got := client.header[name]; len(got) != 1 || got[0] != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
}

func TestOnlyTheStatusDecides(t *testing.T) {
	for status, want := range map[int]struct {
		verdict Verdict
		reason  Reason
	}{
		200: {VerdictAcknowledged, ""}, 201: {VerdictAcknowledged, ""}, 204: {VerdictAcknowledged, ""}, 299: {VerdictAcknowledged, ""},
		199: {VerdictRetry, ReasonHTTP1xx}, 301: {VerdictRetry, ReasonHTTP3xx}, 304: {VerdictRetry, ReasonHTTP3xx}, 400: {VerdictRetry, ReasonHTTP4xx},
		410: {VerdictRetry, ReasonHTTP4xx}, 429: {VerdictRetry, ReasonHTTP429}, 500: {VerdictRetry, ReasonHTTP5xx}, 599: {VerdictRetry, ReasonHTTP5xx},
	} {
		out, _ := attempt(t, Response{Status: status, Reason: StatusReason(status)}, 0)
		if out.Verdict != want.verdict || out.Reason != want.reason || out.Status != status {
			t.Errorf("%d: %+v", status, out)
		}
	}
}

func TestTheLastRetryThatFailsIsDead(t *testing.T) {
	failing := Response{Status: 503, Reason: ReasonHTTP5xx, RetryAfter: "30"}
	if out, _ := attempt(t, failing, 3); out.Verdict != VerdictRetry || out.RetryAfter != 30*time.Second {
		t.Errorf("retry 3 of 4: %+v", out)
	}
	if out, _ := attempt(t, failing, 4); out.Verdict != VerdictDead || out.Reason != ReasonHTTP5xx {
		t.Errorf("retry 4 of 4: %+v", out)
	}
	if out, _ := attempt(t, Response{Status: 200}, 4); out.Verdict != VerdictAcknowledged {
		t.Errorf("success at the last: %+v", out)
	}
}
