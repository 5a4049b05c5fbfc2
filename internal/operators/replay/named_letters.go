package replay

import (
	"context"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Results is the answer of the actions that take delivery ids.
type Results struct {
	Data []Result `json:"data"`
}

type deliveriesRequest struct {
	DeliveryIDs []string `json:"delivery_ids"`

	// Where it is given, letters of other tenants are refused.
	TenantID string `json:"tenant_id"`
}

type purgeRequest struct {
	deliveriesRequest

	// Must be true: a purge cannot be undone.
	Confirm bool `json:"confirm"`
}

// namedLetters acts on the dead letters that a request names.
type namedLetters struct{ acts acts }

// replay sends dead deliveries again.
func (n namedLetters) replay(ctx context.Context, call *invoke.Call, req deliveriesRequest) (Results, error) {
	return n.do(ctx, call, job.Replay, req)
}

// purge deletes dead letters for good, in any status but a running replay.
func (n namedLetters) purge(ctx context.Context, call *invoke.Call, req purgeRequest) (Results, error) {
	if !req.Confirm {
		return Results{}, invoke.Invalid("confirm", "purging cannot be undone: confirm must be true")
	}
	if err := byAlias(ctx); err != nil {
		return Results{}, err
	}
	return n.do(ctx, call, job.Purge, req.deliveriesRequest)
}

// do does an act on the named letters, and notes how many have which result.
func (n namedLetters) do(
	ctx context.Context, call *invoke.Call, act job.Act, req deliveriesRequest,
) (Results, error) {
	ids, err := invoke.IDs("delivery_ids", req.DeliveryIDs, maxIDs)
	if err != nil {
		return Results{}, err
	}
	// To the steps, a request is a job without an id.
	asked := job.Job{Act: act, Selector: job.Selector{TenantID: req.TenantID}, Operator: call.Operator}
	results := n.acts.do(ctx, call, asked, ids)
	counts := countResults(results, func(one Result) string { return one.Result })
	call.Note(slog.Int(telemetry.KeyCount, len(ids)), slog.Any("results", counts))
	return Results{results}, nil
}
