package console

import (
	"fmt"
	"maps"
	"net/url"
	"strconv"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// question is asked before an act on many: exact counts, refusals with their reasons, and how many would wait.
type question struct {
	Asks     string
	Label    string // of the button
	Count    int    // that can be done
	More     bool   // there was no time to count all
	Typed    bool   // the count has to be typed: this cannot be undone
	Fault    string // of what was typed
	Lists    []parts.Section
	Warnings []string
	Hidden   []parts.Field
	Function api.Function
}

// filterOf is the filter of the page on which a question was asked: the question's fields without its own.
func filterOf(q url.Values) url.Values {
	q = maps.Clone(q)
	for _, name := range []string{"act", ticked, "count", typed, "token", "done", "message_id", "delivery_id"} {
		q.Del(name)
	}
	return q
}

// askedOn is the page that a question is asked on, "" for any other path and for an act that is not known.
func askedOn(path string, q url.Values) string {
	if path != "/confirm" {
		return ""
	}
	switch act := q.Get("act"); act {
	case next.Replay, next.Purge:
		return "/dead"
	case string(job.Publish), string(job.Discard):
		return "/rejected"
	case next.Release:
		return "/endpoint"
	case next.ResumeTenant:
		if q.Get("endpoint_id") == "" {
			return "/tenant"
		}
		return "/endpoint"
	case revokeKeys, compromised:
		return "/tenant"
	case parts.ResumeJob:
		return "/job"
	}
	return ""
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
