package replay

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Erasure counts and deletes a tenant's items, a page of a kind at a time, in the order of the kinds (dynamo.Erasure).
type Erasure interface {
	Page(ctx context.Context, tenantID, place string, dryRun bool) (kind string, count int, next string, err error)
}

// The bounds of one request. The page under way when one is reached is finished.
const (
	maxErased = 1000
	eraseTime = 20 * time.Second
)

type eraseRequest struct {
	TenantID string `json:"tenant_id"`
	Confirm  string `json:"confirm"`
	Reason   string `json:"reason"`
	DryRun   bool   `json:"dry_run"`
	Cursor   string `json:"cursor"`
}

// Erased is the answer of a request, about its own part.
type Erased struct {
	Counts     map[string]int `json:"counts"`      // by kind
	NextCursor *string        `json:"next_cursor"` // null at the end
}

// erase deletes a part of a tenant's items. A request that breaks off is made again, with its cursor or from the
// beginning.
func (h *Handler) erase(ctx context.Context, call *operator.Call, req eraseRequest) (Erased, error) {
	if err := req.check(); err != nil {
		return Erased{}, err
	}
	filter := fmt.Sprint("erase ", req.DryRun, " ", req.TenantID)
	place, err := operator.Page{Cursor: req.Cursor}.Start(filter)
	if err != nil {
		return Erased{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID), slog.Bool("dry_run", req.DryRun))
	if !req.DryRun {
		if err := byAlias(ctx); err != nil {
			return Erased{}, err
		}
		if err := call.Audit(ctx, audit.Line{TenantID: req.TenantID, Reason: req.Reason}); err != nil {
			return Erased{}, err
		}
	}
	counts, place, err := h.eraseSome(ctx, call, req, place)
	call.Note(slog.Any("results", counts))
	if err != nil {
		return Erased{}, err
	}
	return Erased{Counts: counts, NextCursor: operator.NextCursor(filter, place)}, nil
}

func (req eraseRequest) check() error {
	if err := operator.Required("tenant_id", req.TenantID); err != nil {
		return err
	}
	if !req.DryRun && req.Confirm != req.TenantID {
		return operator.Invalid("confirm", "erasing cannot be undone: confirm must repeat the tenant's id")
	}
	return operator.CheckReason(req.Reason)
}

// eraseSome erases from a place until a bound is reached, and returns the place of what is left, "" for nothing.
func (h *Handler) eraseSome(
	ctx context.Context, call *operator.Call, req eraseRequest, place string,
) (counts map[string]int, left string, err error) {
	counts = map[string]int{}
	for done := 0; ; {
		kind, count, next, err := h.erasePage(ctx, req, place)
		if err != nil {
			return counts, "", err
		}
		counts[kind] += count
		done += count
		if place = next; place == "" || done >= maxErased || h.Now().Sub(call.Now) >= eraseTime || late(ctx) {
			return counts, place, nil
		}
	}
}
