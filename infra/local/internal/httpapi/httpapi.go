// Package httpapi is the front of an HTTP API: it turns requests into Lambda events of payload format
// 2.0 and the functions' answers into responses, as API Gateway does.
//
// It promises the routes of the translated template and no other, API Gateway's own answers (404, 413,
// 500, 503) word for word, and a log line per request. It never looks into a body.
package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
)

const (
	maxBody = 10_000_000 // API Gateway's limit of a request body
	// maxWait is how long API Gateway waits for a function.
	maxWait = 30 * time.Second
)

// Function is what a route invokes.
type Function interface {
	Invoke(ctx context.Context, payload []byte) (function.Result, error)
}

// API is one HTTP API.
type API struct {
	ID        string
	AccountID string
	Routes    []Route
	Functions map[string]Function // by the logical id that routes name
	AccessLog AccessLog
	// Lifetime bounds invocations: like API Gateway, the front does not stop a function when its client leaves.
	Lifetime context.Context
}

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin, id := time.Now(), base64.RawURLEncoding.EncodeToString([]byte(rand.Text()[:11]))
	w.Header().Set("Apigw-Requestid", id)
	counted := &counter{ResponseWriter: w}
	key, status := a.serve(counted, r, id)
	a.AccessLog.write(map[string]string{
		"requestId": id, "requestTime": begin.UTC().Format(clf), "routeKey": key,
		"httpMethod": r.Method, "path": r.URL.Path, "protocol": r.Proto, "stage": "$default",
		"status": strconv.Itoa(status), "responseLength": strconv.Itoa(counted.bytes),
		"responseLatency":   strconv.FormatInt(time.Since(begin).Milliseconds(), 10),
		"identity.sourceIp": sourceIP(r), "identity.userAgent": r.UserAgent(),
	})
}

func (a *API) serve(w http.ResponseWriter, r *http.Request, id string) (routeKey string, status int) {
	route, values, ok := match(a.Routes, r.Method, r.URL.Path)
	if !ok {
		return "-", own(w, http.StatusNotFound, "Not Found")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return route.Key(), own(w, http.StatusRequestEntityTooLarge, "Request Entity Too Large")
	case err != nil:
		return route.Key(), own(w, http.StatusBadRequest, "Bad Request")
	}
	payload, err := a.event(r, body, route, values, id)
	if err != nil {
		return route.Key(), own(w, http.StatusInternalServerError, "Internal Server Error")
	}
	if len(payload) > function.MaxPayload {
		return route.Key(), own(w, http.StatusRequestEntityTooLarge, "Request Too Long")
	}
	return route.Key(), a.answer(w, a.Functions[route.Function], payload)
}

// answer invokes the function and writes what it said, or what API Gateway says in its place.
func (a *API) answer(w http.ResponseWriter, f Function, payload []byte) (status int) {
	ctx, cancel := context.WithTimeout(a.Lifetime, maxWait)
	defer cancel()
	type outcome struct {
		result function.Result
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := f.Invoke(a.Lifetime, payload)
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return own(w, http.StatusServiceUnavailable, "Service Unavailable")
		}
		answer, err := read(o.result)
		if err != nil {
			return own(w, http.StatusInternalServerError, "Internal Server Error")
		}
		return answer.write(w)
	case <-ctx.Done():
		return own(w, http.StatusServiceUnavailable, "Service Unavailable")
	}
}

// own writes an answer of API Gateway itself.
func own(w http.ResponseWriter, status int, message string) int {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"message":"`+message+`"}`) // the client may have left
	return status
}

// isText tells whether API Gateway passes a body of this type on as text.
func isText(contentType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	switch kind = strings.TrimSpace(kind); kind {
	case "application/json", "application/javascript", "application/xml":
		return true
	default:
		return strings.HasPrefix(kind, "text/")
	}
}
