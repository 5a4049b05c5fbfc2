package replay

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// outcome is a received event and its result, "" where it was not selected.
type outcome struct {
	rejected.Event
	result, reason string
}

// gone reports whether the event has left its queue.
func (o outcome) gone() bool { return o.result == resultReplayed || o.result == resultDiscarded }

// stays reports whether the event stays on its queue however often it is met: it was not selected, or is refused.
func (o outcome) stays() bool { return o.result == "" || o.result == resultRefused }

// outcomes gives events one result.
func outcomes(result, reason string, events ...rejected.Event) (all []outcome) {
	for _, e := range events {
		all = append(all, outcome{e, result, reason})
	}
	return all
}

// sweep says which events one pass through EventsDeadLetterQueue selects, and how they are treated.
type sweep struct {
	// Which events are acted on.
	selects func(rejected.Event) bool

	// Events that this version would reject again are acted on, too. Otherwise they are refused.
	invalid bool

	act func(context.Context, []rejected.Event) []outcome

	// How long received events stay hidden, unless they are restored before. Zero is until the invocation must end.
	hide time.Duration

	// The pass ends when it has so many results.
	most int
}

// hiding is for how long an event that is received now stays hidden.
func (s sweep) hiding(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if s.hide > 0 || !ok {
		return cmp.Or(s.hide, rejected.Briefly)
	}
	return time.Until(deadline)
}

// maxSwept bounds the results of a job's sweep: an invocation has no time for more.
const maxSwept = 100_000

// split tells the events to act on from the others, which have their outcome.
func (s sweep) split(events []rejected.Event) (others []outcome, selected []rejected.Event) {
	for _, e := range events {
		if !s.selects(e) {
			others = append(others, outcome{Event: e})
			continue
		}
		if s.invalid {
			selected = append(selected, e)
			continue
		}
		if _, err := event.Decode(withID(e), e.EventID); err != nil {
			others = append(others, outcome{e, resultRefused, err.Error()})
			continue
		}
		selected = append(selected, e)
	}
	return others, selected
}

// withID gives an event without an id the one it was first seen under. Publishing makes a new SQS message, and its id
// would serve otherwise: the same event would fan out again under other delivery ids, and a receiver could not tell.
// Nothing else of the body changes.
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

// eventQueue goes through EventsDeadLetterQueue. A queue cannot be read without hiding its messages. So received events
// are restored, or stay hidden on purpose.
type eventQueue struct {
	queue Rejected
	jobs  ListedJobs
	log   *slog.Logger
}

// look makes a pass for a request, and restores the events that the request leaves. It is refused while a job
// publishes, and hides nothing for longer than its invocation may last.
func (q eventQueue) look(ctx context.Context, s sweep) (all []outcome, complete bool, err error) {
	if err := invoke.RefuseWhilePublishing(ctx, q.jobs); err != nil {
		return nil, false, err
	}
	s.hide = 0
	all, complete, err = q.pass(ctx, s)
	q.restore(ctx, all)
	return all, complete, err
}

// pass receives until the queue is empty, or time or room runs out. Complete says that the queue was empty. That each
// id was met is no reason to stop: an event that was rejected twice lies there twice under one message id.
func (q eventQueue) pass(ctx context.Context, s sweep) (all []outcome, complete bool, err error) {
	for selected := 0; !outOfTime(ctx) && selected < s.most; {
		events, err := q.queue.Receive(ctx, 10, s.hiding(ctx))
		if err != nil || len(events) == 0 {
			return all, err == nil, err
		}
		some, good := s.split(events)
		if len(good) > 0 {
			some = append(some, s.act(ctx, good)...)
		}
		for _, o := range some {
			o.Body = "" // there can be many
			if o.result != "" {
				selected++
			}
			all = append(all, o)
		}
	}
	return all, false, nil
}

// restore returns the events that have not left their queue, so that they are not hidden any longer. It reports whether
// all of them are back.
func (q eventQueue) restore(ctx context.Context, all []outcome) bool {
	var events []rejected.Event
	for _, o := range all {
		if !o.gone() {
			events = append(events, o.Event)
		}
	}
	err := q.queue.Restore(ctx, events)
	if err != nil {
		q.log.WarnContext(ctx, "rejected events stay hidden for a while", telemetry.Cause(err))
	}
	return err == nil
}
