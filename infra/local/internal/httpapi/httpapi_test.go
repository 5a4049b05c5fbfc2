package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

func TestFunctionOf_isBehindEveryRoute(t *testing.T) {
	t.Parallel()
	const good = `{"Body":{"paths":{"/things":{"get":{"x-amazon-apigateway-integration":{"type":"aws_proxy",` +
		`"payloadFormatVersion":"2.0","uri":{"Fn::Sub":"arn:x/${WebFunction.Arn}/invocations"}}}},` +
		`"/$default":{"x-amazon-apigateway-any-method":{"isDefaultRoute":true,"x-amazon-apigateway-integration":{` +
		`"type":"aws_proxy","payloadFormatVersion":"2.0","uri":{"Fn::Sub":"arn:x/${WebFunction.Arn}/invocations"}}}}}}}`
	read := func(text string) (string, error) {
		var api cfn.Object
		if err := json.Unmarshal([]byte(text), &api); err != nil {
			t.Fatal(err)
		}
		return FunctionOf(api)
	}
	if name, err := read(good); name != "WebFunction" || err != nil {
		t.Errorf("%q, %v", name, err)
	}
	for name, change := range map[string][2]string{
		"another payload format": {`"2.0"`, `"1.0"`},
		"an authorizer":          {`{"x-amazon`, `{"security":[{"key":[]}],"x-amazon`},
		"no function":            {`${WebFunction.Arn}`, `${Url}`},
		"two functions":          {`${WebFunction.Arn}`, `${OtherFunction.Arn}`},
		"no default route":       {`"isDefaultRoute":true`, `"isDefaultRoute":false`},
	} {
		if _, err := read(strings.Replace(good, change[0], change[1], 1)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// answering is a function with one answer.
type answering struct {
	result function.Result
	err    error
	event  []byte
}

func (a *answering) Invoke(_ context.Context, payload []byte) (function.Result, error) {
	a.event = payload
	return a.result, a.err
}

func serve(t *testing.T, f *answering, request *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	recorder := httptest.NewRecorder()
	(&API{Function: f, Lifetime: t.Context()}).ServeHTTP(recorder, request)
	return recorder
}

func TestAPI_answersAsTheFunctionDid(t *testing.T) {
	t.Parallel()
	const internal = `{"message":"Internal Server Error"}`
	payload := func(text string) function.Result { return function.Result{Payload: []byte(text)} }
	for _, row := range []struct {
		name   string
		result function.Result
		err    error
		status int
		body   string
	}{
		{"a whole answer", payload(`{"statusCode":409,"body":"no"}`), nil, 409, "no"},
		{"a base64 body", payload(`{"statusCode":200,"body":"/wA=","isBase64Encoded":true}`), nil, 200, "\xff\x00"},
		{"not JSON", payload(`{`), nil, 500, internal},
		{"an impossible status", payload(`{"statusCode":99}`), nil, 500, internal},
		{"a failed invocation", function.Result{Payload: []byte(`{}`), Error: "Unhandled"}, nil, 500, internal},
		{"no free process", function.Result{}, function.ErrThrottled, 503, `{"message":"Service Unavailable"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := serve(t, &answering{result: row.result, err: row.err}, httptest.NewRequest(http.MethodPost, "/things/1", nil))
			if got.Code != row.status || got.Body.String() != row.body {
				t.Errorf("%d %q, want %d %q", got.Code, got.Body, row.status, row.body)
			}
		})
	}
}

func TestAPI_sendsEventsOfFormat2(t *testing.T) {
	t.Parallel()
	f := &answering{result: function.Result{Payload: []byte(`{"statusCode":204}`)}}
	request := httptest.NewRequest(http.MethodPost, "/things/x?b=2&a=1&a=3", strings.NewReader(`{"k":1}`))
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	request.Header.Set("X-Two", "1")
	request.Header.Add("X-Two", "2")
	serve(t, f, request)
	var event map[string]any
	if err := json.Unmarshal(f.event, &event); err != nil {
		t.Fatal(err)
	}
	headers, _ := event["headers"].(map[string]any)
	got := map[string]any{"x-two": headers["x-two"], "host": headers["host"]}
	for _, name := range []string{"version", "rawPath", "rawQueryString", "body", "isBase64Encoded"} {
		got[name] = event[name]
	}
	want := map[string]any{
		"version": "2.0", "rawPath": "/things/x", "rawQueryString": "b=2&a=1&a=3",
		"body": `{"k":1}`, "isBase64Encoded": false, "x-two": "1,2", "host": "example.com",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestAPI_takesBodiesUpToTenMegabytesOfAnyBytes(t *testing.T) {
	t.Parallel()
	for body, status := range map[string]int{"\xff\x00": 204, strings.Repeat("x", 10_000_001): 413} {
		f := &answering{result: function.Result{Payload: []byte(`{"statusCode":204,"cookies":["a=1"]}`)}}
		got := serve(t, f, httptest.NewRequest(http.MethodPost, "/things", strings.NewReader(body)))
		if got.Code != status || status == 204 && got.Header().Get("Set-Cookie") != "a=1" {
			t.Errorf("%.3q: %d %s, %v", body, got.Code, got.Body, got.Header())
		}
		if sent := string(f.event); status == 204 && !strings.Contains(sent, `"body":"/wA=","isBase64Encoded":true`) {
			t.Errorf("%.3q was sent as %s", body, sent)
		}
	}
}
