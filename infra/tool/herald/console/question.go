package console

import (
	"fmt"
	"strconv"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// question is asked before an act on many: exact counts, refusals with their reasons, and how many would wait.
type question struct {
	Asks     string
	Label    string // of the button
	Count    int    // that can be done
	More     bool   // there was no time to count all
	Typed    bool   // the count has to be typed: this cannot be undone
	Lists    []parts.Section
	Warnings []string
	Hidden   []parts.Field
	Function api.Function
}

// idPages are the pages of ids in a question. Opening a dead letter is logged, so its delivery is shown instead.
var idPages = map[string]string{"delivery_id": "/delivery"}

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
