package inspect

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Health is what stands between an endpoint, or a tenant's endpoints, and their deliveries.
type Health struct {
	State           string     `json:"state"`
	Since           *time.Time `json:"since"`
	Failures        int        `json:"failures"` // in a row, since failing_since
	FailingSince    *time.Time `json:"failing_since"`
	LastStatus      int        `json:"last_status"` // of the last failure; 0: no response
	LastReason      string     `json:"last_reason"`
	NextProbeAt     *time.Time `json:"next_probe_at"`
	DiscardedBefore *time.Time `json:"discarded_before"`
}

func showHealth(i health.Item) Health {
	since, probe := i.Since, time.Time{}
	if i.Paused {
		since = i.Changed
	} else if i.State == health.Open {
		probe = i.NextProbe
	}
	return Health{
		State: operator.State(i), Since: timeOrNull(since), Failures: i.Failures, FailingSince: timeOrNull(i.FailingSince),
		LastStatus: i.LastStatus, LastReason: i.LastReason, NextProbeAt: timeOrNull(probe),
		DiscardedBefore: timeOrNull(i.DiscardedBefore),
	}
}

// Waiting is what lies in Backlog for an endpoint, counted up to 1,000.
type Waiting struct {
	Count           int        `json:"count"`
	Held            int        `json:"held"` // of them wait for the endpoint and not for their schedule
	More            bool       `json:"more"` // there are more than were counted
	OldestCreatedAt *time.Time `json:"oldest_created_at"`
}

func showWaiting(w dynamo.Waiting) *Waiting {
	return &Waiting{Count: w.Items, Held: w.Held, More: w.More, OldestCreatedAt: timeOrNull(w.Oldest)}
}

// Trouble is an endpoint that is not simply healthy, or a tenant.
type Trouble struct {
	TenantID   string `json:"tenant_id"`
	EndpointID string `json:"endpoint_id"` // "" for a tenant
	Health     `json:",embed"`
	Waiting    *Waiting `json:"waiting"` // null for a tenant
}

type endpointsRequest struct {
	operator.Page
	State string `json:"state"`
}

// states are what endpoints can be filtered by.
var states = []string{
	string(health.Failing), string(health.Open), string(health.Recovering), string(health.Disabled),
	operator.StatePaused, operator.StateHealthy,
}

// rounds bounds how long a page looks for items in a rare state. It then ends early, with a cursor.
const rounds = 20

// countedAtOnce bounds the endpoints whose Backlog is counted at a time.
const countedAtOnce = 16

// endpoints lists what is in trouble, in no order.
func (h *Handler) endpoints(
	ctx context.Context, call *operator.Call, req endpointsRequest,
) (operator.List[Trouble], error) {
	var none operator.List[Trouble]
	if req.State != "" && !slices.Contains(states, req.State) {
		return none, operator.Refuse(operator.CodeInvalidField, "state",
			"must be failing, open, recovering, paused, disabled or healthy")
	}
	limit, err := req.Size()
	if err != nil {
		return none, err
	}
	filter := "endpoints " + req.State
	next, err := req.Start(filter)
	if err != nil {
		return none, err
	}
	items, next, err := h.inState(ctx, req.State, limit, next)
	if err != nil {
		return none, cursorFault(err)
	}
	shown, err := h.showTrouble(ctx, items)
	if err != nil {
		return none, err
	}
	call.Note(slog.Int(telemetry.KeyCount, len(shown)))
	return operator.NewList(shown, filter, next), nil
}

// inState looks for items in a state; "" means any.
func (h *Handler) inState(
	ctx context.Context, state string, limit int, start string,
) (items []health.Item, next string, err error) {
	next = start
	for range rounds {
		var page []health.Item
		if page, next, err = h.Health.Trouble(ctx, limit-len(items), next); err != nil {
			return nil, "", err
		}
		for _, i := range page {
			if state == "" || operator.State(i) == state {
				items = append(items, i)
			}
		}
		if next == "" || len(items) == limit {
			break
		}
	}
	return items, next, nil
}

func (h *Handler) showTrouble(ctx context.Context, items []health.Item) ([]Trouble, error) {
	shown := make([]Trouble, len(items))
	for _, err := range parallel.Each(len(items), countedAtOnce, func(n int) error {
		i := items[n]
		shown[n] = Trouble{TenantID: i.TenantID, EndpointID: i.EndpointID, Health: showHealth(i)}
		if i.EndpointID == "" {
			return nil
		}
		waiting, err := h.Backlog.Count(ctx, i.EndpointID)
		shown[n].Waiting = showWaiting(waiting)
		return err
	}) {
		if err != nil {
			return nil, err
		}
	}
	return shown, nil
}

// Endpoint is one endpoint, and how its deliveries stand.
type Endpoint struct {
	TenantID        string          `json:"tenant_id"`
	EndpointID      string          `json:"endpoint_id"`
	URL             string          `json:"url"` // without its query
	Status          endpoint.Status `json:"status"`
	Events          []string        `json:"events"`
	CreatedAt       time.Time       `json:"created_at"`
	UpdatedAt       time.Time       `json:"updated_at"`
	DeletedAt       *time.Time      `json:"deleted_at"`
	SecretRotatedAt *time.Time      `json:"secret_rotated_at"`
	TenantPaused    bool            `json:"tenant_paused"`
	Health          Health          `json:"health"`
	Waiting         *Waiting        `json:"waiting"`
}

type endpointRequest struct {
	EndpointID string `json:"endpoint_id"`
	TenantID   string `json:"tenant_id"`
}

func (h *Handler) endpoint(ctx context.Context, call *operator.Call, req endpointRequest) (Endpoint, error) {
	call.Note(slog.String(telemetry.KeyEndpoint, req.EndpointID))
	found, err := operator.Directory{Endpoints: h.Endpoints, Health: h.Health}.Find(ctx, req.TenantID, req.EndpointID)
	if err != nil {
		return Endpoint{}, err
	}
	e := found.Endpoint
	call.Note(slog.String(telemetry.KeyTenant, e.TenantID))
	waiting, err := h.Backlog.Count(ctx, e.ID)
	if err != nil {
		return Endpoint{}, err
	}
	return Endpoint{
		TenantID: e.TenantID, EndpointID: e.ID, URL: withoutQuery(e.URL), Status: e.Status, Events: e.Events,
		CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, DeletedAt: timeOrNull(e.DeletedAt),
		SecretRotatedAt: timeOrNull(e.SecretRotatedAt), TenantPaused: found.View.Tenant.Paused,
		Health: showHealth(found.View.Endpoint), Waiting: showWaiting(waiting),
	}, nil
}

// withoutQuery leaves out the query, which may hold a receiver's secret.
func withoutQuery(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	u.RawQuery, u.ForceQuery, u.Fragment, u.User = "", false, "", nil
	return u.String()
}
