package receivers

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Receiver is a well-behaved HTTPS receiver that records what it gets and answers as told.
type Receiver struct {
	URL string // https://127.0.0.1:port/hook

	mu       sync.Mutex
	requests []Request
	arrived  chan struct{} // closed and replaced at every arrival
}

// Request is one delivery as it arrived.
type Request struct {
	Method, Path, Proto string
	Header              http.Header
	Body                []byte
	At                  time.Time
}

// New starts a receiver. answer writes the responses, one call at a time per request, with the
// body already read and recorded; nil answers 204.
func New(t testing.TB, ca *CA, answer func(http.ResponseWriter, Request)) *Receiver {
	t.Helper()
	r := &Receiver{arrived: make(chan struct{})}
	server, _ := serveHTTP(t, ca, func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		got := Request{
			Method: req.Method, Path: req.URL.Path, Proto: req.Proto,
			Header: req.Header.Clone(), Body: body, At: time.Now(),
		}
		r.record(got)
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(w, got)
	})
	r.URL = server.URL + "/hook"
	return r
}

// Status returns an answer of status with an empty body.
func Status(status int) func(http.ResponseWriter, Request) {
	return func(w http.ResponseWriter, _ Request) { w.WriteHeader(status) }
}

// InTurn answers each request with the next status and stays at the last.
func InTurn(statuses ...int) func(http.ResponseWriter, Request) {
	var mu sync.Mutex
	return func(w http.ResponseWriter, _ Request) {
		mu.Lock()
		defer mu.Unlock()
		w.WriteHeader(statuses[0])
		statuses = statuses[min(1, len(statuses)-1):]
	}
}

// Requests returns what has arrived so far, in order.
func (r *Receiver) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// Wait returns the requests as soon as there are n of them and fails the test after limit.
func (r *Receiver) Wait(t testing.TB, n int, limit time.Duration) []Request {
	t.Helper()
	timeout := time.After(limit)
	for {
		r.mu.Lock()
		arrived, got := r.arrived, slices.Clone(r.requests)
		r.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-arrived:
		case <-timeout:
			t.Fatalf("receivers: %d requests after %s, want %d", len(got), limit, n)
		}
	}
}

func (r *Receiver) record(got Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, got)
	close(r.arrived)
	r.arrived = make(chan struct{})
}

// serveHTTP starts an HTTPS server that speaks HTTP/2 and HTTP/1.1 with a valid certificate, and counts
// the bytes it sends.
func serveHTTP(t testing.TB, ca *CA, handle http.HandlerFunc) (server *httptest.Server, sent func() int64) {
	t.Helper()
	server = httptest.NewUnstartedServer(handle)
	count := new(atomic.Int64)
	server.Listener = countedListener{server.Listener, count}
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, Leaf{})}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server, count.Load
}
