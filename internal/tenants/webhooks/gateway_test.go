package webhooks

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"
)

// recorded is an invocation as API Gateway makes it, shortened.
const recorded = `{
	"version": "2.0",
	"routeKey": "POST /v1/webhooks/{id}/restore",
	"rawPath": "/v1/webhooks/webhook_1/restore",
	"rawQueryString": "a=1&a=%%202",
	"headers": {
		"authorization": "Bearer hk_x", "content-type": "application/json", "x-forwarded-for": "203.0.113.9"
	},
	"queryStringParameters": {"a": "1, 2"},
	"requestContext": {
		"accountId": "123456789012", "apiId": "api", "domainName": "api.example.com", "domainPrefix": "api",
		"http": {
			"method": "POST", "path": "/v1/webhooks/webhook_1/restore", "protocol": "HTTP/1.1",
			"sourceIp": "203.0.113.9", "userAgent": "curl/8"
		},
		"requestId": "JKJaXmPLvHcESHA=", "routeKey": "POST /v1/webhooks/{id}/restore", "stage": "$default",
		"time": "01/Mar/2026:12:00:00 +0000", "timeEpoch": 1772366400000
	},
	"pathParameters": {"id": "webhook_1"},
	%s
}`

// invoked is the context of an invocation.
func invoked(t *testing.T) context.Context {
	t.Helper()
	return lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "lambda-1"})
}

func TestReceived_isTheRequestAsItWasSent(t *testing.T) {
	for body, want := range map[string]string{
		`"isBase64Encoded":false`:                              "",
		`"body":"{\"a\":\"\\u00e9\"}","isBase64Encoded":false`: `{"a":"\u00e9"}`,
		`"body":"/wB7","isBase64Encoded":true`:                 "\xff\x00{",
	} {
		c := received(invoked(t), fmt.Appendf(nil, recorded, body))
		got := []string{
			c.id(), c.in.RequestContext.HTTP.Method, c.in.RawPath, c.in.RawQueryString, c.in.Headers["content-type"],
			c.in.RequestContext.HTTP.SourceIP, string(c.body),
		}
		sent := []string{
			"JKJaXmPLvHcESHA=", http.MethodPost, "/v1/webhooks/webhook_1/restore", "a=1&a=%202", "application/json",
			"203.0.113.9", want,
		}
		if diff := cmp.Diff(sent, got); diff != "" || c.malformed {
			t.Errorf("%s: request (-want +got):\n%s", body, diff)
		}
	}
}

// Any other payload is answered like a request, under Lambda's own id, and nothing of it is logged.
func TestHandler_Invoke_answersAnyOtherPayload(t *testing.T) {
	w := newRig(t)
	notBase64 := fmt.Sprintf(recorded, `"body":"?","isBase64Encoded":true`)
	twice := fmt.Sprintf(recorded, `"headers":{}`)
	for _, payload := range []string{``, `null x`, `[]`, `{"rawPath":1}`, "{\"rawPath\":\"\xff\"}", notBase64, twice} {
		a := w.exchange(invoked(t), "GET", "/v1/webhooks", nil, nil, []byte(payload))
		w.expect(payload, "400 malformed_request", a)
		if id := a.header.Get("X-Request-Id"); id != "lambda-1" {
			t.Errorf("%q is answered as request %s", payload, id)
		}
	}
	if strings.Contains(w.log.String(), "203.0.113.9") {
		t.Errorf("the log has parts of a payload that was not understood:\n%s", w.log)
	}
}
