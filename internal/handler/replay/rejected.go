package replay

import (
	"bytes"
	"context"
	"log/slog"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// RejectedResult is the outcome for one rejected event.
type RejectedResult struct {
	MessageID string `json:"message_id"`
	EventID   string `json:"event_id"`
	Result    string `json:"result"`
	Reason    string `json:"reason"`
}

// RejectedResults is the answer of rejected_events. Complete is false when there may be more
// on the queue: time or room ran out first.
type RejectedResults struct {
	Data     []RejectedResult `json:"data"`
	Complete bool             `json:"complete"`
}

type rejectedRequest struct {
	MessageIDs []string `json:"message_ids"`
	All        bool     `json:"all"`
}

// rejectedEvents publishes the named rejected events again. One that this version would reject again is refused, and
// stays. All of them are a job's.
func (h *Handler) rejectedEvents(
	ctx context.Context, call *operator.Call, req rejectedRequest,
) (RejectedResults, error) {
	if req.All {
		return RejectedResults{}, jobInstead("all", jobRequested{Act: job.Publish})
	}
	ids, err := operator.IDs("message_ids", req.MessageIDs, maxIDs)
	if err != nil {
		return RejectedResults{}, err
	}
	s := &sweep{h: h, call: call, ids: ids}
	s.act = s.send
	return s.answer(ctx)
}

type discardRequest struct {
	MessageIDs []string `json:"message_ids"`
	Confirm    bool     `json:"confirm"`
}

// discardRejectedEvents deletes the named rejected events for good.
func (h *Handler) discardRejectedEvents(
	ctx context.Context, call *operator.Call, req discardRequest,
) (RejectedResults, error) {
	ids, err := operator.IDs("message_ids", req.MessageIDs, maxIDs)
	if err != nil {
		return RejectedResults{}, err
	}
	if !req.Confirm {
		return RejectedResults{}, operator.Invalid("confirm", "discarding cannot be undone: confirm must be true")
	}
	if err := byAlias(ctx); err != nil {
		return RejectedResults{}, err
	}
	s := &sweep{h: h, call: call, ids: ids, invalid: true}
	s.act = s.discard
	return s.answer(ctx)
}

// answer sweeps, and has a result for each of the message ids.
func (s *sweep) answer(ctx context.Context) (RejectedResults, error) {
	all, complete, err := s.run(ctx, rejected.Briefly)
	s.restore(ctx, all)
	answer := RejectedResults{Data: []RejectedResult{}, Complete: complete}
	found := map[string]bool{}
	for _, m := range all {
		if m.result != "" {
			found[m.MessageID] = true
			answer.Data = append(answer.Data, RejectedResult{m.MessageID, m.EventID, m.result, m.reason})
		}
	}
	if err != nil && len(answer.Data) == 0 {
		return RejectedResults{}, err
	}
	if err != nil { // the results so far are returned all the same
		s.h.Log.ErrorContext(ctx, "the sweep of rejected events broke off", telemetry.Cause(err))
	}
	missing := resultNotStarted
	if complete {
		missing = resultNotFound
	}
	for _, id := range s.ids {
		if !found[id] {
			answer.Data = append(answer.Data, RejectedResult{MessageID: id, Result: missing})
		}
	}
	counts := byResult(answer.Data, func(r RejectedResult) string { return r.Result })
	s.call.Note(slog.Int(telemetry.KeyCount, len(answer.Data)), counts)
	return answer, nil
}

// withID gives an event without an id the one it was first seen under. Publishing makes a new
// SQS message, whose id would otherwise serve: the same event would fan out again under other
// delivery ids, and a receiver could not tell. Nothing else of the body changes.
func withID(e rejected.Event) []byte {
	body := []byte(e.Body)
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(body, &fields); err != nil || len(fields) == 0 || fields["id"] != nil {
		return body
	}
	id, err := json.Marshal(e.EventID)
	if err != nil {
		return body
	}
	open := bytes.IndexByte(body, '{') + 1
	return slices.Concat(body[:open], []byte(`"id":`), id, []byte(","), body[open:])
}
