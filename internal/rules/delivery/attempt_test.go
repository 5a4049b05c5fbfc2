package delivery

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/rules/signature"
)

// scripted answers every POST with the same response and keeps the requests.
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
	target = Target{URL: "https://example.com/hook", Signer: signature.Signer{Secret: "whsec_AAECAwQFBgcICQoLDA0ODw=="}}
)

func sender(client Poster) Sender {
	return Sender{Client: client, UserAgent: "Herald/test", Now: func() time.Time { return time.Unix(1_700_000_000, 999) }}
}

func TestSender_Attempt_sendsTheContractsRequest(t *testing.T) {
	client := &scripted{response: Response{Status: 200}}
	ref, own := Ref{DeliveryID: "msg_1", TenantID: "tenant_1"}, target
	own.Headers = []Field{{"Authorization", "Bearer x"}}
	sender(client).Attempt(t.Context(), Message{Ref: ref, Body: []byte(body)}, own)
	want := []Request{{TenantID: "tenant_1", URL: target.URL, Body: []byte(body), Header: []Field{
		{"Content-Type", "application/json"}, {"User-Agent", "Herald/test"}, {"Wh-Id", "msg_1"},
		{"Wh-Timestamp", "1700000000"},
		{"Wh-Signature", signature.Sign(target.Signer.Secret, "msg_1", 1_700_000_000, []byte(body))},
		{"Wh-Webhook-Event", "user.created"}, {"Authorization", "Bearer x"},
	}}}
	if diff := cmp.Diff(want, client.posts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Every companion repeats id and time, and is signed under the decoded key. The owner's headers come last.
func TestSender_Attempt_addsCompanions(t *testing.T) {
	const secret = "whsec_AAECAwQFBgcICQoLDA0ODw=="
	signed := signature.SignDecoded(secret, "msg_1", 1_700_000_000, []byte(body))
	webhook := []Field{{"Webhook-Id", "msg_1"}, {"Webhook-Timestamp", "1700000000"}, {"Webhook-Signature", signed}}
	svix := []Field{{"Svix-Id", "msg_1"}, {"Svix-Timestamp", "1700000000"}, {"Svix-Signature", signed}}
	for companions, want := range map[Companions][]Field{
		CompanionsNone: nil, CompanionsWebhook: webhook, CompanionsSvix: svix, CompanionsBoth: slices.Concat(webhook, svix),
	} {
		client := &scripted{response: Response{Status: 200}}
		s := sender(client)
		s.Companions = companions
		own := Target{
			URL: target.URL, Signer: signature.Signer{Secret: secret}, Headers: []Field{{"Authorization", "Bearer x"}},
		}
		s.Attempt(t.Context(), Message{Ref: Ref{DeliveryID: "msg_1"}, Body: []byte(body)}, own)
		got := client.posts[0].Header
		if diff := cmp.Diff(append(want, own.Headers...), got[6:], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", companions, diff)
		}
		if err := companions.Validate(); err != nil {
			t.Errorf("%s: %v", companions, err)
		}
	}
	for _, unknown := range []Companions{"", "all", "svix+webhook"} {
		if unknown.Validate() == nil {
			t.Errorf("%q is taken", unknown)
		}
	}
}

// A key pair signs in the companions alone, after the secrets, and the newest is named. wh-signature stays as it is.
func TestSender_Attempt_signsByKeyPairsOnRequest(t *testing.T) {
	newer := signature.NewSigner("whsec_AAECAwQFBgcICQoLDA0ODw==")
	older := signature.NewSigner("whsec_Dw4NDAsKCQgHBgUEAwIBAA==")
	unpaired := func(s signature.Signer) signature.Signer { return signature.Signer{Secret: s.Secret} }
	const at = 1_700_000_000
	v1 := func(s signature.Signer) string { return signature.SignDecoded(s.Secret, "msg_1", at, []byte(body)) }
	v1a := func(s signature.Signer) string { return signature.SignAsymmetric(s.Key, "msg_1", at, []byte(body)) }
	for name, row := range map[string]struct {
		asymmetric       bool
		companions       Companions
		signer, previous signature.Signer
		want             []string
		keyID            string
	}{
		"off": {false, CompanionsWebhook, newer, older, []string{v1(newer), v1(older)}, ""},
		"on":  {true, CompanionsWebhook, newer, signature.Signer{}, []string{v1(newer), v1a(newer)}, newer.KeyID()},
		"during an overlap": {
			true, CompanionsBoth, newer, older, []string{v1(newer), v1(older), v1a(newer), v1a(older)}, newer.KeyID(),
		},
		"before there is a pair": {true, CompanionsSvix, unpaired(newer), signature.Signer{}, []string{v1(newer)}, ""},
		"the first pair": {
			true, CompanionsWebhook, newer, unpaired(older), []string{v1(newer), v1(older), v1a(newer)}, newer.KeyID(),
		},
		"a pair before, and none now": {
			true, CompanionsWebhook, unpaired(newer), older, []string{v1(newer), v1(older), v1a(older)}, "",
		},
	} {
		client := &scripted{response: Response{Status: 200}}
		s := sender(client)
		s.Companions, s.Asymmetric = row.companions, row.asymmetric
		to := Target{URL: target.URL, Signer: row.signer, Previous: row.previous}
		s.Attempt(t.Context(), Message{Ref: Ref{DeliveryID: "msg_1"}, Body: []byte(body)}, to)
		keyID, carriers := "", 0
		for _, f := range client.posts[0].Header {
			switch {
			case f.Name == "Wh-Key-Id":
				keyID = f.Value
			case f.Name == "Wh-Signature":
				if f.Value != signature.Sign(newer.Secret, "msg_1", at, []byte(body)) {
					t.Errorf("%s: wh-signature is %s", name, f.Value)
				}
			case strings.HasSuffix(f.Name, "-Signature"):
				carriers++
				if diff := cmp.Diff(strings.Join(row.want, " "), f.Value); diff != "" {
					t.Errorf("%s: %s (-want +got)\n%s", name, f.Name, diff)
				}
			}
		}
		if keyID != row.keyID || carriers == 0 {
			t.Errorf("%s: wh-key-id is %q, want %q; %d headers with signatures", name, keyID, row.keyID, carriers)
		}
	}
}

func TestCompanions_Carry_refusesSignaturesWithoutAHeader(t *testing.T) {
	if err := CompanionsNone.Carry(true); err == nil {
		t.Error("signatures by key pairs are sent nowhere")
	}
	for _, err := range []error{CompanionsNone.Carry(false), CompanionsSvix.Carry(true), CompanionsBoth.Carry(true)} {
		if err != nil {
			t.Error(err)
		}
	}
}

// Retry-After counts of failures only.
func TestSender_Attempt_decidesByTheStatusAlone(t *testing.T) {
	for status, reason := range map[int]Reason{
		200: "", 201: "", 204: "", 299: "",
		0: ReasonConnect, 199: ReasonHTTP1xx, 300: ReasonHTTP3xx, 410: ReasonHTTP4xx, 503: ReasonHTTP5xx,
	} {
		r := Response{Status: status, Reason: ReasonProtocol, Elapsed: time.Minute, RetryAfter: "30"}
		want := Outcome{Verdict: VerdictAcknowledged, Status: status, Elapsed: time.Minute}
		if reason != "" {
			r.Reason = reason
			want.Verdict, want.Reason, want.RetryAfter = VerdictRetry, reason, 30*time.Second
		}
		got := sender(&scripted{response: r}).Attempt(t.Context(), Message{Body: []byte(body)}, target)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d (-want +got)\n%s", status, diff)
		}
	}
}

// A date is counted from the answer's own: the receiver's clock may be an hour off.
func TestSender_Attempt_countsRetryAfterFromTheAnswersDate(t *testing.T) {
	r := Response{
		Status: 503, Reason: ReasonHTTP5xx,
		RetryAfter: "Fri, 01 May 1998 12:00:30 GMT", Date: "Fri, 01 May 1998 12:00:00 GMT",
	}
	got := sender(&scripted{response: r}).Attempt(t.Context(), Message{Body: []byte(body)}, target)
	if got.RetryAfter != 30*time.Second {
		t.Errorf("it waits %s", got.RetryAfter)
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
