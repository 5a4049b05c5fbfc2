package replay

import (
	"context"
	"log/slog"
	"slices"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/operators/jobs"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// namedEvents acts on the rejected events that a request names.
type namedEvents struct {
	events    jobs.EventQueue
	publisher publisher
	log       *slog.Logger
}

// publish publishes the named events again. An event that this version would reject again is refused, and stays.
func (n namedEvents) publish(
	ctx context.Context, call *invoke.Call, req api.PublishRequest,
) (api.EventResults, error) {
	ids, err := invoke.IDs("message_ids", req.MessageIDs, maxIDs)
	if err != nil {
		return api.EventResults{}, err
	}
	return n.answer(ctx, call, ids, jobs.Sweep{Do: func(ctx context.Context, events []rejected.Event) []jobs.Outcome {
		return n.publisher.publish(ctx, call, job.Job{}, events)
	}})
}

// discard deletes the named events for good.
func (n namedEvents) discard(
	ctx context.Context, call *invoke.Call, req api.DiscardRejectedRequest,
) (api.EventResults, error) {
	ids, err := invoke.IDs("message_ids", req.MessageIDs, maxIDs)
	if err != nil {
		return api.EventResults{}, err
	}
	if !req.Confirm {
		return api.EventResults{}, invoke.Invalid("confirm", "discarding cannot be undone: confirm must be true")
	}
	if err := invoke.ByAlias(ctx); err != nil {
		return api.EventResults{}, err
	}
	// Sweep invalid events as well: those that would be rejected again are the very ones that operators discard.
	return n.answer(ctx, call, ids, jobs.Sweep{
		Invalid: true,
		Do: func(ctx context.Context, events []rejected.Event) []jobs.Outcome {
			return n.publisher.discard(ctx, call, job.Job{}, events)
		},
	})
}

// answer does a sweep's act on the events with these ids, and returns a result for each id. If a fault ends the sweep,
// it returns the results so far, and the log has the fault.
func (n namedEvents) answer(
	ctx context.Context, call *invoke.Call, ids []string, s jobs.Sweep,
) (api.EventResults, error) {
	s.Selects = func(e rejected.Event) bool { return slices.Contains(ids, e.MessageID) }
	s.Most = maxIDs
	all, complete, err := n.events.Look(ctx, s)
	answer := api.EventResults{Data: []api.EventResult{}, Complete: complete}
	found := map[string]bool{}
	for _, o := range all {
		if o.Result != "" {
			found[o.MessageID] = true
			answer.Data = append(answer.Data, api.EventResult{
				MessageID: o.MessageID, EventID: o.EventID, Result: o.Result, Reason: o.Reason,
			})
		}
	}
	if err != nil && len(answer.Data) == 0 {
		return api.EventResults{}, err
	}
	if err != nil {
		n.log.ErrorContext(ctx, "the sweep of rejected events broke off", telemetry.Cause(err))
	}
	// An id that was not met is unknown only where the whole queue was searched.
	missing := api.ResultNotStarted
	if complete {
		missing = api.ResultNotFound
	}
	for _, id := range ids {
		if !found[id] {
			answer.Data = append(answer.Data, api.EventResult{MessageID: id, Result: missing})
		}
	}
	counts := countResults(answer.Data, func(r api.EventResult) api.Result { return r.Result })
	call.Note(slog.Int(telemetry.KeyCount, len(answer.Data)), slog.Any("results", counts))
	return answer, nil
}
