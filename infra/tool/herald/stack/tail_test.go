package stack

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/testkit/names"
)

// No id can widen a pattern or a query: what is no id is refused before AWS is asked.
//
// Threat of a page: an id widens what is followed or queried. Held by: what has not the form of an id is refused.
func TestTailed_takesNothingButIds(t *testing.T) {
	for _, tenant := range names.Tenants() {
		want := `{ ($.outcome = "*") && ($.tenant_id = "` + tenant + `") && ($.endpoint_id = "webhook_1") }`
		of := Tailed{tenant, "webhook_1"}
		if err := of.Check(); err != nil || of.pattern() != want {
			t.Errorf("%s: %v, %s", tenant, err, of.pattern())
		}
	}
	if got := (Tailed{}).pattern(); got != `{ ($.outcome = "*") }` {
		t.Errorf("of all: %s", got)
	}
	for _, text := range names.Refused() {
		if text == "" {
			continue
		}
		for field, of := range map[string]Tailed{"tenant_id": {TenantID: text}, "endpoint_id": {EndpointID: text}} {
			asked := func(Lines) { t.Errorf("%q is followed", text) }
			for _, err := range []error{of.Check(), Stack{}.Tail(t.Context(), of, asked), TailLocal(t.Context(), of, asked)} {
				if refused, is := errors.AsType[*api.Refusal](err); !is || refused.Field != field {
					t.Errorf("%s %q: %v", field, text, err)
				}
			}
		}
	}
	long := "webhook_" + strings.Repeat("1", 65)
	for _, id := range []string{"webhook_", `webhook_1" || $.tenant_id = "*`, "msg_1", long} {
		if err := (Tailed{EndpointID: id}).Check(); err == nil {
			t.Errorf("the endpoint %s is taken", id)
		}
	}
}

// liveTail is CloudWatch Logs as far as it streams a log: two seconds of it, and then the end of the session.
type liveTail struct{ asked string }

func (l *liveTail) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	l.asked = string(body)
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	send := func(kind, payload string) {
		var b bytes.Buffer
		_ = eventstream.NewEncoder().Encode(&b, eventstream.Message{Payload: []byte(payload), Headers: eventstream.Headers{
			{Name: ":message-type", Value: eventstream.StringValue("event")},
			{Name: ":event-type", Value: eventstream.StringValue(kind)},
			{Name: ":content-type", Value: eventstream.StringValue("application/json")},
		}})
		_, _ = w.Write(b.Bytes())
	}
	send("initial-response", `{}`)
	send("sessionStart", `{}`)
	send("sessionUpdate", `{"sessionMetadata":{"sampled":false},"sessionResults":[{"message":"a"},{"message":"b"}]}`)
	send("sessionUpdate", `{"sessionMetadata":{"sampled":true},"sessionResults":[{"message":"c"}]}`)
}

func TestTail_followsByAPatternAndSaysWhatIsASample(t *testing.T) {
	logs := &liveTail{}
	server := httptest.NewServer(logs)
	t.Cleanup(server.Close)
	to := func(ctx context.Context, network, _ string) (net.Conn, error) { // AWS has another host for streams
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	s := Stack{Name: "herald-test", Operator: "arn:aws:iam::123456789012:user/ann", AWS: aws.Config{
		Region: "eu-west-1", BaseEndpoint: aws.String("http://logs.example"), RetryMaxAttempts: 1,
		HTTPClient:  &http.Client{Transport: &http.Transport{DialContext: to}},
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var got []Lines
	err := s.Tail(ctx, Tailed{TenantID: "auth0|42"}, func(l Lines) { got = append(got, l) })
	if err == nil || !strings.Contains(err.Error(), "the session has ended") {
		t.Errorf("it ends with %v", err)
	}
	if diff := cmp.Diff([]Lines{{Texts: []string{"a", "b"}}, {Texts: []string{"c"}, Sampled: true}}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	for _, text := range []string{
		`$.tenant_id = \"auth0|42\"`, "arn:aws:logs:eu-west-1:123456789012:log-group:/aws/lambda/herald-test-deliver",
	} {
		if !strings.Contains(logs.asked, text) {
			t.Errorf("asked for %s", logs.asked)
		}
	}
}
