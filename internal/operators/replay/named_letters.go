package replay

import (
	"context"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// maxIDs is the most ids in one request.
const maxIDs = 1000

// namedLetters acts on the dead letters that a request names.
type namedLetters struct{ replays, purges act }

// replay sends dead deliveries again.
func (n namedLetters) replay(
	ctx context.Context, call *invoke.Call, req api.ReplayRequest,
) (api.DeliveryResults, error) {
	return doNamed(ctx, call, n.replays, job.Replay, req)
}

// purge deletes dead letters for good, in any status but a running replay.
func (n namedLetters) purge(
	ctx context.Context, call *invoke.Call, req api.PurgeRequest,
) (api.DeliveryResults, error) {
	if !req.Confirm {
		return api.DeliveryResults{}, invoke.Invalid("confirm", "purging cannot be undone: confirm must be true")
	}
	if err := invoke.ByAlias(ctx); err != nil {
		return api.DeliveryResults{}, err
	}
	return doNamed(ctx, call, n.purges, job.Purge, req.ReplayRequest)
}

// doNamed does an act on the named letters, and notes how many have which result.
func doNamed(
	ctx context.Context, call *invoke.Call, how act, name job.Act, req api.ReplayRequest,
) (api.DeliveryResults, error) {
	ids, err := invoke.IDs("delivery_ids", req.DeliveryIDs, maxIDs)
	if err != nil {
		return api.DeliveryResults{}, err
	}
	// To the steps, a request is a job without an id.
	asked := job.Job{Act: name, Selector: job.Selector{TenantID: req.TenantID}, Operator: call.Operator}
	results := how.do(ctx, call, asked, ids)
	counts := countResults(results, func(one api.DeliveryResult) api.Result { return one.Result })
	call.Note(slog.Int(telemetry.KeyCount, len(ids)), slog.Any("results", counts))
	return api.DeliveryResults{Data: results}, nil
}

// countResults counts results for the request's log line. The audit log has the ids.
func countResults[R any](results []R, of func(R) api.Result) map[api.Result]int {
	counts := map[api.Result]int{}
	for _, r := range results {
		counts[of(r)]++
	}
	return counts
}
