package verify

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/receiver"
)

// Receiver is a tenant's HTTPS server that Herald can reach. Each path below its base is an inbox, and answers 200.
// With ?pause=… it answers after so many milliseconds, a second at most. With ?until=… it answers 503 before that
// moment. The receiver keeps nothing except the requests. Its base has a secret: all other addresses are answered 404,
// and their requests are not kept.
type Receiver interface {
	URL() string // its base
	// Requests returns an inbox's requests, in the order of their arrival.
	Requests(ctx context.Context, inbox string) ([]receiver.Request, error)
}

// Local is a receiver on loopback.
type Local struct {
	*receiver.Server

	secret   string // the first part of each path
	mu       sync.Mutex
	requests map[string][]receiver.Request // by inbox
}

// StartLocal starts a receiver with the certificate that the local stack trusts.
func StartLocal(certFile, keyFile string) (*Local, error) {
	l := &Local{secret: rand.Text(), requests: map[string][]receiver.Request{}}
	var err error
	l.Server, err = receiver.Serve(certFile, keyFile, l)
	return l, err
}

// URL is the receiver's base.
func (l *Local) URL() string { return l.Server.URL + "/" + l.secret }

// Requests returns an inbox's requests.
func (l *Local) Requests(_ context.Context, inbox string) ([]receiver.Request, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.requests[inbox]), nil
}

// longestPause bounds the time for which a request keeps a receiver busy.
const longestPause = time.Second

// ServeHTTP answers as the address says.
func (l *Local) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	inbox, known := strings.CutPrefix(r.URL.Path, "/"+l.secret+"/")
	if !known {
		http.NotFound(w, r)
		return
	}
	got, err := receiver.Read(w, r)
	if err != nil {
		return
	}
	got.Status = http.StatusOK
	if until, err := strconv.ParseInt(r.URL.Query().Get("until"), 10, 64); err == nil && got.At.UnixMilli() < until {
		got.Status = http.StatusServiceUnavailable
	}
	if ms, err := strconv.Atoi(r.URL.Query().Get("pause")); err == nil {
		time.Sleep(min(time.Duration(ms)*time.Millisecond, longestPause))
	}
	l.mu.Lock()
	l.requests[inbox] = append(l.requests[inbox], got)
	l.mu.Unlock()
	w.WriteHeader(got.Status)
}
