// Package receiver is a tenant's HTTPS server as demonstration and end-to-end tests need it:
// many inboxes behind one certificate, each recording every request and answering by script
// or by a verifier.
//
// It promises that each recorded delivery was also judged by the Standard Webhooks library.
// It never uses Herald's own signature code, so that it can prove that code wrong.
package receiver

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Server is an HTTPS server on a free loopback port.
type Server struct {
	URL string // its base

	mux  *http.ServeMux
	http *http.Server
}

// Start serves inboxes with the certificate until Close.
func Start(certFile, keyFile string) (*Server, error) {
	mux := http.NewServeMux()
	s, err := Serve(certFile, keyFile, mux)
	if err != nil {
		return nil, err
	}
	s.mux = mux
	return s, nil
}

// Serve serves the handler with the certificate until Close. It has no inboxes.
func Serve(certFile, keyFile string, handler http.Handler) (*Server, error) {
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("loading receiver certificate: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	s := &Server{URL: "https://" + listener.Addr().String(), http: &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:  log.New(io.Discard, "", 0), // clients that give up are part of the tests
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
	}}
	go func() { _ = s.http.ServeTLS(listener, "", "") }() // ends with ErrServerClosed
	return s, nil
}

// Close stops the server at once.
func (s *Server) Close() error {
	if err := s.http.Close(); err != nil {
		return fmt.Errorf("closing receiver: %w", err)
	}
	return nil
}

// Request is one delivery attempt as it arrived and was answered. In JSON it is as the receiver of `herald verify` on
// AWS writes it.
type Request struct {
	Inbox     string      `json:"inbox"` // on AWS
	ID        string      `json:"id"`
	Event     string      `json:"event"`
	Timestamp int64       `json:"timestamp,string"`
	Signature string      `json:"signature"`
	Header    http.Header `json:"-"`
	Body      []byte      `json:"body"` // base64
	At        time.Time   `json:"at"`
	Status    int         `json:"status"` // of the answer
	Standard  error       `json:"-"`      // the Standard Webhooks library's judgement, of both signatures
}

// Read reads a request. It answers one that cannot be read, and returns an error then.
func Read(w http.ResponseWriter, r *http.Request) (Request, error) {
	got := Request{
		ID: r.Header.Get("wh-id"), Event: r.Header.Get("wh-webhook-event"), Signature: r.Header.Get("wh-signature"),
		Header: r.Header.Clone(), At: time.Now(),
	}
	got.Timestamp, _ = strconv.ParseInt(r.Header.Get("wh-timestamp"), 10, 64) // 0 is refused as too old
	var err error
	got.Body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
	}
	return got, err
}

// Genuine verifies the request's signature by the Standard Webhooks library, whenever it arrived.
func (r Request) Genuine(secret string) error {
	judge, err := standardwebhooks.NewWebhookRaw([]byte(secret))
	if err != nil {
		return fmt.Errorf("making a verifier: %w", err)
	}
	return judge.VerifyIgnoringTimestamp(r.Body, r.standard(strconv.FormatInt(r.Timestamp, 10)))
}

// standard are the specification's headers under the names that the library reads.
func (r Request) standard(timestamp string) http.Header {
	return http.Header{
		"Webhook-Id": {r.ID}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {r.Signature},
	}
}

// Inbox is one endpoint of a Server.
type Inbox struct {
	URL string

	mu       sync.Mutex
	handler  http.Handler
	standard *standardwebhooks.Webhook // for the specification's headers; its key is the secret's text
	usual    *standardwebhooks.Webhook // for the headers that libraries read; nil for a secret that they do not take
	failures []int                     // statuses to answer, in order, before the handler is asked
	requests []Request
}

// Inbox opens an endpoint at the path of a server made by Start. Until Verify is called it answers 503.
func (s *Server) Inbox(path string) *Inbox {
	in := &Inbox{URL: s.URL + path}
	s.mux.Handle(path, in)
	return in
}

// Verify gives the inbox its signing secret and the verifier that answers.
func (in *Inbox) Verify(secret string, verifier http.Handler) error {
	wh, err := standardwebhooks.NewWebhookRaw([]byte(secret))
	if err != nil {
		return fmt.Errorf("making standard verifier: %w", err)
	}
	encoded, _ := strings.CutPrefix(secret, "whsec_")
	usual, err := standardwebhooks.NewWebhook(secret + strings.Repeat("=", (4-len(encoded)%4)%4)) // Go's wants the padding
	if err != nil && strings.HasPrefix(secret, "whsec_") {
		return fmt.Errorf("making the usual verifier: %w", err)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.standard, in.handler = wh, verifier
	in.usual = usual
	return nil
}

// Handler returns the verifier that answers now, to be wrapped in another.
func (in *Inbox) Handler() http.Handler {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.handler
}

// Fail makes the inbox answer these statuses, one for each request, before the verifier is asked. Without statuses,
// Fail cancels an earlier call.
func (in *Inbox) Fail(statuses ...int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.failures = statuses
}

// Requests returns the requests answered so far, oldest first.
func (in *Inbox) Requests() []Request {
	in.mu.Lock()
	defer in.mu.Unlock()
	return append([]Request(nil), in.requests...)
}

// Answered is Requests for those who may have to ask a receiver elsewhere.
func (in *Inbox) Answered(context.Context) ([]Request, error) { return in.Requests(), nil }

// ServeHTTP answers one attempt and records it.
func (in *Inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got, err := Read(w, r)
	if err != nil {
		return
	}
	handler, status := in.plan(&got)
	if status == 0 {
		r.Body = io.NopCloser(bytes.NewReader(got.Body))
		answer := &recorder{ResponseWriter: w, status: http.StatusOK}
		handler.ServeHTTP(answer, r)
		got.Status = answer.status
	} else {
		got.Status = status
	}
	in.mu.Lock()
	in.requests = append(in.requests, got)
	in.mu.Unlock()
	if status != 0 {
		http.Error(w, "failing by plan", status)
	}
}

// plan judges the request and decides who answers it: the script, or the verifier (status 0).
func (in *Inbox) plan(got *Request) (http.Handler, int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.standard == nil {
		got.Standard = errors.New("no secret yet")
		return nil, http.StatusServiceUnavailable
	}
	got.Standard = in.standard.Verify(got.Body, got.standard(got.Header.Get("wh-timestamp")))
	if in.usual != nil {
		got.Standard = errors.Join(got.Standard, in.usual.Verify(got.Body, got.Header))
	}
	if len(in.failures) > 0 {
		status := in.failures[0]
		in.failures = in.failures[1:]
		return nil, status
	}
	return in.handler, 0
}

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}
