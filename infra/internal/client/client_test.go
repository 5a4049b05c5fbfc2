package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/herald-webhooks/herald/infra/internal/statefile"
)

// A creation that is answered 503 may have been done: the next try is refused, and the endpoint gets a new secret.
func TestClient_CreateEndpoint_claimsWhatAFirstTryHasMade(t *testing.T) {
	const standing = `{"id":"webhook_1","url":"https://a.example/","status":"active","signing_secret":"whs_new"}`
	tries := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := http.StatusOK, standing
		switch r.Method + " " + r.URL.Path {
		case "GET /v1/webhooks":
			body = `{"data":[{"id":"webhook_0","url":"https://b.example/"},` + standing + `]}`
		case "POST /v1/webhooks":
			if tries++; tries < maxTries {
				w.Header().Set("Retry-After", "0")
				status, body = http.StatusServiceUnavailable, `{"status":503,"code":"unavailable"}`
			} else {
				status, body = http.StatusConflict, `{"status":409,"code":"duplicate_url","detail":"in use"}`
			}
		case "POST /v1/webhooks/webhook_1/rotate-secret":
		default:
			t.Errorf("%s %s", r.Method, r.URL)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	c := New(statefile.State{APIURL: server.URL})
	e, err := c.CreateEndpoint(t.Context(), "https://a.example/", "*")
	if err != nil || e.ID != "webhook_1" || e.SigningSecret != "whs_new" || tries != maxTries {
		t.Errorf("%+v after %d tries: %v", e, tries, err)
	}
	if _, err := c.CreateEndpoint(t.Context(), "https://c.example/", "*"); err == nil {
		t.Error("a refusal is no error")
	}
}

func TestClient_Call_showsTheGatewaysOwnRefusals(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"message":"Too Many Requests"}`)
	}))
	t.Cleanup(server.Close)
	err := New(statefile.State{APIURL: server.URL}).Call(t.Context(), http.MethodDelete, "/v1/webhooks/1", nil, nil)
	const want = `DELETE /v1/webhooks/1: answered 429 {"message":"Too Many Requests"}`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
