package delivery

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/signature"
)

// posted is one POST as the client got it.
type posted struct {
	URL    string
	Header http.Header
	Body   string
}

// scripted answers every POST with the same response and keeps what it was sent.
type scripted struct {
	response Response
	posts    []posted
}

func (s *scripted) Post(_ context.Context, url string, header http.Header, body []byte) Response {
	s.posts = append(s.posts, posted{url, header, string(body)})
	return s.response
}

var (
	body   = `{"type":"user.created","data":{ "userId":"user_1"}}`
	target = Target{URL: "https://example.com/hook", Secret: "whs_x"}
)

func sender(client Poster) Sender {
	return Sender{Client: client, UserAgent: "Herald/test", Now: func() time.Time { return time.Unix(1_700_000_000, 999) }}
}

// attempt makes one attempt at the given retry of nine.
func attempt(ctx context.Context, r Response, number int) Outcome {
	m := Message{Ref: Ref{DeliveryID: "msg_1"}, Retrying: number > 0, Attempts: 1, Body: []byte(body)}
	place := PlaceOf(schedule, m, Receive{Count: number}, now)
	return sender(&scripted{response: r}).Attempt(ctx, m, target, place)
}

func TestSender_Attempt_sendsTheContractsRequest(t *testing.T) {
	client := &scripted{response: Response{Status: 200}}
	sender(client).Attempt(t.Context(), Message{Ref: Ref{DeliveryID: "msg_1"}, Body: []byte(body)}, target, Place{})
	want := []posted{{URL: target.URL, Body: body, Header: http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"Herald/test"}, "Wh-Id": {"msg_1"},
		"Wh-Timestamp":     {"1700000000"},
		"Wh-Webhook-Event": {"user.created"}, "Wh-Signature": {signature.Sign("whs_x", "msg_1", 1_700_000_000, []byte(body))},
	}}}
	if diff := cmp.Diff(want, client.posts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSender_Attempt_letsTheClientChangeOneHeaderAlone(t *testing.T) {
	client := &scripted{response: Response{Status: 200}}
	sender(client).Attempt(t.Context(), Message{Ref: Ref{DeliveryID: "msg_1"}, Body: []byte(body)}, target, Place{})
	header := client.posts[0].Header
	before := header.Clone()
	for name := range header {
		header.Add(name, "added") // the values share an array: none may grow into the next
	}
	for name, values := range before {
		if diff := cmp.Diff(append(values, "added"), header[name]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
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
		got := attempt(t.Context(), Response{Status: status, Reason: ReasonConnect, Elapsed: time.Minute}, 0)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d (-want +got)\n%s", status, diff)
		}
	}
}

func TestSender_Attempt_diesAtTheLastPlaceOnly(t *testing.T) {
	failing := Response{Status: 503, Reason: ReasonHTTP5xx, RetryAfter: "30"}
	for name, row := range map[string]struct {
		response Response
		number   int
		want     Outcome
	}{
		"the first attempt": {
			failing, 0, Outcome{Verdict: VerdictRetry, Reason: ReasonHTTP5xx, Status: 503, RetryAfter: 30 * time.Second},
		},
		"retry 8 of 9": {
			failing, 8, Outcome{Verdict: VerdictRetry, Reason: ReasonHTTP5xx, Status: 503, RetryAfter: 30 * time.Second},
		},
		"retry 9 of 9":       {failing, 9, Outcome{Verdict: VerdictDead, Reason: ReasonHTTP5xx, Status: 503}},
		"success at retry 9": {Response{Status: 200}, 9, Outcome{Verdict: VerdictAcknowledged, Status: 200}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, attempt(t.Context(), row.response, row.number)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestSender_Attempt_sendsNoBodyWithoutAType(t *testing.T) {
	client := &scripted{response: Response{Status: 200}}
	got := sender(client).Attempt(t.Context(), Message{Body: []byte(`{"data":{}}`)}, target, Place{})
	if diff := cmp.Diff(Outcome{Verdict: VerdictDead, Reason: ReasonUnreadable}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(client.posts) != 0 {
		t.Errorf("%d POSTs", len(client.posts))
	}
}

// One attempt that the receiver puts off.
func ExampleSender_Attempt() {
	receiver := &scripted{response: Response{Status: 429, Reason: ReasonHTTP429, RetryAfter: "120"}}
	m := Message{Ref: Ref{DeliveryID: "msg_1"}, Body: []byte(`{"type":"user.created","data":{}}`)}
	place := PlaceOf(schedule, m, Receive{Count: 1}, now)
	out := sender(receiver).Attempt(context.Background(), m, target, place)
	fmt.Println(out.Verdict, out.Reason, out.RetryAfter)
	fmt.Println(receiver.posts[0].Header["Wh-Webhook-Event"])
	// Output:
	// retry http_429 2m0s
	// [user.created]
}
