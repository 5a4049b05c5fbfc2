package replay

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
)

// The bounds of one request. The page under way when one is reached is finished.
const (
	maxErased = 1000
	eraseTime = 20 * time.Second
)

type eraseRequest struct {
	TenantID string `json:"tenant_id"`

	// Must repeat the tenant's id: an erasure cannot be undone.
	Confirm string `json:"confirm"`

	// Why the tenant is erased, for the audit log.
	Reason string `json:"reason"`
	DryRun bool   `json:"dry_run"`

	// Of the answer to the request before. Requests with another tenant or another dry_run have other cursors.
	Cursor string `json:"cursor"`
}

// Erased is the answer of a request, about its own part.
type Erased struct {
	// By kind.
	Counts map[string]int `json:"counts"`

	// Null where nothing is left.
	NextCursor *string `json:"next_cursor"`
}

// eraser erases tenants: first the items that a tenant's id finds, then unreadable dead letters.
type eraser struct {
	items      Erasure
	unreadable sealedWhole
	now        func() time.Time
}

// erase deletes a part of a tenant's items. A request that breaks off is made again, with its cursor or from the
// beginning.
func (e eraser) erase(ctx context.Context, call *invoke.Call, req eraseRequest) (Erased, error) {
	if err := req.check(); err != nil {
		return Erased{}, err
	}
	filter := fmt.Sprint("erase ", req.DryRun, " ", req.TenantID)
	start, err := invoke.Page{Cursor: req.Cursor}.Start(filter)
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
	counts, left, err := e.some(ctx, call, req, start)
	call.Note(slog.Any("results", counts))
	if err != nil {
		return Erased{}, err
	}
	return Erased{Counts: counts, NextCursor: invoke.NextCursor(filter, left)}, nil
}

// check refuses a request without its tenant or its confirmation.
func (req eraseRequest) check() error {
	if err := invoke.Required("tenant_id", req.TenantID); err != nil {
		return err
	}
	if !req.DryRun && req.Confirm != req.TenantID {
		return invoke.Invalid("confirm", "erasing cannot be undone: confirm must repeat the tenant's id")
	}
	return invoke.CheckReason(req.Reason)
}

// some erases from a start until a bound is reached. It returns the start of the rest, "" where nothing is left.
func (e eraser) some(
	ctx context.Context, call *invoke.Call, req eraseRequest, start string,
) (counts map[string]int, left string, err error) {
	counts = map[string]int{}
	for done := 0; ; {
		p, err := e.page(ctx, req, start)
		if err != nil {
			return counts, "", err
		}
		counts[p.kind] += p.count
		done += p.count
		start = p.next
		if start == "" || done >= maxErased || e.now().Sub(call.Now) >= eraseTime || outOfTime(ctx) {
			return counts, start, nil
		}
	}
}

// erasedPage is a page of items of one kind that were counted or deleted.
type erasedPage struct {
	kind  string
	count int

	// The start of the next page, "" for none.
	next string
}

// page counts or deletes the page from a start. A start in unreadable dead letters begins with their kind.
func (e eraser) page(ctx context.Context, req eraseRequest, start string) (erasedPage, error) {
	if cursor, ok := strings.CutPrefix(start, kindUnreadable+" "); ok {
		count, next, err := e.unreadable.erase(ctx, req.TenantID, cursor, req.DryRun)
		if next != "" {
			next = kindUnreadable + " " + next
		}
		return erasedPage{kindUnreadable, count, next}, err
	}
	kind, count, next, err := e.items.Page(ctx, req.TenantID, start, req.DryRun)
	if err == nil && next == "" {
		next = kindUnreadable + " "
	}
	return erasedPage{kind, count, next}, err
}
