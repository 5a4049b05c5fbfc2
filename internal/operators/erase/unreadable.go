package erase

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Letters are dead letters (dynamo.DeadLetters).
type Letters interface {
	// Get reads one letter with its sealed parts, strongly consistent.
	Get(ctx context.Context, deliveryID string) (r deadletter.Record, found bool, err error)

	// List reads a page of the selected letters, without their sealed parts and a moment behind. Next is "" after the last
	// page. A page may be short or empty before that.
	List(
		ctx context.Context, s job.Selector, p dynamo.LetterPage,
	) (records []deadletter.Record, next string, err error)

	// Purge deletes a letter as Get returned it. Deleted is false where the letter has changed since. A letter that is
	// gone counts as deleted.
	Purge(ctx context.Context, r deadletter.Record) (deleted bool, err error)
}

// kindUnreadable are dead letters that were sealed whole: their tenant is found by opening them.
const kindUnreadable = "unreadable_dead_letters"

// openedAtOnce bounds a page of them: each takes a call of KMS.
const openedAtOnce = 25

// sealedWhole erases dead letters that were sealed whole. Their keys name no tenant, so a page of an erasure opens all
// of them and deletes the tenant's.
type sealedWhole struct {
	letters Letters
	vault   deadletter.Vault
	log     *slog.Logger
}

// erase counts or deletes those letters of a page that were sealed for the tenant. If a letter cannot be opened, it may
// be the tenant's. The page has failed then, and is asked for again.
func (u sealedWhole) erase(
	ctx context.Context, tenantID, cursor string, dryRun bool,
) (count int, next string, err error) {
	whole := job.Selector{Status: string(deadletter.Dead), Reason: string(delivery.ReasonUnreadable)}
	page := dynamo.LetterPage{Limit: openedAtOnce, Cursor: cursor, OldestFirst: true, Reads: dynamo.ReadsAtOnce}
	letters, next, err := u.letters.List(ctx, whole, page)
	if err != nil {
		return 0, "", err
	}
	for _, l := range letters {
		theirs, err := u.sealedFor(ctx, l.DeliveryID, tenantID)
		if err != nil {
			return count, "", err
		}
		if !theirs {
			continue
		}
		count++
		if dryRun {
			continue
		}
		if _, err := u.letters.Purge(ctx, l); err != nil {
			return count, "", err
		}
	}
	return count, next, nil
}

// sealedFor reports whether an unreadable message had the tenant's id. One that does not open is an incident, and keeps
// the erasure from nothing else.
func (u sealedWhole) sealedFor(ctx context.Context, id, tenantID string) (bool, error) {
	r, found, err := u.letters.Get(ctx, id)
	if err != nil || !found {
		return false, err
	}
	opened, err := u.vault.OpenAll(ctx, r)
	if errors.Is(err, deadletter.ErrUnopenable) {
		u.log.ErrorContext(ctx, "an unreadable dead letter does not open: its tenant is not known",
			slog.String(telemetry.KeyDelivery, id), telemetry.Cause(err))
		return false, nil
	}
	return slices.ContainsFunc(opened.Attributes, func(a deadletter.Attribute) bool {
		return a.Name == "tenant_id" && a.Value == tenantID
	}), err
}
