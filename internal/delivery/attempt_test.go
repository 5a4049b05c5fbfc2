package delivery

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/signature"
)

// scripted answers every POST with the same response and keeps what it was sent.
type scripted struct {
	response Response
	posts    []Request
}

func (s *scripted) Post(_ context.Context, r Request) Response {
	s.posts = append(s.posts, r)
	return s.response
}

var (
	body   = `{"type":"user.created","data":{ "userId":"user_1"}}`
	target = Target{URL: "https://example.com/hook", Secret: "whs_x"}
)

func sender(client Poster) Sender {
	return Sender{Client: client, UserAgent: "Herald/test", Now: func() time.Time { return time.Unix(1_700_000_000, 999) }}
}

func attempt(ctx context.Context, r Response) Outcome {
	return sender(&scripted{response: r}).Attempt(ctx, Message{Ref: Ref{DeliveryID: "msg_1"}, Body: []byte(body)}, target)
}

func TestSender_Attempt_sendsTheContractsRequest(t *testing.T) {
	client := &scripted{response: Response{Status: 200}}
	ref, own := Ref{DeliveryID: "msg_1", TenantID: "tenant_1"}, target
	own.Headers = []Field{{"Authorization", "Bearer x"}}
	sender(client).Attempt(t.Context(), Message{Ref: ref, Body: []byte(body)}, own)
	want := []Request{{TenantID: "tenant_1", URL: target.URL, Body: []byte(body), Header: []Field{
		{"Content-Type", "application/json"}, {"User-Agent", "Herald/test"}, {"Wh-Id", "msg_1"},
		{"Wh-Timestamp", "1700000000"}, {"Wh-Signature", signature.Sign("whs_x", "msg_1", 1_700_000_000, []byte(body))},
		{"Wh-Webhook-Event", "user.created"}, {"Authorization", "Bearer x"},
	}}}
	if diff := cmp.Diff(want, client.posts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSender_Attempt_decidesByTheStatusAlone(t *testing.T) {
	for status, want := range map[int]Outcome{
		200: {Verdict: VerdictAcknowledged},
		201: {Verdict: VerdictAcknowledged},
		204: {Verdict: VerdictAcknowledged},
		299: {Verdict: VerdictAcknowledged},
		0:   {Verdict: VerdictRetry, Reason: ReasonConnect},
		199: {Verdict: VerdictRetry, Reason: ReasonConnect},
		300: {Verdict: VerdictRetry, Reason: ReasonConnect},
		410: {Verdict: VerdictRetry, Reason: ReasonConnect},
		503: {Verdict: VerdictRetry, Reason: ReasonConnect},
	} {
		want.Status, want.Elapsed = status, time.Minute
		got := attempt(t.Context(), Response{Status: status, Reason: ReasonConnect, Elapsed: time.Minute})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d (-want +got)\n%s", status, diff)
		}
	}
}

func TestSender_Attempt_readsRetryAfterOfFailuresOnly(t *testing.T) {
	for name, row := range map[string]struct {
		response Response
		want     Outcome
	}{
		"a failure": {
			Response{Status: 503, Reason: ReasonHTTP5xx, RetryAfter: "30"},
			Outcome{Verdict: VerdictRetry, Reason: ReasonHTTP5xx, Status: 503, RetryAfter: 30 * time.Second},
		},
		"a success": {
			Response{Status: 200, RetryAfter: "30"},
			Outcome{Verdict: VerdictAcknowledged, Status: 200},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, attempt(t.Context(), row.response)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestSender_Attempt_sendsNoBodyWithoutAType(t *testing.T) {
	client := &scripted{response: Response{Status: 200}}
	got := sender(client).Attempt(t.Context(), Message{Body: []byte(`{"data":{}}`)}, target)
	if diff := cmp.Diff(Outcome{Verdict: VerdictDead, Reason: ReasonUnreadable}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(client.posts) != 0 {
		t.Errorf("%d POSTs", len(client.posts))
	}
}
