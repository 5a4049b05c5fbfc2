package apikeys

import (
	"cmp"
	"context"
	"log/slog"
	"strings"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/cursor"
)

// pageOfKeys is how many keys are revoked between two looks at the clock.
const pageOfKeys = 25

// passage is how far a walk over a tenant's keys has come. The index of keys is a moment behind, and keys may be issued
// while others are revoked. So the keys are listed again from the first to the last until a walk finds none to revoke.
type passage struct {
	next  string // the store's cursor
	found bool   // this walk has met a good key, so that another one has to follow
}

// The first character of a cursor says whether its walk has met a good key.
const (
	foundNone = "0"
	foundSome = "1"
)

func (p passage) text() string {
	if p.found {
		return foundSome + p.next
	}
	return foundNone + p.next
}

func readPassage(text string) (passage, error) {
	if text == "" {
		return passage{}, nil
	}
	next, some := strings.CutPrefix(text, foundSome)
	if !some && !strings.HasPrefix(text, foundNone) {
		return passage{}, cursor.ErrInvalid
	}
	return passage{next: strings.TrimPrefix(next, foundNone), found: some}, nil
}

// revokeAll ends all keys of a tenant. Each key has its audit line before it ends. Where a request fails, those that it
// has revoked stay revoked, and the operator asks again.
func (h *Handler) revokeAll(
	ctx context.Context, call *invoke.Call, req api.RevokeAllRequest,
) (done api.RevokedKeys, err error) {
	list := "revoke_all " + req.TenantID
	at, err := begin(req, list)
	if err != nil {
		return done, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID), slog.String("operator_reason", req.Reason))
	done.TenantID = req.TenantID
	defer func() { call.Note(slog.Int(telemetry.KeyCount, done.Revoked)) }()
	for {
		keys, next, err := h.Keys.ListByTenant(ctx, req.TenantID, pageOfKeys, at.next)
		if err != nil {
			return done, err
		}
		met, revoked, err := h.revokeThose(ctx, call, keys, req.Reason)
		done.Revoked += revoked
		if err != nil {
			return done, err
		}
		at = passage{next: next, found: at.found || met > 0}
		if at == (passage{}) {
			return done, nil
		}
		if next == "" {
			at.found = false // another walk begins
		}
		if invoke.OutOfTime(ctx) {
			done.NextCursor = invoke.NextCursor(list, at.text())
			return done, nil
		}
	}
}

// begin checks a request, and has the place where it goes on.
func begin(req api.RevokeAllRequest, list string) (passage, error) {
	if err := cmp.Or(invoke.Required("tenant_id", req.TenantID), invoke.CheckReason(req.Reason)); err != nil {
		return passage{}, err
	}
	if !req.Confirm {
		return passage{}, invoke.Invalid("confirm", "a revoked key stays revoked: confirm must be true")
	}
	start, err := invoke.Start(req.Cursor, list)
	if err != nil {
		return passage{}, err
	}
	return readPassage(start)
}

// revokeThose ends the good keys that it meets on a page. The index may show a key as good that was revoked a moment
// ago, so each is read from the table first. Two requests at once may both audit a key: only the one that ends it
// counts it.
func (h *Handler) revokeThose(
	ctx context.Context, call *invoke.Call, listed []apikey.Key, reason string,
) (met, revoked int, err error) {
	for _, shown := range listed {
		if !shown.RevokedAt.IsZero() {
			continue
		}
		key, found, err := h.Keys.Get(ctx, shown.ID)
		if err != nil {
			return met, revoked, err
		}
		if !found || !key.RevokedAt.IsZero() {
			continue
		}
		line := audit.Line{TenantID: key.TenantID, KeyID: key.ID, Reason: reason}
		if err := call.Audit(ctx, line); err != nil {
			return met, revoked, err
		}
		met++
		ended, _, err := h.Keys.Revoke(ctx, key.TenantID, key.ID, call.Now)
		if err != nil {
			return met, revoked, err
		}
		if ended.RevokedAt.UnixMilli() == call.Now.UnixMilli() {
			revoked++
		}
	}
	return met, revoked, nil
}
