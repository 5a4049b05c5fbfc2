package replay

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
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

type endpointRequest struct {
	operator.Page
	EndpointID string `json:"endpoint_id"`
	TenantID   string `json:"tenant_id"`
	DryRun     bool   `json:"dry_run"`
}

// endpoint replays a page of an endpoint's dead deliveries, the longest dead first. When time runs out within the
// page, next_cursor asks for the same page again: replayed ones are no longer on it.
func (h *Handler) endpoint(
	ctx context.Context, call *operator.Call, req endpointRequest,
) (operator.List[Result], error) {
	err := errors.Join(operator.Required("endpoint_id", req.EndpointID), operator.CheckEndpointID(req.EndpointID))
	if err != nil {
		return operator.List[Result]{}, err
	}
	call.Note(slog.String(telemetry.KeyEndpoint, req.EndpointID), slog.Bool("dry_run", req.DryRun))
	r := h.runFor(call, job.Replay, req.TenantID)
	r.dryRun = req.DryRun
	page := func(limit int, start string) ([]Result, string, error) {
		ids, next, err := h.deadAt(ctx, req, limit, start)
		if err != nil {
			return nil, "", err
		}
		results := r.answer(ctx, ids)
		if slices.ContainsFunc(results, func(one Result) bool { return one.Result == resultNotStarted }) {
			next = cmp.Or(start, firstPage)
		}
		return results, next, nil
	}
	return operator.Paged(call, req.Page, "replay "+req.EndpointID, page)
}

// deadAt returns a page of the dead deliveries of the endpoint, which is the tenant's.
func (h *Handler) deadAt(
	ctx context.Context, req endpointRequest, limit int, start string,
) (ids []string, next string, err error) {
	if start == firstPage {
		start = ""
	}
	dead := job.Selector{EndpointID: req.EndpointID, Status: string(deadletter.Dead)}
	page := dynamo.LetterPage{Limit: limit, Cursor: start, OldestFirst: true}
	records, next, err := h.DeadLetters.List(ctx, dead, page)
	for _, d := range records {
		err = errors.Join(err, operator.CheckTenant(req.TenantID, d.TenantID))
		ids = append(ids, d.DeliveryID)
	}
	return ids, next, err
}

// firstPage stands for the empty cursor, which could not be told from "no more pages".
const firstPage = "-"

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
