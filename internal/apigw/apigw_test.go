package apigw_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/apigw"
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

// serve invokes a function that answers every request alike, and returns what it saw.
func serve(t *testing.T, payload string) (seen apigw.Request, answer string, err error) {
	t.Helper()
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "lambda-1"})
	out, err := apigw.Handler(func(_ context.Context, req apigw.Request) apigw.Response {
		seen = req
		return apigw.Response{
			Status: 200,
			Header: map[string]string{"Content-Type": "application/json"},
			Body:   []byte(`{"é":"\"<"}`),
		}
	}).Invoke(ctx, []byte(payload))
	return seen, string(out), err
}

func TestHandler_Invoke_handsOnARequestAsItWasSent(t *testing.T) {
	const answer = `{"statusCode":200,"headers":{"Content-Type":"application/json"},` +
		`"body":"{\"é\":\"\\\"<\"}","isBase64Encoded":false}`
	for body, want := range map[string]string{
		`"isBase64Encoded":false`:                              "",
		`"body":"{\"a\":\"\\u00e9\"}","isBase64Encoded":false`: `{"a":"\u00e9"}`,
		`"body":"/wB7","isBase64Encoded":true`:                 "\xff\x00{",
	} {
		request := apigw.Request{
			ID: "JKJaXmPLvHcESHA=", Method: http.MethodPost, Path: "/v1/webhooks/webhook_1/restore", Query: "a=1&a=%202",
			Header: map[string]string{
				"authorization": "Bearer hk_x", "content-type": "application/json", "x-forwarded-for": "203.0.113.9",
			},
			Body: []byte(want), SourceIP: "203.0.113.9",
		}
		got, out, err := serve(t, fmt.Sprintf(recorded, body))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(request, got); diff != "" {
			t.Errorf("%s: request (-want +got):\n%s", body, diff)
		}
		if diff := cmp.Diff(answer, out); diff != "" {
			t.Errorf("%s: answer (-want +got):\n%s", body, diff)
		}
	}
}

func TestHandler_Invoke_handsOnThatItIsNoRequest(t *testing.T) {
	notBase64 := fmt.Sprintf(recorded, `"body":"?","isBase64Encoded":true`)
	twice := fmt.Sprintf(recorded, `"headers":{}`)
	for _, payload := range []string{``, `null x`, `[]`, `{"rawPath":1}`, "{\"rawPath\":\"\xff\"}", notBase64, twice} {
		got, _, err := serve(t, payload)
		if err != nil {
			t.Errorf("%q: the invocation fails: %v", payload, err)
		}
		if diff := cmp.Diff(apigw.Request{ID: "lambda-1", Malformed: true}, got); diff != "" {
			t.Errorf("%q: request (-want +got):\n%s", payload, diff)
		}
	}
}
