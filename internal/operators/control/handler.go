// Package control lets operators stop deliveries to an endpoint or to all of a tenant's, start them again, send an
// endpoint's backlog at once, discard it, limit deliveries a second, test an endpoint, and allow a tenant more
// endpoints.
//
// It promises that every action but a test writes the tenant's row of marks alone; that release looks for waiting
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
	"github.com/herald-webhooks/herald/internal/operators/api"
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
	return &invoke.Function{
		Name: string(api.Control), Audit: h.Audit, Log: h.Log, Now: h.Now,
		Actions: invoke.Table(
			invoke.Serve(api.Pause, h.pause),
			invoke.Serve(api.Resume, h.resume),
			invoke.Serve(api.Release, h.release),
			invoke.Serve(api.Discard, h.discard),
			invoke.Serve(api.SendTest, h.test),
			invoke.Serve(api.Limit, h.limit),
			invoke.Serve(api.Unlimit, h.unlimit),
			invoke.Serve(api.Allow, h.allow),
		),
	}
}

// noteLater is the note of a tenant's discard.
const noteLater = "deliveries to endpoints that are not in trouble are dropped when they are due"
