package client

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/statefile"
)

// served answers without a network, in fake time.
type served func(r *http.Request) (status int, body string)

func (s served) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := s(r)
	after := http.Header{"Retry-After": {"1"}}
	return &http.Response{StatusCode: status, Header: after, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// A creation that is answered 503 may have been done: the next try is refused, and the endpoint gets a new secret.
func TestClient_CreateEndpoint_claimsWhatAFirstTryHasMade(t *testing.T) {
	const standing = `{"id":"webhook_1","url":"https://a.example/","status":"active","signing_secret":"whsec_new"}`
	tries := 0
	c := New(statefile.State{APIURL: "https://herald.example"})
	c.HTTP.Transport = served(func(r *http.Request) (status int, body string) {
		switch r.Method + " " + r.URL.Path {
		case "GET /v1/webhooks":
			return http.StatusOK, `{"data":[{"id":"webhook_0","url":"https://b.example/"},` + standing + `]}`
		case "POST /v1/webhooks":
			if tries++; tries < maxTries {
				return http.StatusServiceUnavailable, `{"status":503,"code":"unavailable"}`
			}
			return http.StatusConflict, `{"status":409,"code":"duplicate_url","detail":"in use"}`
		case "POST /v1/webhooks/webhook_1/rotate-secret":
			return http.StatusOK, standing
		}
		t.Errorf("%s %s", r.Method, r.URL)
		return http.StatusNotFound, `{}`
	})
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		e, err := c.CreateEndpoint(t.Context(), "https://a.example/", "*")
		if err != nil || e.ID != "webhook_1" || e.SigningSecret != "whsec_new" || tries != maxTries {
			t.Errorf("%+v after %d tries: %v", e, tries, err)
		}
		if took := time.Since(start); took != (maxTries-1)*time.Second {
			t.Errorf("tried again for %s", took)
		}
		if _, err := c.CreateEndpoint(t.Context(), "https://c.example/", "*"); err == nil {
			t.Error("a refusal is no error")
		}
	})
}

func TestClient_Call_showsTheGatewaysOwnRefusals(t *testing.T) {
	c := New(statefile.State{APIURL: "https://herald.example"})
	c.HTTP.Transport = served(func(*http.Request) (int, string) {
		return http.StatusTooManyRequests, `{"message":"Too Many Requests"}`
	})
	err := c.Call(t.Context(), http.MethodDelete, "/v1/webhooks/1", nil, nil)
	const want = `DELETE /v1/webhooks/1: answered 429 {"message":"Too Many Requests"}`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
