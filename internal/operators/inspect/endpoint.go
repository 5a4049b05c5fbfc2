package inspect

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Owners reads what owners say about their endpoints (dynamo.Endpoints).
type Owners interface {
	About(ctx context.Context, all ...endpoint.Endpoint) ([]endpoint.Endpoint, error)
}

// endpointView shows one endpoint, which a request names by its id, its host or its description.
type endpointView struct {
	directory invoke.Directory
	owners    Owners
	backlog   Backlog
	health    healthView
}

// show shows an endpoint, and counts its waiting deliveries.
func (v endpointView) show(ctx context.Context, call *invoke.Call, req api.EndpointRequest) (api.Endpoint, error) {
	call.Note(slog.Bool("show_path", req.ShowPath))
	found, err := v.directory.Find(ctx, req.TenantID, req.EndpointID)
	if err != nil {
		return api.Endpoint{}, err
	}
	e := found.Endpoint
	call.Note(slog.String(telemetry.KeyTenant, e.TenantID), slog.String(telemetry.KeyEndpoint, e.ID))
	if req.ShowPath { // the line is written before anything is shown
		if err := call.Audit(ctx, audit.Line{TenantID: e.TenantID, EndpointID: e.ID}); err != nil {
			return api.Endpoint{}, err
		}
	}
	about, err := v.about(ctx, call, e)
	if err != nil {
		return api.Endpoint{}, err
	}
	waiting, err := v.backlog.Count(ctx, e.ID)
	if err != nil {
		return api.Endpoint{}, err
	}
	return api.Endpoint{
		TenantID: e.TenantID, EndpointID: e.ID, URL: shownURL(e.URL, req.ShowPath), Description: e.Description,
		Status: e.Status, Events: e.Events, Contact: about.Contact, Metadata: about.Metadata,
		CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, DeletedAt: e.DeletedAt,
		SecretRotatedAt: e.SecretRotatedAt, PreviousSecretUntil: ahead(e.PreviousUntil, call.Now),
		TenantPaused: found.Tenant.Paused(), Limits: limitsOf(e), OAuth2: oauthOf(e, req.ShowPath),
		Health: v.health.show(found, waiting), Waiting: v.health.waiting(waiting),
	}, nil
}

// about is what the owner says. Where that cannot be read, the endpoint is shown without it: operators look at an
// endpoint because it is in trouble.
func (v endpointView) about(ctx context.Context, call *invoke.Call, e endpoint.Endpoint) (endpoint.About, error) {
	told, err := v.owners.About(ctx, e)
	if invoke.Unreadable(err) {
		call.Note(slog.Bool("about_unreadable", true))
		return endpoint.About{}, nil
	}
	if err != nil {
		return endpoint.About{}, err
	}
	return told[0].About, nil
}

// shownURL leaves out the query, which may hold a receiver's secret, and the path unless it is asked for. A URL that
// cannot be read is not shown at all.
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

// oauthOf shows where an endpoint's tokens come from, nil where it has none.
func oauthOf(e endpoint.Endpoint, path bool) *api.OAuth2 {
	if e.OAuth == nil {
		return nil
	}
	return &api.OAuth2{
		TokenURL: shownURL(e.OAuth.TokenURL, path), ClientID: e.OAuth.ClientID,
		Scope: e.OAuth.Scope, Audience: e.OAuth.Audience, Method: e.OAuth.Method,
	}
}

// ahead returns a time that is still to come, and otherwise none.
func ahead(t, now time.Time) time.Time {
	if t.After(now) {
		return t
	}
	return time.Time{}
}
