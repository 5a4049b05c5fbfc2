package replay

import (
	"context"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Results is the answer of the actions that take ids.
type Results struct {
	Data []Result `json:"data"`
}

type deliveriesRequest struct {
	DeliveryIDs []string `json:"delivery_ids"`
	TenantID    string   `json:"tenant_id"`
}

func (h *Handler) deliveries(ctx context.Context, call *operator.Call, req deliveriesRequest) (Results, error) {
	return h.named(ctx, call, job.Replay, req)
}

type purgeRequest struct {
	deliveriesRequest
	Confirm bool `json:"confirm"`
}

// purge deletes dead letters for good, in any status but a running replay.
func (h *Handler) purge(ctx context.Context, call *operator.Call, req purgeRequest) (Results, error) {
	if !req.Confirm {
		return Results{}, operator.Invalid("confirm", "purging cannot be undone: confirm must be true")
	}
	if err := byAlias(ctx); err != nil {
		return Results{}, err
	}
	return h.named(ctx, call, job.Purge, req.deliveriesRequest)
}

// named does the act on the dead letters that a request names.
func (h *Handler) named(
	ctx context.Context, call *operator.Call, act job.Act, req deliveriesRequest,
) (Results, error) {
	ids, err := operator.IDs("delivery_ids", req.DeliveryIDs, maxIDs)
	if err != nil {
		return Results{}, err
	}
	call.Note(slog.Int(telemetry.KeyCount, len(ids)))
	return Results{h.runFor(call, act, req.TenantID).answer(ctx, ids)}, nil
}

func (r *run) purge(ctx context.Context, p replay) (replay, error) {
	deleted, err := r.h.DeadLetters.Purge(ctx, p.record)
	if err != nil {
		return p, err
	}
	if !deleted {
		return p.ended(resultRefused, reasonChanged), nil
	}
	r.recordPurge(ctx, p.record)
	return p.ended(resultPurged, ""), nil
}

// recordPurge writes the state of a delivery whose dead letter is gone. A write that is lost loses information only.
func (r *run) recordPurge(ctx context.Context, d deadletter.Record) {
	if d.Reason == delivery.ReasonUnreadable { // no delivery
		return
	}
	finish, cancel := finishing(ctx)
	defer cancel()
	err := r.h.States.Purged(finish, delivery.Record{
		Ref: d.Ref, EventType: d.EventType, State: delivery.Purged, Attempts: d.Attempts, LastStatus: d.LastStatus,
		Reason: d.Reason, UpdatedAt: r.h.Now(),
	})
	if err != nil {
		r.report(ctx, replay{id: d.DeliveryID, result: resultPurged}, err)
	}
}

// byResult counts results for the request's log line. The audit log has the ids.
func byResult[R any](results []R, of func(R) string) slog.Attr {
	counts := map[string]int{}
	for _, r := range results {
		counts[of(r)]++
	}
	return slog.Any("results", counts)
}
