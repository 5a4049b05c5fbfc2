package replay

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// kindUnreadable are dead letters that were sealed whole: their tenant is found by opening them.
const kindUnreadable = "unreadable_dead_letters"

// openedAtOnce bounds a page of them: each takes a call of KMS.
const openedAtOnce = 25

// readsAtOnce bounds the reads of a page of dead letters, in each shard of their index: those that are wanted may be
// few among all of the stack, and an invocation that read all of them would end before it has one.
const readsAtOnce = 10

// erasePage counts or deletes a page of a kind: first of those that a tenant's id finds, then of unreadable letters.
func (h *Handler) erasePage(
	ctx context.Context, req eraseRequest, place string,
) (kind string, count int, next string, err error) {
	if cursor, ok := strings.CutPrefix(place, kindUnreadable+" "); ok {
		return h.eraseUnreadable(ctx, req, cursor)
	}
	kind, count, next, err = h.Erasure.Page(ctx, req.TenantID, place, req.DryRun)
	if err == nil && next == "" {
		next = kindUnreadable + " "
	}
	return kind, count, next, err
}

func (h *Handler) eraseUnreadable(
	ctx context.Context, req eraseRequest, cursor string,
) (kind string, count int, next string, err error) {
	unreadable := job.Selector{Status: string(deadletter.Dead), Reason: string(delivery.ReasonUnreadable)}
	page := dynamo.LetterPage{Limit: openedAtOnce, Cursor: cursor, OldestFirst: true, Reads: readsAtOnce}
	letters, after, err := h.DeadLetters.List(ctx, unreadable, page)
	for _, l := range letters {
		var ours bool
		if ours, err = h.sealedFor(ctx, l.DeliveryID, req.TenantID); err != nil {
			break
		}
		if !ours {
			continue
		}
		count++
		if !req.DryRun {
			if _, err = h.DeadLetters.Purge(ctx, l); err != nil {
				break
			}
		}
	}
	if after != "" {
		after = kindUnreadable + " " + after
	}
	return kindUnreadable, count, after, err
}

// sealedFor reports whether an unreadable message had the tenant's id. One that does not open is an incident, and keeps
// the erasure from nothing else.
func (h *Handler) sealedFor(ctx context.Context, id, tenantID string) (bool, error) {
	r, found, err := h.DeadLetters.Get(ctx, id)
	if err != nil || !found {
		return false, err
	}
	opened, err := h.Vault.OpenAll(ctx, r)
	if errors.Is(err, deadletter.ErrUnopenable) {
		h.Log.ErrorContext(ctx, "an unreadable dead letter does not open: its tenant is not known",
			slog.String(telemetry.KeyDelivery, id), telemetry.Cause(err))
		return false, nil
	}
	return slices.ContainsFunc(opened.Attributes, func(a deadletter.Attribute) bool {
		return a.Name == "tenant_id" && a.Value == tenantID
	}), err
}
