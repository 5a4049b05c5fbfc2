package inspect

import (
	"context"
	"errors"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// find says whether an event is among the rejected ones. It shows no body, so nothing is audited. That a job publishes
// is a result and no refusal: who asks where an event is has other answers beside this one.
func (v rejectedView) find(
	ctx context.Context, call *invoke.Call, selector job.Selector, limit int,
) (api.RejectedList, error) {
	call.Note(slog.String(telemetry.KeyEvent, selector.EventID))
	err := invoke.RefuseWhilePublishing(ctx, v.jobs)
	if refused, is := errors.AsType[*api.Refusal](err); is && refused.Code == api.CodePublishing {
		return api.RejectedList{Result: api.ResultPublishing, Note: refused.Message}, nil
	}
	if err != nil {
		return api.RejectedList{}, err
	}
	found, list, err := v.search(ctx, selector, limit)
	if err != nil {
		return api.RejectedList{}, err
	}
	call.Note(slog.Int(telemetry.KeyCount, len(found)))
	for _, e := range found {
		list.Data = append(list.Data, showPlace(e))
	}
	return list, nil
}

// search looks through the queue, and says in a list without rows how far it got.
func (v rejectedView) search(
	ctx context.Context, selector job.Selector, limit int,
) (found []rejected.Event, list api.RejectedList, err error) {
	found, received, all, err := v.look(ctx, selector, limit)
	defer v.restore(ctx, received)
	list = api.RejectedList{Result: api.ResultFound, Searched: len(received)}
	switch {
	case err != nil, len(found) > 0:
		return found, list, err
	case !all:
		list.Result, list.Note = api.ResultPart, noteSearchedPart
		return nil, list, nil
	}
	hidden, err := v.hidden(ctx, len(received))
	list.Result = api.ResultNotFound
	if hidden {
		list.Result, list.Note = api.ResultPart, noteHidden
	}
	return nil, list, err
}

const noteHidden = "a request or a job hides a part of the rejected events, for 15 minutes at most: ask again"

// hidden reports whether more events are hidden than this request has received. Another request hides those for a
// minute at most, a job for [job.HideFor].
func (v rejectedView) hidden(ctx context.Context, received int) (bool, error) {
	d, err := v.meter.depth(ctx, v.meter.urls[eventsDeadLetterQueue])
	return d.InFlight > received, err
}

// chosenBy is the choice of events by a request. With an event's id, an event that names no tenant is chosen, too: it
// may have been rejected for that.
func chosenBy(s job.Selector) func(rejected.Event) bool {
	ofAny := s
	ofAny.TenantID = ""
	return func(e rejected.Event) bool {
		return e.Selected(s) || s.EventID != "" && rejected.TenantOf(e) == "" && e.Selected(ofAny)
	}
}

// showPlace shows where an event lies and why, and whose it is.
func showPlace(e rejected.Event) api.RejectedEvent {
	return api.RejectedEvent{
		MessageID: e.MessageID, EventID: e.EventID, TenantID: rejected.TenantOf(e), EventType: rejected.TypeOf(e),
		Reason: e.Reason, SentAt: e.SentAt, Bytes: len(e.Body),
	}
}
