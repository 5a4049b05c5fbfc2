package console

import (
	"net/url"
	"strings"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// The choices of filters, the default first. An empty one is any.
var (
	endpointStates = []string{
		"", string(api.StateOpen), string(api.StateFailing), string(api.StateFlapping), string(api.StateRecovering),
		string(api.StatePaused), string(api.StateDisabled), string(api.StateHealthy), string(api.StateRated),
		string(api.StateDeleted), string(api.StateUnreadable),
	}
	letterStatuses  = []string{string(deadletter.Dead), string(deadletter.Replaying), string(deadletter.Replayed)}
	jobStates       = []string{"", string(job.Running), string(job.Stopped), string(job.Done)}
	rejectedReasons = []string{"", event.NotProcessed, strings.TrimSuffix(event.InvalidEvent, ": ")}
)

// The lists that others lead to.
const (
	deadLetters = "/dead?status=" + string(deadletter.Dead)
	runningJobs = "/jobs?state=" + string(job.Running)
)

// choices are values of a filter that one click sets.
type choices struct {
	Label  string
	Values []choice
}

type choice struct {
	Text, Link string
	On         bool
}

// choices are addresses of a page with other values of one field. The first is the default. The cursor and the last
// result are left out.
func (s *Server) choices(path string, q url.Values, label, name string, values []string) choices {
	all := choices{Label: label}
	now := q.Get(name)
	if now == "" {
		now = values[0]
	}
	for _, v := range values {
		with := url.Values{}
		for field, given := range q {
			if field != "cursor" && field != "done" && field != name {
				with[field] = given
			}
		}
		words := "any"
		if v != "" {
			with.Set(name, v)
			words = strings.ReplaceAll(v, "_", " ")
		}
		all.Values = append(all.Values, choice{words, s.site.Base + path + "?" + with.Encode(), now == v})
	}
	return all
}
