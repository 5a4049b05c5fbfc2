package console

import (
	"fmt"
	"strconv"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// question is asked before an act on many: exact counts, refusals with their reasons, and
// how many would wait.
type question struct {
	Asks     string
	Label    string // of the button
	Count    int    // that can be done
	More     bool   // there was no time to count all
	Typed    bool   // the count has to be typed: this cannot be undone
	Lists    []parts.Section
	Warnings []string
	Hidden   []parts.Field
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

// mostReplays bounds the endpoints with replays that one question is about.
const mostReplays = 5

// manyActs are the acts that are asked about first.
var manyActs = map[string]manyAct{
	"replay": {"Replay %s", "dead letter", filterFields, "delivery_id", "deliveries", false},
	"purge":  {"Delete %s for good", "dead letter", filterFields, "delivery_id", "purge", true},
	"publish": {"Publish %s again", "rejected event", []string{"tenant_id", "reason", "since", "until"}, "message_id",
		"rejected_events", false},
	"discard": {"Delete %s for good", "rejected event", nil, "message_id", "discard_rejected_events", true},
}

// idPages are the pages of ids in a question. Opening a dead letter is logged, so its delivery is shown instead.
var idPages = map[string]string{"delivery_id": "/delivery"}

// function is the operator function that does the act.
func (m manyAct) function() string {
	if m.deletes {
		return stack.Deleting
	}
	return "replay"
}

// number is the count with its noun, or alone without one. A count that is not exact says so.
func (q question) number(one, many string) string {
	written := strconv.Itoa(q.Count)
	if one != "" {
		written = next.Number(q.Count, one, many)
	}
	if q.More {
		return "more than " + written
	}
	return written
}

// ask puts the question about so many.
func (q question) ask(m manyAct) question {
	q.Asks = fmt.Sprintf(m.asks, q.number(m.of, m.of+"s")) + "?"
	q.Label = fmt.Sprintf(m.asks, q.number("", ""))
	return q
}
