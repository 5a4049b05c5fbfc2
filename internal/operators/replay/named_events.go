package replay

import (
	"context"
	"log/slog"
	"slices"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// RejectedResult is the outcome for one rejected event.
type RejectedResult struct {
	MessageID string `json:"message_id"`
	EventID   string `json:"event_id"`
	Result    string `json:"result"`
	Reason    string `json:"reason"`
}

// RejectedResults is the answer of the actions that take message ids.
type RejectedResults struct {
	Data []RejectedResult `json:"data"`

	// False where time or room ran out: there may be more on the queue.
	Complete bool `json:"complete"`
}

type rejectedRequest struct {
	MessageIDs []string `json:"message_ids"`
}

type discardRequest struct {
	MessageIDs []string `json:"message_ids"`

	// Must be true: discarding cannot be undone.
	Confirm bool `json:"confirm"`
}

// namedEvents acts on the rejected events that a request names.
type namedEvents struct {
	events    eventQueue
	publisher publisher
	log       *slog.Logger
}

// publish publishes the named events again. One that this version would reject again is refused, and stays. To publish
// all of them is a job's act.
func (n namedEvents) publish(
	ctx context.Context, call *invoke.Call, req rejectedRequest,
) (RejectedResults, error) {
	ids, err := invoke.IDs("message_ids", req.MessageIDs, maxIDs)
	if err != nil {
		return RejectedResults{}, err
	}
	return n.answer(ctx, call, ids, sweep{act: func(ctx context.Context, events []rejected.Event) []outcome {
		return n.publisher.publish(ctx, call, job.Job{}, events)
	}})
}

// discard deletes the named events for good.
func (n namedEvents) discard(
	ctx context.Context, call *invoke.Call, req discardRequest,
) (RejectedResults, error) {
	ids, err := invoke.IDs("message_ids", req.MessageIDs, maxIDs)
	if err != nil {
		return RejectedResults{}, err
	}
	if !req.Confirm {
		return RejectedResults{}, invoke.Invalid("confirm", "discarding cannot be undone: confirm must be true")
	}
	if err := byAlias(ctx); err != nil {
		return RejectedResults{}, err
	}
	// Operators discard just the events that would be rejected again.
	return n.answer(ctx, call, ids, sweep{
		invalid: true,
		act: func(ctx context.Context, events []rejected.Event) []outcome {
			return n.publisher.discard(ctx, call, events)
		},
	})
}

// answer does a sweep's act on the events with these ids, and has a result for each id. Results before a fault are
// answered; the fault is in the log.
func (n namedEvents) answer(
	ctx context.Context, call *invoke.Call, ids []string, s sweep,
) (RejectedResults, error) {
	s.selects = func(e rejected.Event) bool { return slices.Contains(ids, e.MessageID) }
	s.most = maxIDs
	all, complete, err := n.events.look(ctx, s)
	answer := RejectedResults{Data: []RejectedResult{}, Complete: complete}
	found := map[string]bool{}
	for _, o := range all {
		if o.result != "" {
			found[o.MessageID] = true
			answer.Data = append(answer.Data, RejectedResult{o.MessageID, o.EventID, o.result, o.reason})
		}
	}
	if err != nil && len(answer.Data) == 0 {
		return RejectedResults{}, err
	}
	if err != nil {
		n.log.ErrorContext(ctx, "the sweep of rejected events broke off", telemetry.Cause(err))
	}
	// An id that was not met is unknown only where the whole queue was searched.
	missing := resultNotStarted
	if complete {
		missing = resultNotFound
	}
	for _, id := range ids {
		if !found[id] {
			answer.Data = append(answer.Data, RejectedResult{MessageID: id, Result: missing})
		}
	}
	counts := countResults(answer.Data, func(r RejectedResult) string { return r.Result })
	call.Note(slog.Int(telemetry.KeyCount, len(answer.Data)), slog.Any("results", counts))
	return answer, nil
}
