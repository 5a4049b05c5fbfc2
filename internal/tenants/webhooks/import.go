package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/problem"
	"github.com/herald-webhooks/herald/internal/rules/signature"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// maxImported bounds the endpoints of a request, and importPatience the time in which it begins another one.
const (
	maxImported    = 10
	importPatience = 5 * time.Second
)

// importEndpoints creates endpoints that tenants had at another sender. Its secrets sign on. One that is there already
// stays as it is, so the same request may be made again.
func (h *Handler) importEndpoints(
	ctx context.Context, by *invoke.Call, req api.ImportRequest,
) (answer api.ImportAnswer, err error) {
	if n := len(req.Endpoints); n == 0 || n > maxImported {
		return answer, invoke.Invalid("endpoints", fmt.Sprintf("must hold 1 to %d endpoints", maxImported))
	}
	ctx, stop := parallel.Deadline(ctx, reserve)
	defer stop()
	started, counts := h.Now(), map[api.Result]int{}
	for _, text := range req.Endpoints {
		one := api.Imported{Result: api.ResultNotStarted}
		if h.Now().Sub(started) < importPatience {
			one = h.importEndpoint(ctx, by, text, req.DryRun)
		}
		counts[one.Result]++
		answer.Data = append(answer.Data, one)
	}
	by.Note(slog.Bool("dry_run", req.DryRun), slog.Any("results", counts))
	return answer, nil
}

// A dry run makes the same checks and stops before the first write. It promises nothing for later: the tenant may
// change its endpoints in between.
func (h *Handler) importEndpoint(
	ctx context.Context, by *invoke.Call, text jsontext.Value, dryRun bool,
) (one api.Imported) {
	e, f, secret, err := h.readImport(text)
	one.TenantID, one.Host = e.TenantID, e.Host()
	if f.unknown && event.ValidTenantID(e.TenantID) {
		had, failed := h.had(ctx, e.TenantID, f.url)
		if failed != nil {
			return h.notImported(ctx, one, failed)
		}
		e, f, secret, err = h.readImport(text, had...)
	}
	if err != nil {
		return h.notImported(ctx, one, err)
	}
	live, err := h.Endpoints.Live(ctx, e.TenantID)
	if err != nil {
		return h.notImported(ctx, one, err)
	}
	same := func(other endpoint.Endpoint) bool { return other.URL == e.URL }
	if at := slices.IndexFunc(live, same); at >= 0 {
		one.EndpointID, one.Result = live[at].ID, api.ResultExists
		return one
	}
	e.ComeTo(h.Now())
	if err := h.fits(ctx, e, live); err != nil {
		return h.notImported(ctx, one, err)
	}
	if dryRun {
		one.Result = api.ResultWouldCreate
		return one
	}
	c := &call{now: h.Now().UTC().Truncate(time.Millisecond), operator: by.Operator}
	if err := h.add(ctx, c, &e, f, secret); err != nil {
		return h.notImported(ctx, one, err)
	}
	one.EndpointID, one.Result = e.ID, api.ResultCreated
	return one
}

// fits says why the tenant cannot have the endpoint in addition to its live ones.
func (h *Handler) fits(ctx context.Context, e endpoint.Endpoint, live []endpoint.Endpoint) error {
	if len(live) >= h.Bounds.Live {
		detail := fmt.Sprintf("has %d endpoints that are not deleted", len(live))
		return problem.At(problem.CodeEndpointLimit, "/tenant_id", detail)
	}
	return h.allowURL(ctx, e)(live)
}

// notImported returns an endpoint's fault, or logs an internal error.
func (h *Handler) notImported(ctx context.Context, one api.Imported, err error) api.Imported {
	p := problemOf(err)
	if p.Code.Status() >= 500 || p.Code == problem.CodeConflict {
		h.Log.ErrorContext(ctx, "importing",
			slog.String(telemetry.KeyTenant, one.TenantID), slog.String(telemetry.KeyHost, one.Host), telemetry.Cause(p))
		one.Result, one.Errors = api.ResultFailed, []api.FieldError{{
			Message: "an internal fault, or another change just now: try again",
		}}
		return one
	}
	one.Result = api.ResultRefused
	for _, f := range p.Fields {
		one.Errors = append(one.Errors, api.FieldError{
			Field: strings.TrimPrefix(*cmp.Or(f.Pointer, &f.Parameter), "/"), Message: f.Detail,
		})
	}
	if len(one.Errors) == 0 {
		one.Errors = []api.FieldError{{Message: string(p.Code)}}
	}
	return one
}

// readImport returns a new endpoint, its fields, and the secret that signs its deliveries. Entries of events that the
// endpoint had are taken: one that was imported before exists, even if the catalogue has since lost a type.
func (h *Handler) readImport(text jsontext.Value, had ...string) (
	e endpoint.Endpoint, f fields, secret string, err error,
) {
	var in management.ImportedEndpoint
	if err := decode(text, &in); err != nil {
		return e, f, "", err
	}
	var r reader
	r.require("/tenant_id", in.TenantID.Value)
	r.require("/url", in.URL.Value)
	r.require("/events", in.Events.Value)
	r.require("/secret", in.Secret.Value)
	e.Status = endpoint.Active
	if in.TenantID.Value != nil {
		e.TenantID = readTenant(in.TenantID.Value, &r)
	}
	f = h.check(in.EndpointChange, &r, had)
	f.apply(&e)
	if f.oauth != nil {
		e.OAuth = f.oauth.oauth // it counts among the endpoints at its host
	}
	if in.Secret.Value != nil {
		secret = readSecret(in.Secret.Value, &r)
	}
	return e, f, secret, r.problem()
}

func readTenant(v jsontext.Value, r *reader) string {
	id, ok := r.text(v, "/tenant_id")
	if ok && !event.ValidTenantID(id) {
		r.refuse("/tenant_id", event.TenantIDRule)
	}
	return id
}

// readSecret returns another sender's secret unchanged. A receiver already has it, so it cannot be replaced by a secret
// in Herald's form.
func readSecret(v jsontext.Value, r *reader) string {
	secret, ok := r.text(v, "/secret")
	if !ok {
		return ""
	}
	if err := signature.CheckImported(secret); err != nil {
		r.refuse("/secret", err.Error())
	}
	return secret
}
