package control

import (
	"context"
	"errors"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// target is a request's subject: an endpoint, or a tenant and all it has.
type target struct {
	key       dynamo.EndpointKey  // without EndpointID: a tenant
	found     invoke.Found        // Tenant alone of a tenant
	endpoints []endpoint.Endpoint // the one, or the tenant's, with their marks
}

func (t target) ofTenant() bool { return t.key.EndpointID == "" }

// marks are the operators' orders about the target itself. Those of its tenant, and of other endpoints at its site, are
// not in them.
func (t target) marks() endpoint.Marks {
	if t.ofTenant() {
		return t.found.Tenant
	}
	return t.found.All.Endpoints[t.key.EndpointID]
}

// with is the target with other marks.
func (t target) with(m endpoint.Marks) target {
	if t.ofTenant() {
		t.found.Tenant, t.found.All.Tenant = m, m
		return t
	}
	marks := map[string]endpoint.Marks{t.key.EndpointID: m}
	for id, other := range t.found.All.Endpoints {
		if id != t.key.EndpointID {
			marks[id] = other
		}
	}
	t.found.All.Endpoints = marks
	t.found.Endpoint.Marks = t.found.All.Of(t.found.Endpoint)
	return t
}

// refuse says why the subject's state forbids an action: predicate is the rest of a sentence about it.
func (t target) refuse(code api.Code, predicate string) error {
	if t.ofTenant() {
		return invoke.Refuse(code, "tenant_id", "the tenant "+predicate)
	}
	return invoke.Refuse(code, "endpoint_id", "the endpoint "+predicate)
}

// unreleasable says why nothing can be sent to the endpoint now. A backlog can be released to an open circuit.
func (t target) unreleasable() error {
	answer := t.found.Admission()
	switch {
	case answer == endpoint.PausedByOperator && t.found.Tenant.Paused():
		return t.refuse(api.CodeTenantPaused,
			"belongs to a paused tenant, and nothing is sent to it: resume the tenant first")
	case answer == endpoint.PausedByOperator:
		return t.refuse(api.CodePaused, "is paused, and nothing is sent to it: resume it first")
	case answer == endpoint.DisabledByOwner:
		return t.refuse(api.CodeDisabled, "was disabled by its owner, and only the owner can set it active again")
	}
	return nil
}

// find checks a request and reads its target. A tenant is known by its endpoints: one without any is more likely a
// typing error than a tenant to stop. A deleted or unreadable endpoint is refused, since no mark would have an effect
// on it.
func (h *Handler) find(ctx context.Context, call *invoke.Call, req api.Target) (target, error) {
	if err := invoke.CheckReason(req.Reason); err != nil {
		return target{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID), slog.String(telemetry.KeyEndpoint, req.EndpointID),
		slog.String("operator_reason", req.Reason))
	if req.EndpointID == "" {
		return h.findTenant(ctx, req.TenantID)
	}
	found, err := invoke.Directory{Endpoints: h.Endpoints, Circuits: h.Circuits}.Find(ctx, req.TenantID, req.EndpointID)
	if err != nil {
		return target{}, err
	}
	if req.TenantID == "" {
		call.Note(slog.String("tenant_found", found.Endpoint.TenantID))
	}
	if found.Unreadable {
		return target{}, invoke.Refuse(api.CodeUnreadable, "endpoint_id",
			"the stored endpoint, or its tenant's marks, cannot be read: nothing is sent to it")
	}
	if !found.Endpoint.Live() {
		return target{}, invoke.Refuse(api.CodeDeleted, "endpoint_id",
			"the endpoint is deleted: nothing is sent to it, and its deliveries are discarded")
	}
	key := dynamo.EndpointKey{TenantID: found.Endpoint.TenantID, EndpointID: found.Endpoint.ID}
	return target{key: key, found: found, endpoints: []endpoint.Endpoint{found.Endpoint}}, nil
}

// findTenant reads a tenant with its endpoints. An endpoint that cannot be read must not keep an operator from stopping
// its tenant. Marks that cannot be read do: a write would take the place of orders that are unknown.
func (h *Handler) findTenant(ctx context.Context, tenantID string) (target, error) {
	if tenantID == "" {
		return target{}, invoke.Invalid("endpoint_id", "endpoint_id or tenant_id is required")
	}
	endpoints, err := h.Endpoints.List(ctx, tenantID)
	unreadable := invoke.Unreadable(err) // a tenant with such an endpoint can still be stopped
	if err != nil && !unreadable {
		return target{}, err
	}
	if len(endpoints) == 0 && !unreadable {
		return target{}, invoke.Refuse(api.CodeNotFound, "tenant_id", "no endpoint belongs to this tenant")
	}
	marks, err := h.Endpoints.Marks(ctx, tenantID)
	if invoke.Unreadable(err) {
		return target{}, invoke.Refuse(api.CodeUnreadable, "tenant_id",
			"the tenant's stored marks cannot be read: nothing is sent to its endpoints")
	}
	if err != nil {
		return target{}, err
	}
	for n, e := range endpoints {
		endpoints[n].Marks = marks.Of(e)
	}
	found := invoke.Found{Tenant: marks.Tenant, All: marks}
	return target{key: dynamo.EndpointKey{TenantID: tenantID}, found: found, endpoints: endpoints}, nil
}

// lease stores a lease for each endpoint, so that release looks for its waiting deliveries. The endpoints were listed
// before the audit line and the mark. That is enough: for an endpoint that was made since, deliver stores the lease
// with the first delivery that has to wait. If a lease cannot be stored, the answer is an error although the mark
// stays. The operator asks again, and the mark is then refused as set already, or set once more.
func (h *Handler) lease(ctx context.Context, t target) error {
	now := h.Now()
	return errors.Join(parallel.Each(len(t.endpoints), atOnce, func(i int) error {
		e := t.endpoints[i]
		if !e.Live() {
			return nil
		}
		key := dynamo.EndpointKey{TenantID: e.TenantID, EndpointID: e.ID}
		return h.Circuits.Hold(ctx, key, h.Settings.NewLease(now), now)
	})...)
}

// answer shows the target after an action. A tenant has no circuit: it is healthy or paused.
func (h *Handler) answer(t target, result api.Result) api.ControlAnswer {
	return api.ControlAnswer{
		TenantID: t.key.TenantID, EndpointID: t.key.EndpointID, Result: result, State: t.found.Shown(h.Now()),
		TenantPaused: t.found.Tenant.Paused(), DiscardedBefore: t.marks().DiscardedBefore,
	}
}

// atOnce bounds the endpoints of a tenant that are leased, or counted, together.
const atOnce = 16

// count returns the backlog of the target. If an endpoint's backlog cannot be counted, More is true: the action is done
// by then, and its answer must not say that it failed.
func (h *Handler) count(ctx context.Context, t target) *api.WaitingCount {
	counts := make([]dynamo.Waiting, len(t.endpoints))
	errs := parallel.Each(len(t.endpoints), atOnce, func(i int) (err error) {
		counts[i], err = h.Backlog.Count(ctx, t.endpoints[i].ID)
		return err
	})
	var total api.WaitingCount
	for i, err := range errs {
		if err != nil {
			h.Log.ErrorContext(ctx, "counting the backlog",
				slog.String(telemetry.KeyEndpoint, t.endpoints[i].ID), telemetry.Cause(err))
		}
		total.Count += counts[i].Items
		total.More = total.More || counts[i].More || err != nil
	}
	return &total
}
