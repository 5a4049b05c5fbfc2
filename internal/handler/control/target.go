package control

import (
	"context"
	"log/slog"
	"unicode"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// target is what a request names: an endpoint, or with EndpointID "" a tenant and all it has.
type target struct {
	view     health.View
	endpoint endpoint.Endpoint
}

func (t target) item() health.Item {
	if t.view.EndpointID == "" {
		return t.view.Tenant
	}
	return t.view.Endpoint
}

const maxReason = 256

// find checks a request and reads what it names. A tenant is known by its endpoints: one without
// any is more likely a typing error than a tenant that should be stopped.
func (h *Handler) find(ctx context.Context, call *operator.Call, req request) (target, error) {
	if !printable(req.Reason) {
		return target{}, operator.Refuse(operator.CodeInvalidField, "reason", "must be at most 256 printable characters")
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID), slog.String(telemetry.KeyEndpoint, req.EndpointID),
		slog.String("operator_reason", req.Reason))
	if req.EndpointID == "" {
		return h.findTenant(ctx, req.TenantID)
	}
	found, err := operator.Directory{Endpoints: h.Endpoints, Health: h.Health}.Find(ctx, req.TenantID, req.EndpointID)
	if err != nil {
		return target{}, err
	}
	if req.TenantID == "" {
		call.Note(slog.String("tenant_found", found.View.TenantID))
	}
	if !found.Endpoint.Live() {
		return target{}, operator.Refuse(codeDeleted, "endpoint_id",
			"the endpoint is deleted: nothing is sent to it, and what waited is discarded")
	}
	return target{view: found.View, endpoint: found.Endpoint}, nil
}

func (h *Handler) findTenant(ctx context.Context, tenantID string) (target, error) {
	if tenantID == "" {
		return target{}, operator.Refuse(operator.CodeInvalidField, "endpoint_id", "endpoint_id or tenant_id is required")
	}
	item, err := h.Health.GetTenant(ctx, tenantID)
	if err != nil {
		return target{}, err
	}
	if item.Version == 0 {
		endpoints, err := h.Endpoints.List(ctx, tenantID)
		if err != nil {
			return target{}, err
		}
		if len(endpoints) == 0 {
			return target{}, operator.Refuse(operator.CodeNotFound, "tenant_id", "no endpoint belongs to this tenant")
		}
	}
	return target{view: health.View{TenantID: tenantID, Tenant: item}}, nil
}

// printable accepts the empty string.
func printable(s string) bool {
	n := 0
	for _, r := range s {
		if n++; n > maxReason || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// tries bounds how often a write is decided again because another process was quicker: each of
// them writes an endpoint's health about once a second.
const tries = 5

// change writes what decide says about the item that is stored.
func (h *Handler) change(
	ctx context.Context, t target, result string, decide func(health.Item) (health.Write, health.Refusal),
) (Answer, error) {
	item := t.item()
	for range tries {
		write, refusal := decide(item)
		if refusal != "" {
			return Answer{}, refuse(refusal, item)
		}
		stored, applied, err := h.Health.Apply(ctx, write)
		if err != nil {
			return Answer{}, err
		}
		gone := write.Kind == health.Delete && stored.Version == 0 // as asked, by this call if its answer was lost
		if applied || gone {
			return t.answer(result, stored), nil
		}
		item = stored
	}
	return Answer{}, operator.Refuse(codeChanged, "", "others kept changing it: nothing was done, ask again")
}

// answer shows the item as it was stored.
func (t target) answer(result string, stored health.Item) Answer {
	a := Answer{
		TenantID: t.view.TenantID, EndpointID: t.view.EndpointID, Result: result,
		State: operator.State(stored), TenantPaused: t.view.Tenant.Paused,
	}
	if t.view.EndpointID == "" {
		a.TenantPaused = stored.Paused
	}
	if !stored.DiscardedBefore.IsZero() {
		a.DiscardedBefore = &stored.DiscardedBefore
	}
	return a
}

// refuse says in a sentence why nothing is done.
func refuse(r health.Refusal, i health.Item) error {
	field, what := "endpoint_id", "the endpoint"
	if i.EndpointID == "" {
		field, what = "tenant_id", "the tenant"
	}
	message := map[health.Refusal]string{
		health.AlreadyPaused:  what + " is paused already",
		health.NotPaused:      what + " is not paused",
		health.StillPaused:    "the endpoint is paused, and nothing is sent to it: resume it first",
		health.StillDisabled:  "the owner of the endpoint has disabled it, and only the owner can set it active again",
		health.TenantIsPaused: "the endpoint's tenant is paused, and nothing is sent to it: resume the tenant first",
	}[r]
	return operator.Refuse(string(r), field, message)
}

// countedAtOnce bounds the endpoints of a tenant that are counted at a time.
const countedAtOnce = 16

// counted adds to the answer of an action how much waits. Where that cannot be counted the answer
// leaves it out: the action is done.
func (h *Handler) counted(ctx context.Context, a Answer, err error) (Answer, error) {
	if err != nil {
		return a, err
	}
	ids := []string{a.EndpointID}
	if a.EndpointID == "" {
		endpoints, err := h.Endpoints.List(ctx, a.TenantID)
		if err != nil {
			h.Log.ErrorContext(ctx, "counting what waits", telemetry.KeyTenant, a.TenantID, telemetry.KeyError, err.Error())
			return a, nil
		}
		ids = ids[:0]
		for _, e := range endpoints {
			ids = append(ids, e.ID)
		}
	}
	counts := make([]dynamo.Waiting, len(ids))
	errs := parallel.Each(len(ids), countedAtOnce, func(i int) (err error) {
		counts[i], err = h.Backlog.Count(ctx, ids[i])
		return err
	})
	waiting := Waiting{}
	for i, err := range errs {
		if err != nil {
			h.Log.ErrorContext(ctx, "counting what waits", telemetry.KeyEndpoint, ids[i], telemetry.KeyError, err.Error())
			waiting.More = true
			continue
		}
		waiting.Count += counts[i].Items
		waiting.More = waiting.More || counts[i].More
	}
	a.Waiting = &waiting
	return a, nil
}
