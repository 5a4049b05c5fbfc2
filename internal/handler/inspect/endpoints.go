package inspect

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Trouble is an endpoint that is not simply healthy.
type Trouble struct {
	TenantID     string `json:"tenant_id"`
	EndpointID   string `json:"endpoint_id"`
	Host         string `json:"host"`
	Description  string `json:"description"`
	TenantPaused bool   `json:"tenant_paused"`
	Health       `json:",embed"`
	Waiting      Waiting `json:"waiting"`
}

type endpointsRequest struct {
	operator.Page
	TenantID    string `json:"tenant_id"` // all of its endpoints; "": all in trouble
	State       string `json:"state"`
	Host        string `json:"host"`
	Description string `json:"description"` // a part of it
}

// wants has healthy endpoints only of a tenant, or on request.
func (h *Handler) wants(r endpointsRequest, f operator.Found) bool {
	e, state := f.Endpoint, h.state(f)
	if r.State == "" && r.TenantID == "" && state == operator.StateHealthy {
		return false
	}
	return (r.State == "" || r.State == state) && (r.Host == "" || strings.EqualFold(r.Host, e.Host())) &&
		strings.Contains(strings.ToLower(e.Description), strings.ToLower(r.Description))
}

func (h *Handler) readWanted(
	ctx context.Context, req endpointsRequest, keys []dynamo.EndpointKey,
) ([]operator.Found, error) {
	found, err := h.readEndpoints(ctx, keys)
	return slices.DeleteFunc(found, func(f operator.Found) bool { return !h.wants(req, f) }), err
}

// states are the filters for endpoints.
var states = []string{
	string(circuit.Failing), stateFlapping, string(circuit.Open), string(circuit.Recovering),
	operator.StateDisabled, operator.StatePaused, operator.StateHealthy, operator.StateDeleted,
	operator.StateUnreadable,
}

// rounds bounds how long a page looks for items in a rare state. It then ends early, with a cursor.
const rounds = 20

// countedAtOnce bounds the endpoints whose Backlog is counted at a time.
const countedAtOnce = 16

// endpoints lists the endpoints in trouble, in no order, or all of a tenant's.
func (h *Handler) endpoints(
	ctx context.Context, call *operator.Call, req endpointsRequest,
) (operator.List[Trouble], error) {
	if err := operator.OneOf("state", req.State, states...); err != nil {
		return operator.List[Trouble]{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID))
	find := h.inTrouble
	if req.TenantID != "" {
		find = h.ofTenant
	}
	read := func(limit int, start string) ([]Trouble, string, error) {
		found, next, err := find(ctx, req, limit, start)
		if err != nil {
			return nil, "", err
		}
		shown, err := h.showTrouble(ctx, found)
		return shown, next, err
	}
	filter := strings.Join([]string{"endpoints", req.TenantID, req.State, req.Host, req.Description}, " ")
	return operator.Paged(call, req.Page, filter, read)
}

// ofTenant looks for endpoints of a tenant, behind the one with the id start. Deleted ones are read on request only.
func (h *Handler) ofTenant(
	ctx context.Context, req endpointsRequest, limit int, start string,
) (found []operator.Found, next string, err error) {
	all, err := h.IDs.List(ctx, req.TenantID)
	if err != nil {
		return nil, "", err
	}
	var keys []dynamo.EndpointKey
	for _, e := range all {
		if e.ID > start && (e.Live() || req.State == operator.StateDeleted) {
			keys = append(keys, dynamo.EndpointKey{TenantID: req.TenantID, EndpointID: e.ID})
		}
	}
	if found, err = h.readWanted(ctx, req, keys); err == nil && len(found) > limit {
		found, next = found[:limit], found[limit-1].Endpoint.ID
	}
	return found, next, err
}

// inTrouble looks for endpoints in trouble.
func (h *Handler) inTrouble(
	ctx context.Context, req endpointsRequest, limit int, start string,
) (found []operator.Found, next string, err error) {
	next = start
	for range rounds {
		var keys []dynamo.EndpointKey
		if keys, next, err = h.Circuits.Trouble(ctx, limit-len(found), next); err != nil {
			return nil, "", err
		}
		some, err := h.readWanted(ctx, req, keys)
		if err != nil {
			return nil, "", err
		}
		if found = append(found, some...); next == "" || len(found) == limit {
			break
		}
	}
	return found, next, nil
}

var errUnread = errors.New("the circuits of some endpoints could not be read")

// readEndpoints reads endpoints with their tenants' marks and circuits. One whose row is gone has nothing but names.
func (h *Handler) readEndpoints(ctx context.Context, keys []dynamo.EndpointKey) ([]operator.Found, error) {
	readings, err := h.Readings.Read(ctx, keys, nil)
	if err != nil {
		return nil, err
	}
	found := make([]operator.Found, len(keys))
	for n, key := range keys {
		r := readings[key]
		switch {
		case r.Err != nil && !errors.Is(r.Err, endpoint.ErrUnreadable):
			return nil, r.Err
		case r.Err == nil && !r.CircuitRead:
			return nil, errUnread
		case r.Err != nil || !r.Found:
			r.Endpoint = endpoint.Endpoint{TenantID: key.TenantID, ID: key.EndpointID, Status: endpoint.Deleted}
		}
		found[n] = operator.Found{Endpoint: r.Endpoint, Tenant: r.Tenant, Circuit: r.Circuit, Unreadable: r.Err != nil}
	}
	return found, nil
}

// readNamed reads endpoints by id; of those without an id, none.
func (h *Handler) readNamed(ctx context.Context, keys []dynamo.EndpointKey) (map[string]operator.Found, error) {
	named := map[string]operator.Found{}
	keys = slices.DeleteFunc(keys, func(k dynamo.EndpointKey) bool { return k.EndpointID == "" })
	found, err := h.readEndpoints(ctx, keys)
	for _, f := range found {
		named[f.Endpoint.ID] = f
	}
	return named, err
}

func (h *Handler) showTrouble(ctx context.Context, found []operator.Found) ([]Trouble, error) {
	waiting, err := h.waitingFor(ctx, found)
	if err != nil {
		return nil, err
	}
	shown := make([]Trouble, len(found))
	for n, f := range found {
		shown[n] = Trouble{
			TenantID: f.Endpoint.TenantID, EndpointID: f.Endpoint.ID, Host: f.Endpoint.Host(),
			Description: f.Endpoint.Description, TenantPaused: f.Tenant.Paused(),
			Health: h.showHealth(f, waiting[f.Endpoint.ID]), Waiting: h.showWaiting(waiting[f.Endpoint.ID]),
		}
	}
	return shown, nil
}

// fewCounted are endpoints that are cheaper counted one by one than together.
const fewCounted = 2

// waitingFor counts each endpoint's waiting deliveries: together while the index has all, otherwise one by one.
func (h *Handler) waitingFor(ctx context.Context, found []operator.Found) (map[string]dynamo.Waiting, error) {
	if len(found) > fewCounted {
		total, err := h.Backlog.Total(ctx, maxDueShard)
		if err != nil || !total.More {
			return total.By, err
		}
	}
	counted := make([]dynamo.Waiting, len(found))
	errs := parallel.Each(len(found), countedAtOnce, func(n int) (err error) {
		counted[n], err = h.Backlog.Count(ctx, found[n].Endpoint.ID)
		return err
	})
	waiting := make(map[string]dynamo.Waiting, len(found))
	for n, f := range found {
		waiting[f.Endpoint.ID] = counted[n]
	}
	return waiting, errors.Join(errs...)
}

// Endpoint is one endpoint, and how its deliveries stand.
type Endpoint struct {
	TenantID        string          `json:"tenant_id"`
	EndpointID      string          `json:"endpoint_id"`
	URL             string          `json:"url"` // without its query and, unless it is asked for, its path
	Description     string          `json:"description"`
	Status          endpoint.Status `json:"status"`
	Events          []string        `json:"events"`
	CreatedAt       time.Time       `json:"created_at"`
	UpdatedAt       time.Time       `json:"updated_at"`
	DeletedAt       time.Time       `json:"deleted_at"`
	SecretRotatedAt time.Time       `json:"secret_rotated_at"`
	TenantPaused    bool            `json:"tenant_paused"`
	Health          Health          `json:"health"`
	Waiting         Waiting         `json:"waiting"`
}

type endpointRequest struct {
	EndpointID string `json:"endpoint_id"`
	TenantID   string `json:"tenant_id"`
	ShowPath   bool   `json:"show_path"` // of a chat product's URL it is a secret: this is audited
}

func (h *Handler) endpoint(ctx context.Context, call *operator.Call, req endpointRequest) (Endpoint, error) {
	call.Note(slog.Bool("show_path", req.ShowPath))
	found, err := h.Directory.Find(ctx, req.TenantID, req.EndpointID)
	if err != nil {
		return Endpoint{}, err
	}
	e := found.Endpoint
	call.Note(slog.String(telemetry.KeyTenant, e.TenantID), slog.String(telemetry.KeyEndpoint, e.ID))
	if req.ShowPath {
		if err := call.Audit(ctx, audit.Line{TenantID: e.TenantID, EndpointID: e.ID}); err != nil {
			return Endpoint{}, err
		}
	}
	waiting, err := h.Backlog.Count(ctx, e.ID)
	if err != nil {
		return Endpoint{}, err
	}
	return Endpoint{
		TenantID: e.TenantID, EndpointID: e.ID, URL: shownURL(e.URL, req.ShowPath), Description: e.Description,
		Status: e.Status, Events: e.Events,
		CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, DeletedAt: e.DeletedAt,
		SecretRotatedAt: e.SecretRotatedAt, TenantPaused: found.Tenant.Paused(),
		Health: h.showHealth(found, waiting), Waiting: h.showWaiting(waiting),
	}, nil
}

// shownURL leaves out the query, which may hold a receiver's secret, and the path unless it is asked for.
func shownURL(text string, path bool) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host}
	if path {
		shown.Path, shown.RawPath = u.Path, u.RawPath
	}
	return shown.String()
}
