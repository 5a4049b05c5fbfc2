package console

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/herald-webhooks/herald/infra/herald/next"
	"github.com/herald-webhooks/herald/infra/herald/stack"
)

// question is asked before an act on many: exact counts, refusals with their reasons, and
// how many would wait.
type question struct {
	Asks     string
	Label    string // of the button
	Count    int    // that can be done
	Typed    bool   // the count has to be typed: this cannot be undone
	Lists    []section
	Warnings []string
	Hidden   []field
	Function string
}

// manyAct is an act on all of a selection, as a job, or on ids.
type manyAct struct {
	asks    string // with a verb for the number
	of      string // its object
	fields  []string
	id      string // the field of one id
	byID    string // the action on ids
	deletes bool   // for good
}

// manyActs are the acts that are asked about first.
var manyActs = map[string]manyAct{
	"replay": {"Replay %s", "dead letter", filterFields, "delivery_id", "deliveries", false},
	"purge":  {"Delete %s for good", "dead letter", filterFields, "delivery_id", "purge", true},
	"publish": {"Publish %s again", "rejected event", []string{"tenant_id", "reason", "since", "until"}, "message_id",
		"rejected_events", false},
	"discard": {"Delete %s for good", "rejected event", nil, "message_id", "discard_rejected_events", true},
}

// function is the operator function that does the act.
func (m manyAct) function() string {
	if m.deletes {
		return stack.Deleting
	}
	return "replay"
}

// ask puts the question about so many.
func (q question) ask(m manyAct) question {
	q.Asks = fmt.Sprintf(m.asks, next.Number(q.Count, m.of, m.of+"s")) + "?"
	q.Label = fmt.Sprintf(m.asks, strconv.Itoa(q.Count))
	return q
}

func confirm(ctx context.Context, s *Server, q url.Values) (any, error) {
	act, known := manyActs[q.Get("act")]
	if !known {
		return nil, fmt.Errorf("no such act: %q", q.Get("act"))
	}
	ask := question{Function: act.function(), Typed: act.deletes}
	ask.Hidden = []field{{"act", q.Get("act")}}
	if ids := q[act.id]; len(ids) > 0 {
		ask.Count = len(ids)
		for _, id := range ids {
			ask.Hidden = append(ask.Hidden, field{act.id, id})
		}
		return ask.ask(act), nil
	}
	if act.fields == nil {
		return nil, errors.New("no box was ticked")
	}
	v, err := s.survey(ctx, q, act)
	if err != nil {
		return nil, err
	}
	return v.question(ctx, ask)
}
