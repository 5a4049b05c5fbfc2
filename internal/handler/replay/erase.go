package replay

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/cursor"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Erasure counts and deletes a tenant's items, a page of a kind at a time, in the order of the kinds.
type Erasure interface {
	Kinds() []string
	Page(ctx context.Context, kind, tenantID, cursor string, dryRun bool) (count int, next string, err error)
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
	kind, start, err := h.eraseFrom(req.Cursor, filter)
	if err != nil {
		return Erased{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID), slog.Bool("dry_run", req.DryRun))
	if !req.DryRun {
		if err := call.Audit(ctx, audit.Line{TenantID: req.TenantID, Reason: req.Reason}); err != nil {
			return Erased{}, err
		}
	}
	counts, left, start, err := h.eraseSome(ctx, call, req, kind, start)
	call.Note(slog.Any("results", counts))
	if err != nil {
		return Erased{}, err
	}
	answer := Erased{Counts: counts}
	if left != "" {
		next := cursor.Make(left+" "+start, filter)
		answer.NextCursor = &next
	}
	return answer, nil
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

// eraseFrom is where a cursor leads: a kind, and the store's cursor within it.
func (h *Handler) eraseFrom(text, filter string) (kind, start string, err error) {
	kinds := h.Erasure.Kinds()
	if text == "" {
		return kinds[0], "", nil
	}
	text, err = operator.Page{Cursor: text}.Start(filter)
	if err != nil {
		return "", "", err
	}
	kind, start, _ = strings.Cut(text, " ")
	if !slices.Contains(kinds, kind) { // of another release
		return "", "", cursor.ErrInvalid
	}
	return kind, start, nil
}

// eraseSome goes through kinds until a bound is reached, and returns the kind that is left to do, "" for none.
func (h *Handler) eraseSome(
	ctx context.Context, call *operator.Call, req eraseRequest, kind, start string,
) (counts map[string]int, left, next string, err error) {
	kinds := h.Erasure.Kinds()
	counts = map[string]int{}
	done, n := 0, slices.Index(kinds, kind)
	for n < len(kinds) {
		count, next, err := h.Erasure.Page(ctx, kinds[n], req.TenantID, start, req.DryRun)
		if err != nil {
			return counts, "", "", fmt.Errorf("erasing %s: %w", kinds[n], err)
		}
		counts[kinds[n]] += count
		done += count
		if start = next; start == "" {
			n++
		}
		if done >= maxErased || h.Now().Sub(call.Now) >= eraseTime || late(ctx) {
			break
		}
	}
	if n == len(kinds) {
		return counts, "", "", nil
	}
	return counts, kinds[n], start, nil
}
