package verify

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/receiver"
)

// Request is one attempt as it arrived.
type Request struct {
	ID        string    `json:"id"`
	Event     string    `json:"event"`
	Timestamp string    `json:"timestamp"`
	Signature string    `json:"signature"`
	Body      []byte    `json:"body"` // base64 where it is written
	Status    int       `json:"status"`
	At        time.Time `json:"at"`
}

// Receiver is a tenant's HTTPS server that Herald can reach.
type Receiver interface {
	// Open returns the address of an inbox, which answers 503 until the moment and 200 after it, or 200 after the
	// pause. The address says so itself: the server keeps nothing.
	Open(ctx context.Context, inbox string, fails time.Time, pause time.Duration) (address string, err error)
	// Requests returns an inbox's requests, in the order of their arrival.
	Requests(ctx context.Context, inbox string) ([]Request, error)
}

// address is an inbox's behind a base URL.
func address(base, inbox string, fails time.Time, pause time.Duration) string {
	a := base + "/" + url.PathEscape(inbox)
	if !fails.IsZero() {
		a += "?until=" + strconv.FormatInt(fails.UnixMilli(), 10)
	}
	if pause > 0 {
		a += "?pause=" + strconv.FormatInt(pause.Milliseconds(), 10)
	}
	return a
}

// Local is a receiver on loopback.
type Local struct {
	server *receiver.Server

	mu       sync.Mutex
	requests map[string][]Request // by inbox
}

// StartLocal starts a receiver with the certificate that the local stack trusts.
func StartLocal(certFile, keyFile string) (*Local, error) {
	l := &Local{requests: map[string][]Request{}}
	var err error
	l.server, err = receiver.Serve(certFile, keyFile, l)
	return l, err //nolint:wrapcheck // names its action
}

// Close stops the receiver.
func (l *Local) Close() error { return l.server.Close() } //nolint:wrapcheck // says so

// Open returns the address of an inbox.
func (l *Local) Open(_ context.Context, inbox string, fails time.Time, pause time.Duration) (string, error) {
	return address(l.server.URL, inbox, fails, pause), nil
}

// Requests returns an inbox's requests.
func (l *Local) Requests(_ context.Context, inbox string) ([]Request, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Request(nil), l.requests[inbox]...), nil
}

// ServeHTTP answers as the address says.
func (l *Local) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	got := Request{
		ID: r.Header.Get("wh-id"), Event: r.Header.Get("wh-webhook-event"), Timestamp: r.Header.Get("wh-timestamp"),
		Signature: r.Header.Get("wh-signature"), Body: body, Status: http.StatusOK, At: time.Now(),
	}
	if until, err := strconv.ParseInt(r.URL.Query().Get("until"), 10, 64); err == nil && got.At.UnixMilli() < until {
		got.Status = http.StatusServiceUnavailable
	}
	if ms, err := strconv.Atoi(r.URL.Query().Get("pause")); err == nil {
		time.Sleep(time.Duration(ms) * time.Millisecond)
	}
	inbox := strings.TrimPrefix(r.URL.Path, "/")
	l.mu.Lock()
	l.requests[inbox] = append(l.requests[inbox], got)
	l.mu.Unlock()
	w.WriteHeader(got.Status)
}
