package main

import (
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/infra/kit/statefile"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// lateness is a slow endpoint's delay: beyond the free time, and within the attempt's.
const lateness = 1200 * time.Millisecond

// party is the receiver behind one endpoint.
type party struct {
	endpoint

	id     string // of the endpoint
	server *receiver.Server

	mu     sync.Mutex
	failed map[string]bool // deliveries that a flapping endpoint has just failed
}

func serve(state statefile.State, e endpoint) (*party, error) {
	p := &party{endpoint: e, failed: map[string]bool{}}
	var err error
	p.server, err = receiver.Serve(state.ReceiverCertFile, state.ReceiverKeyFile, p)
	return p, err
}

// ServeHTTP answers one attempt as the endpoint's kind does.
func (p *party) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, 1<<20)); err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	if p.kind == slow {
		client.Pause(r.Context(), lateness)
	}
	w.WriteHeader(p.answer(r.Header.Get("wh-id")))
}

// answer depends on the delivery and its attempts alone, so that every run has the same answers.
func (p *party) answer(id string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed[id] = !p.failed[id]
	if p.kind == down || p.kind == rejecting || p.kind == flapping && p.failed[id] {
		return failures[p.kind]
	}
	return http.StatusOK
}

// failures are the statuses with which endpoints of each kind fail, or failed before they recovered. Slow endpoints
// have no status, since they do not answer in time.
var failures = map[kind]int{
	down:      http.StatusServiceUnavailable,
	rejecting: http.StatusBadRequest,
	flapping:  http.StatusBadGateway,
	recovered: http.StatusInternalServerError,
}

// reason is the cause of death of deliveries to endpoints of the kind.
func (k kind) reason() delivery.Reason {
	if status, answers := failures[k]; answers {
		return delivery.StatusReason(status)
	}
	return delivery.ReasonTimeout
}
