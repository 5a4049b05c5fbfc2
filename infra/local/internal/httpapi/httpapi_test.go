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
)

func TestProperties_Routes_areThoseOfTheTranslatedTemplate(t *testing.T) {
	t.Parallel()
	const good = `{"Body":{"paths":{"/things/{id}":{"get":{"x-amazon-apigateway-integration":{"type":"aws_proxy",` +
		`"payloadFormatVersion":"2.0","uri":{"Fn::Sub":"arn:x/${WebFunction.Arn}/invocations"}}}}}}}`
	read := func(text string) ([]Route, error) {
		var p Properties
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		return p.Routes()
	}
	routes, err := read(good)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Route{{"GET", "/things/{id}", "WebFunction"}}, routes); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	routes, err = read(strings.Replace(good, `{"x-amazon`, `{"isDefaultRoute":true,"x-amazon`, 1))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Route{{"", "$default", "WebFunction"}}, routes); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	for name, change := range map[string][2]string{
		"another payload format": {`"2.0"`, `"1.0"`},
		"an authorizer":          {`{"x-amazon`, `{"security":[{"key":[]}],"x-amazon`},
		"no function":            {`${WebFunction.Arn}`, `${Url}`},
		"a greedy path":          {`{id}`, `{id+}`},
		"any method":             {`"get"`, `"x-amazon-apigateway-any-method"`},
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

func serve(t *testing.T, f *answering, request *http.Request, more ...Route) *httptest.ResponseRecorder {
	t.Helper()
	api := &API{
		Routes: append([]Route{
			{"GET", "/things", "F"}, {"GET", "/things/{id}", "F"}, {"GET", "/things/types", "F"}, {"POST", "/things/{id}", "F"},
		}, more...),
		Functions: map[string]Function{"F": f}, Lifetime: t.Context(),
	}
	recorder := httptest.NewRecorder()
	api.Handler().ServeHTTP(recorder, request)
	return recorder
}

func TestAPI_Handler_takesTheMostSpecificRoute(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"GET /things": "GET /things", "GET /things/1": "GET /things/{id}", "GET /things/types": "GET /things/types",
		"POST /things/1": "POST /things/{id}",
		"PUT /things/1":  "$default", "HEAD /things": "$default", "GET /things/": "$default", "GET //things": "$default",
		"GET /things/../things": "$default", "GET /things/1/2": "$default", "GET /": "$default",
	} {
		method, path, _ := strings.Cut(request, " ")
		f := &answering{result: function.Result{Payload: []byte(`{"statusCode":204}`)}}
		serve(t, f, httptest.NewRequest(method, "http://localhost"+path, nil), Route{"", "$default", "F"})
		var event struct{ RouteKey string }
		if err := json.Unmarshal(f.event, &event); err != nil || event.RouteKey != want {
			t.Errorf("%s: route %q, want %q: %v", request, event.RouteKey, want, err)
		}
		if want != "$default" {
			continue
		}
		answer := serve(t, f, httptest.NewRequest(method, "http://localhost"+path, nil))
		if answer.Code != http.StatusNotFound {
			t.Errorf("%s without a default route: %d", request, answer.Code)
		}
	}
}

func TestAPI_Handler_answersAsTheFunctionDid(t *testing.T) {
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

func TestAPI_Handler_sendsEventsOfFormat2(t *testing.T) {
	t.Parallel()
	f := &answering{result: function.Result{Payload: []byte(`{"statusCode":204}`)}}
	request := httptest.NewRequest(http.MethodPost, "/things/x?b=2&a=1&a=3", strings.NewReader(`{"k":1}`))
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	request.Header.Set("X-Two", "1")
	request.Header.Add("X-Two", "2")
	request.Header.Set("Cookie", "one=1; two=2")
	serve(t, f, request)
	var event map[string]any
	if err := json.Unmarshal(f.event, &event); err != nil {
		t.Fatal(err)
	}
	headers, _ := event["headers"].(map[string]any)
	got := map[string]any{"x-two": headers["x-two"], "cookie": headers["cookie"], "host": headers["host"]}
	for _, name := range []string{"version", "rawPath", "rawQueryString", "body", "isBase64Encoded", "cookies",
		"queryStringParameters", "pathParameters"} {
		got[name] = event[name]
	}
	want := map[string]any{
		"version": "2.0", "rawPath": "/things/x", "rawQueryString": "b=2&a=1&a=3",
		"body": `{"k":1}`, "isBase64Encoded": false, "cookies": []any{"one=1", "two=2"},
		"queryStringParameters": map[string]any{"a": "1,3", "b": "2"}, "pathParameters": map[string]any{"id": "x"},
		"x-two": "1,2", "cookie": nil, "host": "example.com",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}
