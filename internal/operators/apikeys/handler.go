// Package apikeys lets operators issue, list and revoke the API keys of tenants.
//
// It promises that a key's text is in the answer of issue and nowhere else, ever: not in the
// table, a list or the log. Issuing a key is becoming the tenant: only the managed policy
// KeyIssuers allows it.
package apikeys

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
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
	return &invoke.Function{Name: "apikeys", Audit: h.Audit, Log: h.Log, Now: h.Now, Actions: map[string]invoke.Action{
		"issue":  invoke.Do(h.issue),
		"list":   invoke.Do(h.list),
		"revoke": invoke.Do(h.revoke),
	}}
}

// Key is a key as operators see it, without its text.
type Key struct {
	KeyID       string         `json:"key_id"`
	TenantID    string         `json:"tenant_id"`
	Scopes      []apikey.Scope `json:"scopes"`
	Description string         `json:"description"`
	CreatedAt   time.Time      `json:"created_at"`
	LastUsedAt  time.Time      `json:"last_used_at"` // to the minute
	RevokedAt   time.Time      `json:"revoked_at"`
}

// show leaves out the hash: with it a stolen answer would let guesses be checked elsewhere.
func show(k apikey.Key) Key {
	return Key{
		KeyID: k.ID, TenantID: k.TenantID, Scopes: k.Scopes, Description: k.Description, CreatedAt: k.CreatedAt,
		LastUsedAt: k.LastUsedAt, RevokedAt: k.RevokedAt,
	}
}

// IssuedKey is the answer of issue: the only place the key's text is shown.
type IssuedKey struct {
	Key
	APIKey string `json:"api_key"`
}

// issueRequest is the request of issue. Any tenant id of the right form will do: Herald keeps no list of tenants.
type issueRequest struct {
	TenantID    string          `json:"tenant_id"`
	Scopes      *[]apikey.Scope `json:"scopes"` // default: all
	Description string          `json:"description"`
}

// issue makes a key. Where the write fails, the operator has no text and asks again: a key that was stored nevertheless
// has a text that is in no answer, and opens nothing.
func (h *Handler) issue(ctx context.Context, call *invoke.Call, req issueRequest) (IssuedKey, error) {
	if err := invoke.Required("tenant_id", req.TenantID); err != nil {
		return IssuedKey{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID))
	scopes, err := scopesOf(req.Scopes)
	if err != nil {
		return IssuedKey{}, err
	}
	key, text := apikey.New(call.Now)
	key.TenantID = req.TenantID
	key.Scopes = scopes
	key.Description = req.Description
	call.Note(slog.String(telemetry.KeyKey, key.ID), slog.Any("scopes", scopes))
	if err := call.Audit(ctx, audit.Line{TenantID: key.TenantID, KeyID: key.ID}); err != nil {
		return IssuedKey{}, err
	}
	if err := h.Keys.Put(ctx, key); err != nil {
		return IssuedKey{}, err
	}
	return IssuedKey{Key: show(key), APIKey: text}, nil
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

// listRequest is the request of list.
type listRequest struct {
	invoke.Page
	TenantID string `json:"tenant_id"`
}

// list shows a tenant's keys, newest first, revoked ones included.
func (h *Handler) list(ctx context.Context, call *invoke.Call, req listRequest) (invoke.List[Key], error) {
	if err := invoke.Required("tenant_id", req.TenantID); err != nil {
		return invoke.List[Key]{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID))
	read := func(limit int, start string) ([]Key, string, error) {
		keys, next, err := h.Keys.ListByTenant(ctx, req.TenantID, limit, start)
		shown := make([]Key, len(keys))
		for i, k := range keys {
			shown[i] = show(k)
		}
		return shown, next, err
	}
	return invoke.Paged(call, req.Page, "keys "+req.TenantID, read)
}

// revokeRequest is the request of revoke. With a tenant, a key of another one is refused.
type revokeRequest struct {
	KeyID    string `json:"key_id"`
	TenantID string `json:"tenant_id"` // checked when given
}

// revoke ends a key for every request that starts after the answer. Revoking again changes
// nothing.
func (h *Handler) revoke(ctx context.Context, call *invoke.Call, req revokeRequest) (Key, error) {
	notFound := invoke.Refuse(invoke.CodeNotFound, "key_id", "no key has this id")
	if req.KeyID != "" && !apikey.ValidID(req.KeyID) { // may be the text of a key, which must not be logged
		return Key{}, notFound
	}
	key, err := invoke.Find(ctx, call, telemetry.KeyKey, req.KeyID, h.Keys.Get, notFound.Message)
	if err != nil {
		return Key{}, err
	}
	if err := invoke.CheckTenant(req.TenantID, key.TenantID); err != nil {
		return Key{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, key.TenantID))
	if err := call.Audit(ctx, audit.Line{TenantID: key.TenantID, KeyID: key.ID}); err != nil {
		return Key{}, err
	}
	key, found, err := h.Keys.Revoke(ctx, key.TenantID, key.ID, call.Now)
	if err == nil && !found {
		err = notFound
	}
	return show(key), err
}
