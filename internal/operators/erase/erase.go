// Package erase deletes what is stored about a tenant, on an operator's request.
//
// It promises that a request ends in time and that its cursor leads to the rest, that nothing is deleted before its
// audit line, and that an erasure which breaks off can be made again. It reaches tables only: deliveries on queues end
// by themselves, and logs expire.
package erase

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// The bounds of one request. The page under way when one is reached is finished.
const (
	maxErased = 1000
	eraseTime = 20 * time.Second
)

// Eraser erases tenants: first the items that a tenant's id finds, then unreadable dead letters. All fields are
// required.
type Eraser struct {
	Items   Items
	Letters Letters
	Vault   deadletter.Vault
	Log     *slog.Logger
	Now     func() time.Time
}

// Items counts and deletes a tenant's items, a page of a kind at a time, in the order of the kinds (dynamo.Erasure).
type Items interface {
	// Page erases the page from a start, "" for the first, and answers with the start of the next, "" after the last.
	Page(ctx context.Context, tenantID, start string, dryRun bool) (kind string, count int, next string, err error)
}

// Erase deletes a part of a tenant's items. A request that breaks off is made again, with its cursor or from the
// beginning.
func (e Eraser) Erase(ctx context.Context, call *invoke.Call, req api.EraseRequest) (api.Erased, error) {
	if err := check(req); err != nil {
		return api.Erased{}, err
	}
	filter := fmt.Sprint("erase ", req.DryRun, " ", req.TenantID)
	start, err := invoke.Start(req.Cursor, filter)
	if err != nil {
		return api.Erased{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID), slog.Bool("dry_run", req.DryRun))
	if !req.DryRun {
		if err := invoke.ByAlias(ctx); err != nil {
			return api.Erased{}, err
		}
		if err := call.Audit(ctx, audit.Line{TenantID: req.TenantID, Reason: req.Reason}); err != nil {
			return api.Erased{}, err
		}
	}
	counts, left, err := e.some(ctx, call, req, start)
	call.Note(slog.Any("results", counts))
	if err != nil {
		return api.Erased{}, err
	}
	return api.Erased{Counts: counts, NextCursor: invoke.NextCursor(filter, left)}, nil
}

// check refuses a request without its tenant or its confirmation.
func check(req api.EraseRequest) error {
	if err := invoke.Required("tenant_id", req.TenantID); err != nil {
		return err
	}
	if !req.DryRun && req.Confirm != req.TenantID {
		return invoke.Invalid("confirm", "erasing cannot be undone: confirm must repeat the tenant's id")
	}
	return invoke.CheckReason(req.Reason)
}

// some erases from a start until a bound is reached. It returns the start of the rest, "" where nothing is left.
func (e Eraser) some(
	ctx context.Context, call *invoke.Call, req api.EraseRequest, start string,
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
		if start == "" || done >= maxErased || e.Now().Sub(call.Now) >= eraseTime || invoke.OutOfTime(ctx) {
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
func (e Eraser) page(ctx context.Context, req api.EraseRequest, start string) (erasedPage, error) {
	if cursor, ok := strings.CutPrefix(start, kindUnreadable+" "); ok {
		unreadable := sealedWhole{letters: e.Letters, vault: e.Vault, log: e.Log}
		count, next, err := unreadable.erase(ctx, req.TenantID, cursor, req.DryRun)
		if next != "" {
			next = kindUnreadable + " " + next
		}
		return erasedPage{kindUnreadable, count, next}, err
	}
	kind, count, next, err := e.Items.Page(ctx, req.TenantID, start, req.DryRun)
	if err == nil && next == "" {
		next = kindUnreadable + " "
	}
	return erasedPage{kind, count, next}, err
}
