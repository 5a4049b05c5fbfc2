package replay

import (
	"bytes"
	"context"
	"log/slog"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/event"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/queue"
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

// rejectedEvents publishes rejected events again, the named ones or all. One that this
// version would reject again is refused and stays.
func (h *Handler) rejectedEvents(
	ctx context.Context, call *operator.Call, req rejectedRequest,
) (RejectedResults, error) {
	var ids []string
	if req.All == (len(req.MessageIDs) > 0) {
		return RejectedResults{}, operator.Invalid("message_ids", "give either message_ids or all")
	}
	if !req.All {
		var err error
		if ids, err = operator.IDs("message_ids", req.MessageIDs, maxIDs); err != nil {
			return RejectedResults{}, err
		}
	}
	s := &sweep{h: h, call: call, from: h.Rejected, all: req.All, most: maxIDs, each: (*sweep).publish}
	return s.answerFor(ctx, ids)
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
	s := &sweep{h: h, call: call, from: h.Rejected, most: maxIDs, each: (*sweep).discard}
	return s.answerFor(ctx, ids)
}

// sweep goes once through EventsDeadLetterQueue.
type sweep struct {
	h        *Handler
	from     Rejected
	call     *operator.Call
	all      bool
	job      *job.Job                                        // whose selection it is, nil for none
	most     int                                             // results in the answer
	each     func(*sweep, context.Context, []rejected.Event) // handles the wanted ones
	wanted   map[string]bool                                 // by message id; false once met
	returned []rejected.Event                                // to their queue, once all is received
	passed   []rejected.Event                                // likewise: unwanted ones, and ones that would be refused
	answer   RejectedResults
}

// answerFor sweeps for these message ids, or for all events where there are none.
func (s *sweep) answerFor(ctx context.Context, ids []string) (RejectedResults, error) {
	s.wanted, s.answer.Data = make(map[string]bool, len(ids)), []RejectedResult{}
	for _, id := range ids {
		s.wanted[id] = true
	}
	err := s.run(ctx)
	s.restore(ctx)
	if err != nil && len(s.answer.Data) == 0 {
		return RejectedResults{}, err
	}
	if err != nil { // the results so far are returned all the same
		s.h.Log.ErrorContext(ctx, "the sweep of rejected events broke off", telemetry.KeyError, err.Error())
	}
	for _, id := range ids {
		if s.wanted[id] {
			s.answer.Data = append(s.answer.Data, RejectedResult{MessageID: id, Result: s.missing()})
		}
	}
	s.note()
	return s.answer, nil
}

func (s *sweep) missing() string {
	if s.answer.Complete {
		return resultNotFound
	}
	return resultNotStarted
}

// run receives until the queue is empty, or time or room runs out. That each id was met is no reason to
// stop: an event that was rejected twice lies there twice under one message id.
func (s *sweep) run(ctx context.Context) error {
	for !late(ctx) && len(s.answer.Data) < s.most {
		events, err := s.from.Receive(ctx, 10)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			s.answer.Complete = true
			return nil
		}
		s.take(ctx, events)
	}
	return nil
}

// take handles the wanted events of one receive; the rest is returned.
func (s *sweep) take(ctx context.Context, events []rejected.Event) {
	var named []rejected.Event
	for _, e := range events {
		if s.wants(e) {
			s.wanted[e.MessageID] = false
			named = append(named, e)
		} else {
			s.pass(e)
		}
	}
	s.each(s, ctx, named)
}

func (s *sweep) wants(e rejected.Event) bool {
	if s.job != nil {
		return s.job.Selects(rejected.TenantOf(e), e.Reason, e.SentAt)
	}
	_, named := s.wanted[e.MessageID]
	return s.all || named
}

func (s *sweep) publish(ctx context.Context, events []rejected.Event) {
	s.send(ctx, s.accepted(events))
}

// accepted are the events that this version takes; the others are refused and returned.
func (s *sweep) accepted(events []rejected.Event) (good []rejected.Event) {
	for _, e := range events {
		if _, err := event.Decode(withID(e), e.EventID); err != nil {
			s.pass(e)
			s.end(e, resultRefused, err.Error())
			continue
		}
		good = append(good, e)
	}
	return good
}

func (s *sweep) send(ctx context.Context, events []rejected.Event) {
	if !s.audit(ctx, job.Publish, events) {
		return
	}
	messages := make([]queue.Outgoing, len(events))
	for i, e := range events {
		messages[i] = queue.Outgoing{Body: string(withID(e))}
	}
	for i, err := range s.h.Events.Send(ctx, messages) {
		s.sent(ctx, events[i], err)
	}
}

func (s *sweep) discard(ctx context.Context, events []rejected.Event) {
	if !s.audit(ctx, "discard_rejected", events) {
		return
	}
	finish, cancel := finishing(ctx)
	defer cancel()
	for _, e := range events {
		if err := s.h.Rejected.Delete(finish, e); err != nil {
			s.failed(ctx, e, reasonInternal, err)
			continue
		}
		s.end(e, resultDiscarded, "")
	}
}

// sent deletes an event that is on EventsQueue again. One that cannot be deleted is on both
// queues: publishing it twice gives the same delivery ids.
func (s *sweep) sent(ctx context.Context, e rejected.Event, err error) {
	if err != nil {
		s.failed(ctx, e, reasonNotSent, err)
		return
	}
	finish, cancel := finishing(ctx)
	defer cancel()
	s.end(e, resultReplayed, "")
	if err := s.h.Rejected.Delete(finish, e); err != nil {
		s.report(ctx, e, err)
	}
}

// failed is the end of an event that stays.
func (s *sweep) failed(ctx context.Context, e rejected.Event, reason string, err error) {
	s.giveBack(e)
	s.end(e, resultFailed, reason)
	s.report(ctx, e, err)
}

// giveBack returns an event to the queue at the end. Its body is dropped: there can be many.
func (s *sweep) giveBack(e rejected.Event) {
	e.Body = ""
	s.returned = append(s.returned, e)
}

// pass is giveBack for events that nothing can be done with.
func (s *sweep) pass(e rejected.Event) {
	e.Body = ""
	s.passed = append(s.passed, e)
}

func (s *sweep) end(e rejected.Event, result, reason string) {
	s.answer.Data = append(s.answer.Data, RejectedResult{
		MessageID: e.MessageID, EventID: e.EventID, Result: result, Reason: reason,
	})
}

func (s *sweep) report(ctx context.Context, e rejected.Event, err error) {
	s.h.Log.ErrorContext(ctx, "rejected event fault",
		telemetry.KeyMessage, e.MessageID, telemetry.KeyEvent, e.EventID, telemetry.KeyError, err.Error())
}

func (s *sweep) restore(ctx context.Context) {
	finish, cancel := finishing(ctx)
	defer cancel()
	if err := s.from.Restore(finish, slices.Concat(s.returned, s.passed)); err != nil {
		s.h.Log.WarnContext(ctx, "rejected events stay hidden for a while", telemetry.KeyError, err.Error())
	}
}

func (s *sweep) note() {
	byResult := map[string]int{}
	for _, r := range s.answer.Data {
		byResult[r.Result]++
	}
	s.call.Note(slog.Int(telemetry.KeyCount, len(s.answer.Data)), slog.Any("results", byResult))
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
