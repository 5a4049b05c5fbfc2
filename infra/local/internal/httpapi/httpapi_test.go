package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
)

func TestMatch_findsTheMostSpecificRoute(t *testing.T) {
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
		if !ok || got.Key() != row.key {
			t.Errorf("%s %s matches %q, want %q", row.method, row.path, got.Key(), row.key)
		}
		if diff := cmp.Diff(row.values, values, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s %s: path parameters (-want +got):\n%s", row.method, row.path, diff)
		}
	}
	if _, _, ok := match(routes[1:], "GET", "/nothing"); ok {
		t.Error("without a default route an unknown path must match nothing")
	}
}

func TestRoutes_areThoseOfTheTranslatedTemplate(t *testing.T) {
	t.Parallel()
	const integration = `{"x-amazon-apigateway-integration":{"type":"aws_proxy","payloadFormatVersion":"2.0",` +
		`"uri":{"Fn::Sub":"arn:x/${WebFunction.Arn}/invocations"}}`
	var properties map[string]any
	body := `{"Body":{"paths":{"/things/{id}":{"get":` + integration +
		`}},"/$default":{"x-amazon-apigateway-any-method":` + integration + `,"isDefaultRoute":true}}}}}`
	if err := json.Unmarshal([]byte(body), &properties); err != nil {
		t.Fatal(err)
	}
	routes, err := Routes(properties)
	if err != nil {
		t.Fatal(err)
	}
	want := []Route{{anyMethod, defaultRoute, "WebFunction"}, {"GET", "/things/{id}", "WebFunction"}}
	if diff := cmp.Diff(want, routes); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
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
		AccessLog: AccessLog{
			Format: `{"route":"$context.routeKey","status":"$context.status","x":"$context.unheardOf"}`, Lines: &log,
		},
	}
	recorder := httptest.NewRecorder()
	api.ServeHTTP(recorder, request)
	return recorder, log.String()
}

func TestAPI_ServeHTTP_answersAsTheFunctionDid(t *testing.T) {
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
		{"no status code", payload(`{"a":1}`), nil, 200, `{"a":1}`},
		{"not JSON", payload(`{`), nil, 500, internal},
		{"an impossible status", payload(`{"statusCode":99}`), nil, 500, internal},
		{"a failed invocation", function.Result{Payload: []byte(`{}`), Error: "Unhandled"}, nil, 500, internal},
		{"no free process", function.Result{}, function.ErrThrottled, 503, `{"message":"Service Unavailable"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, _ := serve(t, &answering{result: row.result, err: row.err},
				httptest.NewRequest(http.MethodPost, "/things/1", nil))
			if got.Code != row.status || got.Body.String() != row.body {
				t.Errorf("%d %q, want %d %q", got.Code, got.Body, row.status, row.body)
			}
		})
	}
}

func TestAPI_ServeHTTP_sendsEventsOfFormat2(t *testing.T) {
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
	got := map[string]any{"x-two": headers["x-two"], "cookie": headers["cookie"], "host": headers["host"]}
	for _, name := range []string{"version", "routeKey", "rawPath", "rawQueryString", "body", "isBase64Encoded"} {
		got[name] = event[name]
	}
	want := map[string]any{
		"version": "2.0", "routeKey": "POST /things/{id}", "rawPath": "/things/x", "rawQueryString": "b=2&a=1&a=3",
		"body": `{"k":1}`, "isBase64Encoded": false,
		"x-two": "1,2", "cookie": nil, "host": "example.com",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if log != `{"route":"POST /things/{id}","status":"204","x":"-"}`+"\n" {
		t.Errorf("access log %q", log)
	}
}

// The format is the template's: whatever a client sends, each line is one object with the same keys.
func TestAPI_ServeHTTP_logsNothingThatAClientWrites(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources struct {
			HttpApi struct {
				Properties struct {
					AccessLogSettings struct {
						Format string `yaml:"Format"`
					} `yaml:"AccessLogSettings"`
				} `yaml:"Properties"`
			} `yaml:"HttpApi"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(raw, &template); err != nil {
		t.Fatal(err)
	}
	const forged = `x","status":"200","x":"\`
	request := httptest.NewRequest(http.MethodPost, "/things/1", nil)
	request.Method, request.URL.Path, request.URL.RawQuery = "GET", "/"+forged, forged
	request.Header.Set("User-Agent", forged)
	request.Header.Set("X-Forwarded-For", forged)
	var log bytes.Buffer
	api := &API{
		Routes: []Route{{"POST", "/things/{id}", "F"}}, Lifetime: t.Context(),
		AccessLog: AccessLog{Format: template.Resources.HttpApi.Properties.AccessLogSettings.Format, Lines: &log},
	}
	api.ServeHTTP(httptest.NewRecorder(), request)
	var line map[string]string
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, &log)
	}
	if strings.Contains(log.String(), `x"`) || line["status"] != "404" {
		t.Errorf("the log has %s", &log)
	}
}
