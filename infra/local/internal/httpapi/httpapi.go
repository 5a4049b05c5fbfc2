// Package httpapi is the front of an HTTP API: it turns requests into Lambda events of payload format
// 2.0 and the functions' answers into responses, as API Gateway does.
//
// It promises the routes of the translated template and no other, and API Gateway's own answers (404, 413,
// 500, 503) word for word. It never looks into a body.
package httpapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
)

const maxBody = 10_000_000 // API Gateway's limit of a request body

// Function is the target of a route.
type Function interface {
	Invoke(ctx context.Context, payload []byte) (function.Result, error)
}

// API is one HTTP API.
type API struct {
	ID        string
	AccountID string
	Routes    []Route
	Functions map[string]Function // by the logical id that routes name
	// Lifetime bounds invocations: like API Gateway, the front does not stop a function when its client leaves.
	Lifetime context.Context
}

// Handler serves the routes. API Gateway matches paths as they are and methods exactly: it neither cleans a path,
// nor takes a HEAD for a GET, nor tells which methods a path has. The rest is the default route's, if there is one.
func (a *API) Handler() http.Handler {
	rest := func(w http.ResponseWriter, _ *http.Request) { own(w, http.StatusNotFound, "Not Found") }
	mux := http.NewServeMux()
	for _, route := range a.Routes {
		serve := func(w http.ResponseWriter, r *http.Request) { a.serve(w, r, route) }
		if route.Path == defaultRoute {
			rest = serve
			continue
		}
		mux.HandleFunc(route.Key(), func(w http.ResponseWriter, r *http.Request) {
			if r.Method != route.Method {
				rest(w, r)
				return
			}
			serve(w, r)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { rest(w, r) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if given := r.URL.EscapedPath(); given != path.Clean(given) {
			rest(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (a *API) serve(w http.ResponseWriter, r *http.Request, route Route) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		own(w, http.StatusRequestEntityTooLarge, "Request Entity Too Large")
		return
	case err != nil:
		own(w, http.StatusBadRequest, "Bad Request")
		return
	}
	event := a.event(r, body, route)
	w.Header().Set("Apigw-Requestid", event.RequestContext.RequestID)
	payload, err := json.Marshal(event)
	switch {
	case err != nil:
		own(w, http.StatusInternalServerError, "Internal Server Error")
		return
	case len(payload) > function.MaxPayload:
		own(w, http.StatusRequestEntityTooLarge, "Request Too Long")
		return
	}
	result, err := a.Functions[route.Function].Invoke(a.Lifetime, payload)
	if err != nil {
		own(w, http.StatusServiceUnavailable, "Service Unavailable")
		return
	}
	answer(w, result)
}

// answer writes the function's answer, or API Gateway's own in its place.
func answer(w http.ResponseWriter, result function.Result) {
	var response events.APIGatewayV2HTTPResponse
	err := json.Unmarshal(result.Payload, &response)
	body := []byte(response.Body)
	if err == nil && response.IsBase64Encoded {
		body, err = base64.StdEncoding.DecodeString(response.Body)
	}
	if err != nil || result.Error != "" || response.StatusCode < 200 || response.StatusCode > 599 {
		own(w, http.StatusInternalServerError, "Internal Server Error")
		return
	}
	for name, value := range response.Headers {
		w.Header().Set(name, value)
	}
	for _, cookie := range response.Cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	if w.Header().Get("Content-Type") == "" && len(body) > 0 {
		w.Header().Set("Content-Type", "text/plain;charset=UTF-8")
	}
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body) // the client may have left
}

// own writes an answer of API Gateway itself.
func own(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"message":"`+message+`"}`) // the client may have left
}
