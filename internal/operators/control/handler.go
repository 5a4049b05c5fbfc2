// Package control lets operators stop deliveries to an endpoint or to all of a tenant's, start them again, send an
// endpoint's backlog at once, discard it, limit an endpoint's deliveries a second, and test an endpoint.
//
// It promises that every action but a test is one write of the tenant's row of marks; that release looks for waiting
// deliveries after all but a limit, at each endpoint that was listed before; that a request which would change nothing
// is refused with the reason, and that each is logged with operator and resource. It sends no event's delivery and
// deletes nothing: release and deliver act on the marks, release within a minute, deliver with its next batch.
package control

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Endpoints reads endpoints without their sealed secrets, strongly consistent, and writes operators' marks,
// of an endpoint or, where the key names none, of a tenant (dynamo.Endpoints).
type Endpoints interface {
	Get(ctx context.Context, tenantID, endpointID string) (e endpoint.Endpoint, found bool, err error)
	List(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
	Marks(ctx context.Context, tenantID string) (endpoint.TenantMarks, error)
	Mark(ctx context.Context, key dynamo.EndpointKey, change func(*endpoint.Marks) (changed bool)) (
		changed bool, marks endpoint.Marks, err error)
}

// Circuits stores the leases that make release look for waiting deliveries (dynamo.Circuits).
type Circuits interface {
	Get(ctx context.Context, endpointID string) (circuit.Item, error)
	Hold(ctx context.Context, key dynamo.EndpointKey, until, now time.Time) error
}

// Backlog counts an endpoint's waiting deliveries, up to 1,000.
type Backlog interface {
	Count(ctx context.Context, endpointID string) (dynamo.Waiting, error)
}

// Sender sends to DeliveryQueue and answers with one error per message (queue.Sender).
type Sender interface {
	Send(ctx context.Context, messages []queue.Outgoing) []error
}

// Handler acts. All fields are required.
type Handler struct {
	Endpoints  Endpoints
	Circuits   Circuits
	Backlog    Backlog
	Deliveries Sender
	Settings   circuit.Settings
	Audit      audit.Writer
	Log        *slog.Logger
	Now        func() time.Time
	NewID      func() string // of a test: unique
}

// Function returns the operator function with the actions of this package.
func (h *Handler) Function() *invoke.Function {
	return &invoke.Function{Name: "control", Audit: h.Audit, Log: h.Log, Now: h.Now, Actions: map[string]invoke.Action{
		"pause":   invoke.Do(h.pause),
		"resume":  invoke.Do(h.resume),
		"release": invoke.Do(h.release),
		"discard": invoke.Do(h.discard),
		"test":    invoke.Do(h.test),
		"limit":   invoke.Do(h.limit),
		"unlimit": invoke.Do(h.unlimit),
	}}
}

// Answer is the state after an action.
type Answer struct {
	TenantID        string    `json:"tenant_id"`
	EndpointID      string    `json:"endpoint_id"` // "" when it was about the tenant
	Result          string    `json:"result"`
	State           string    `json:"state"`
	TenantPaused    bool      `json:"tenant_paused"`
	DiscardedBefore time.Time `json:"discarded_before"` // null when nothing is discarded
	Waiting         *Waiting  `json:"waiting,omitzero"` // of release and discard
	Held            []Stopped `json:"held,omitzero"`    // of a tenant's resume: still stopped or open, up to 20
	Note            string    `json:"note,omitzero"`    // work that is left for later

	// Of limit and unlimit: the owner's and an operator's limit, in deliveries a second.
	RateLimit         int `json:"rate_limit,omitzero"`
	OperatorRateLimit int `json:"operator_rate_limit,omitzero"`
}

// Waiting is the backlog at the time of the action: at least Count deliveries.
type Waiting struct {
	Count int  `json:"count"`
	More  bool `json:"more"`
}

// The results.
const (
	resultPaused    = "paused"
	resultResumed   = "resumed"
	resultReleasing = "releasing"
	resultDiscarded = "discarding"
	resultSent      = "sent"
	resultLimited   = "limited"
	resultUnlimited = "unlimited"
)

// noteLater is the note of a tenant's discard.
const noteLater = "deliveries to endpoints that are not in trouble are dropped when they are due"

// The codes of refusals.
const (
	codeDeleted       = "deleted"
	codeAlreadyPaused = "already_paused"
	codeNotPaused     = "not_paused"

	codeAlreadyLimited = "already_limited"
	codeNotLimited     = "not_limited"
	codePaused         = "paused"   // resume first: nothing is released to a paused endpoint
	codeDisabled       = "disabled" // only its owner can change that
	codeTenantPaused   = "tenant_paused"
	codeOpen           = "circuit_open" // of test: probes find out by themselves
	codeUnreadable     = "unreadable"
)
