package jobs

import (
	"context"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// Outcome is a received event and its result, or "" if it was not selected.
type Outcome struct {
	rejected.Event
	Result api.Result
	Reason string
}

// gone reports whether the event has left its queue.
func (o Outcome) gone() bool {
	return o.Result == api.ResultReplayed || o.Result == api.ResultDiscarded
}

// stays reports whether the event stays on its queue however often it is met: it was not selected, or is refused.
func (o Outcome) stays() bool { return o.Result == "" || o.Result == api.ResultRefused }

// Outcomes gives events one result.
func Outcomes(result api.Result, reason string, events ...rejected.Event) (all []Outcome) {
	for _, e := range events {
		all = append(all, Outcome{e, result, reason})
	}
	return all
}

// Sweep says which events one pass through EventsDeadLetterQueue selects, and how they are treated.
type Sweep struct {
	// Which events are acted on.
	Selects func(rejected.Event) bool

	// Events that this version would reject again are acted on as well. Otherwise they are refused.
	Invalid bool

	// Do acts on events, and has an outcome for each.
	Do func(ctx context.Context, events []rejected.Event) []Outcome

	// The pass ends when it has so many results.
	Most int
}

// maxSwept bounds the results of a job's sweep: an invocation has no time for more.
const maxSwept = 100_000

// treat treats received events, and has an outcome for each.
func (s Sweep) treat(ctx context.Context, events []rejected.Event) []Outcome {
	outcomes, selected := s.split(events)
	if len(selected) > 0 {
		outcomes = append(outcomes, s.Do(ctx, selected)...)
	}
	return outcomes
}

// split tells the events to act on from the others, which have their outcome.
func (s Sweep) split(events []rejected.Event) (others []Outcome, selected []rejected.Event) {
	for _, e := range events {
		if !s.Selects(e) {
			others = append(others, Outcome{Event: e})
			continue
		}
		if s.Invalid {
			selected = append(selected, e)
			continue
		}
		if _, err := event.Decode(rejected.WithID(e), e.EventID); err != nil {
			others = append(others, Outcome{e, api.ResultRefused, err.Error()})
			continue
		}
		selected = append(selected, e)
	}
	return others, selected
}
