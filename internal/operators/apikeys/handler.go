// Package apikeys lets operators issue, list and revoke the API keys of tenants.
//
// It promises that a key's text is in the answer of issue and nowhere else, ever: not in the
// table, a list or the log. Issuing a key is becoming the tenant: only the managed policy
// KeyIssuers allows it, since the alias invoke.Revoke, which operators may invoke, refuses it.
package apikeys

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
)

// Keys stores API keys.
type Keys interface {
	Put(ctx context.Context, key apikey.Key) error
	Get(ctx context.Context, keyID string) (key apikey.Key, found bool, err error)
	ListByTenant(
		ctx context.Context, tenantID string, limit int, cursor string,
	) (keys []apikey.Key, next string, err error)
	Revoke(ctx context.Context, tenantID, keyID string, now time.Time) (key apikey.Key, found bool, err error)
}

// Handler manages keys. All fields are required.
type Handler struct {
	Keys  Keys
	Audit audit.Writer
	Log   *slog.Logger
	Now   func() time.Time
}

// Function returns the operator function with the actions of this package.
func (h *Handler) Function() *invoke.Function {
	return &invoke.Function{
		Name: string(api.APIKeys), Audit: h.Audit, Log: h.Log, Now: h.Now,
		Actions: invoke.Table(append(invoke.NotBy(invoke.Revoke, invoke.Serve(api.IssueKey, h.issue)),
			invoke.Serve(api.ListKeys, h.list),
			invoke.Serve(api.RevokeKey, h.revoke),
			invoke.Serve(api.RevokeAllKeys, h.revokeAll))...),
	}
}

// show leaves out the hash: with it a stolen answer would let guesses be checked elsewhere.
func show(k apikey.Key) api.Key {
	return api.Key{
		KeyID: k.ID, TenantID: k.TenantID, Scopes: k.Scopes, Description: k.Description, CreatedAt: k.CreatedAt,
		LastUsedAt: k.LastUsedAt, RevokedAt: k.RevokedAt,
	}
}

// issue makes a key. Where the write fails, the operator has no text and asks again: a key that was stored nevertheless
// has a text that is in no answer, and opens nothing.
func (h *Handler) issue(ctx context.Context, call *invoke.Call, req api.IssueKeyRequest) (api.IssuedKey, error) {
	if err := invoke.Required("tenant_id", req.TenantID); err != nil {
		return api.IssuedKey{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID))
	scopes, err := scopesOf(req.Scopes)
	if err != nil {
		return api.IssuedKey{}, err
	}
	key, text := apikey.New(call.Now)
	key.TenantID = req.TenantID
	key.Scopes = scopes
	key.Description = req.Description
	call.Note(slog.String(telemetry.KeyKey, key.ID), slog.Any("scopes", scopes))
	if err := call.Audit(ctx, audit.Line{TenantID: key.TenantID, KeyID: key.ID}); err != nil {
		return api.IssuedKey{}, err
	}
	if err := h.Keys.Put(ctx, key); err != nil {
		return api.IssuedKey{}, err
	}
	return api.IssuedKey{Key: show(key), APIKey: text}, nil
}

// scopesOf returns the scopes of a new key. An empty list is refused, as a key that may do nothing is a mistake.
func scopesOf(asked *[]apikey.Scope) ([]apikey.Scope, error) {
	if asked == nil {
		return apikey.Scopes(), nil
	}
	refusal := invoke.Invalid("scopes", "must be webhooks:read, webhooks:write or both")
	if len(*asked) == 0 {
		return nil, refusal
	}
	for i, s := range *asked {
		if err := invoke.OneOf("scopes", s, apikey.Scopes()...); err != nil {
			return nil, err
		}
		if s == "" || slices.Contains((*asked)[:i], s) {
			return nil, refusal
		}
	}
	return *asked, nil
}

// list shows a tenant's keys, newest first, revoked ones included.
func (h *Handler) list(ctx context.Context, call *invoke.Call, req api.KeysRequest) (api.List[api.Key], error) {
	if err := invoke.Required("tenant_id", req.TenantID); err != nil {
		return api.List[api.Key]{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID))
	read := func(limit int, start string) ([]api.Key, string, error) {
		keys, next, err := h.Keys.ListByTenant(ctx, req.TenantID, limit, start)
		shown := make([]api.Key, len(keys))
		for i, k := range keys {
			shown[i] = show(k)
		}
		return shown, next, err
	}
	return invoke.Paged(call, req.Page, "keys "+req.TenantID, read)
}

// revoke ends a key for every request that starts after the answer. Revoking again changes
// nothing.
func (h *Handler) revoke(ctx context.Context, call *invoke.Call, req api.RevokeKeyRequest) (api.Key, error) {
	notFound := invoke.Refuse(api.CodeNotFound, "key_id", "no key has this id")
	if req.KeyID != "" && !apikey.ValidID(req.KeyID) { // may be the text of a key, which must not be logged
		return api.Key{}, notFound
	}
	key, err := invoke.Find(ctx, call, telemetry.KeyKey, req.KeyID, h.Keys.Get, notFound.Message)
	if err != nil {
		return api.Key{}, err
	}
	if err := invoke.CheckTenant(req.TenantID, key.TenantID); err != nil {
		return api.Key{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, key.TenantID))
	if err := call.Audit(ctx, audit.Line{TenantID: key.TenantID, KeyID: key.ID}); err != nil {
		return api.Key{}, err
	}
	key, found, err := h.Keys.Revoke(ctx, key.TenantID, key.ID, call.Now)
	if err == nil && !found {
		err = notFound
	}
	return show(key), err
}
