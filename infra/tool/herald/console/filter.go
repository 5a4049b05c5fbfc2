package console

import (
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// events is the selection of rejected events that an address or a form has. Times that select nothing in any case are
// refused.
func (s *Server) events(q url.Values) (api.Selector, error) {
	since, err := s.time(q, "since")
	if err != nil {
		return api.Selector{}, err
	}
	until, err := s.time(q, "until")
	if err != nil {
		return api.Selector{}, err
	}
	switch {
	case since.After(s.Now()):
		return api.Selector{}, exit.With(exit.Usage,
			"since %s is in the future: times are in UTC", answers.Shown(since))
	case !since.IsZero() && !until.IsZero() && !until.After(since):
		return api.Selector{}, exit.With(exit.Usage,
			"until %s is not after since %s: times are in UTC", answers.Shown(until), answers.Shown(since))
	}
	return api.Selector{TenantID: q.Get("tenant_id"), Reason: q.Get("reason"), Since: since, Until: until}, nil
}

// time is a time of an address, zero where there is none. It may be written as the tool takes it: 2h, 22:00. An exact
// time may have milliseconds, as the end of a job's selection has.
func (s *Server) time(q url.Values, name string) (time.Time, error) {
	written := q.Get(name)
	if written == "" {
		return time.Time{}, nil
	}
	if exact, err := time.Parse(time.RFC3339, written); err == nil {
		return exact, nil
	}
	at, err := usage.ParseTime(name, written, s.Now().UTC())
	return at.UTC().Truncate(time.Second), err
}

// letters is the selection of dead letters that an address or a form has. Without a status, it is of those that are
// dead: a job has the same default, and a list has what its buttons would select.
func (s *Server) letters(q url.Values) (api.Selector, error) {
	of, err := s.events(q)
	of.EndpointID, of.Status = q.Get("endpoint_id"), q.Get("status")
	if of.Status == "" {
		of.Status = string(deadletter.Dead)
	}
	return of, err
}

// selectionFields are the fields of a form that has the selection, without its endpoint: events and letters read them.
func selectionFields(of api.Selector) (fields []parts.Field) {
	add := func(name, value string) {
		if value != "" {
			fields = append(fields, parts.Field{Name: name, Value: value})
		}
	}
	add("tenant_id", of.TenantID)
	add("reason", of.Reason)
	add("status", of.Status)
	add("since", exactly(of.Since))
	add("until", exactly(of.Until))
	return fields
}

// exactly is a time in a form, empty where there is none.
func exactly(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}
