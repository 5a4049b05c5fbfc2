package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
)

func TestTheMostSpecificRouteMatches(t *testing.T) {
	t.Parallel()
	routes := []Route{
		{anyMethod, defaultRoute, "F"},
		{"GET", "/things", "F"},
		{"GET", "/things/{id}", "F"},
		{"GET", "/things/types", "F"},
		{"ANY", "/things/{id}", "F"},
		{"POST", "/things/{id}/restore", "F"},
		{"ANY", "/files/{path+}", "F"},
	}
	for _, row := range []struct {
		method, path, key string
		values            map[string]string
	}{
		{"GET", "/things", "GET /things", nil},
		{"GET", "/things/1", "GET /things/{id}", map[string]string{"id": "1"}},
		{"GET", "/things/types", "GET /things/types", nil},
		{"PUT", "/things/1", "ANY /things/{id}", map[string]string{"id": "1"}},
		{"POST", "/things/1/restore", "POST /things/{id}/restore", map[string]string{"id": "1"}},
		{"GET", "/things/1/restore", "$default", nil},
		{"GET", "/things/", "$default", nil},
		{"DELETE", "/files/a/b", "ANY /files/{path+}", map[string]string{"path": "a/b"}},
		{"GET", "/", "$default", nil},
	} {
		got, values, ok := match(routes, row.method, row.path)
		if !ok || got.Key() != row.key || len(values) != len(row.values) || !maps.Equal(values, row.values) && len(values) > 0 {
			t.Errorf("%s %s matches %q with %v, want %q with %v", row.method, row.path, got.Key(), values, row.key, row.values)
		}
	}
	if _, _, ok := match(routes[1:], "GET", "/nothing"); ok {
		t.Error("without a default route an unknown path must match nothing")
	}
}

func TestRoutesAreReadFromTheTranslatedTemplate(t *testing.T) {
	t.Parallel()
	const integration = `{"x-amazon-apigateway-integration":{"type":"aws_proxy","payloadFormatVersion":"2.0","uri":{"Fn::Sub":"arn:x/${WebFunction.Arn}/invocations"}}`
	var properties map[string]any
	body := `{"Body":{"paths":{"/things/{id}":{"get":` + integration + `}},"/$default":{"x-amazon-apigateway-any-method":` + integration + `,"isDefaultRoute":true}}}}}`
	if err := json.Unmarshal([]byte(body), &properties); err != nil {
		t.Fatal(err)
	}
	routes, err := Routes(properties)
	if err != nil {
		t.Fatal(err)
	}
	if len(routes) != 2 || routes[0] != (Route{anyMethod, defaultRoute, "WebFunction"}) || routes[1] != (Route{"GET", "/things/{id}", "WebFunction"}) {
		t.Errorf("routes %v", routes)
	}
	if err := json.Unmarshal([]byte(strings.Replace(body, "2.0", "1.0", 1)), &properties); err != nil {
		t.Fatal(err)
	}
	if _, err := Routes(properties); err == nil {
		t.Error("an integration that the host does not know was accepted")
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

func serve(t *testing.T, f *answering, request *http.Request) (*httptest.ResponseRecorder, string) {
	t.Helper()
	var log bytes.Buffer
	api := &API{
		Routes: []Route{{"POST", "/things/{id}", "F"}}, Functions: map[string]Function{"F": f}, Lifetime: t.Context(),
		AccessLog: AccessLog{Format: `{"route":"$context.routeKey","status":"$context.status","x":"$context.unheardOf"}`, Lines: &log},
	}
	recorder := httptest.NewRecorder()
	api.ServeHTTP(recorder, request)
	return recorder, log.String()
}

func TestAnswersBecomeResponses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		result function.Result
		err    error
		status int
		body   string
	}{
		{"a whole answer", function.Result{Payload: []byte(`{"statusCode":409,"body":"no"}`)}, nil, 409, "no"},
		{"a base64 body", function.Result{Payload: []byte(`{"statusCode":200,"body":"/wA=","isBase64Encoded":true}`)}, nil, 200, "\xff\x00"},
		{"no status code", function.Result{Payload: []byte(`{"a":1}`)}, nil, 200, `{"a":1}`},
		{"not JSON", function.Result{Payload: []byte(`{`)}, nil, 500, `{"message":"Internal Server Error"}`},
		{"an impossible status", function.Result{Payload: []byte(`{"statusCode":99}`)}, nil, 500, `{"message":"Internal Server Error"}`},
		{"a failed invocation", function.Result{Payload: []byte(`{}`), Error: "Unhandled"}, nil, 500, `{"message":"Internal Server Error"}`},
		{"no free process", function.Result{}, function.ErrThrottled, 503, `{"message":"Service Unavailable"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, _ := serve(t, &answering{result: row.result, err: row.err}, httptest.NewRequest(http.MethodPost, "/things/1", nil))
			if got.Code != row.status || got.Body.String() != row.body {
				t.Errorf("%d %q, want %d %q", got.Code, got.Body, row.status, row.body)
			}
		})
	}
}

func TestRequestsBecomeEventsOfFormat2(t *testing.T) {
	t.Parallel()
	f := &answering{result: function.Result{Payload: []byte(`{"statusCode":204}`)}}
	request := httptest.NewRequest(http.MethodPost, "/things/x?b=2&a=1&a=3", strings.NewReader(`{"k":1}`))
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	request.Header.Set("X-Two", "1")
	request.Header.Add("X-Two", "2")
	request.Header.Set("Cookie", "one=1; two=2")
	_, log := serve(t, f, request)
	var event map[string]any
	if err := json.Unmarshal(f.event, &event); err != nil {
		t.Fatal(err)
	}
	headers, _ := event["headers"].(map[string]any)
	for what, pair := range map[string][2]any{
		"version": {event["version"], "2.0"}, "routeKey": {event["routeKey"], "POST /things/{id}"}, "rawPath": {event["rawPath"], "/things/x"},
		"rawQueryString": {event["rawQueryString"], "b=2&a=1&a=3"}, "body": {event["body"], `{"k":1}`}, "base64": {event["isBase64Encoded"], false},
		"joined header": {headers["x-two"], "1,2"}, "cookie header": {headers["cookie"], nil}, "host": {headers["host"], "example.com"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %v, want %v", what, pair[0], pair[1])
		}
	}
	if log != `{"route":"POST /things/{id}","status":"204","x":"-"}`+"\n" {
		t.Errorf("access log %q", log)
	}
}
