package console

import (
	"iter"
	"maps"
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// selector is the selection that an address or a form has, read as the command line reads it. Its endpoint may be a
// name.
func (s *Server) selector(q url.Values) (api.Selector, error) {
	return usage.Given{
		TenantID: q.Get("tenant_id"), EndpointID: q.Get("endpoint_id"), EventID: q.Get("event_id"),
		Reason: q.Get("reason"), Status: q.Get("status"), Since: q.Get("since"), Until: q.Get("until"),
		PublishedSince: q.Get("published_since"), PublishedUntil: q.Get("published_until"),
	}.Selector(s.Now())
}

// events is the selection of rejected events that an address or a form has.
func (s *Server) events(q url.Values) (api.Selector, error) {
	of, err := s.selector(q)
	return api.Selector{
		TenantID: of.TenantID, EventID: of.EventID, Reason: of.Reason, Since: of.Since, Until: of.Until,
	}, err
}

// letters is the selection of dead letters that an address or a form has. Without a status, it is of those that are
// dead: a job has the same default, and a list has what its buttons would select.
func (s *Server) letters(q url.Values) (api.Selector, error) {
	of, err := s.selector(q)
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
	add("event_id", of.EventID)
	add("reason", of.Reason)
	add("status", of.Status)
	for name, at := range timeFields(of) {
		add(name, exactly(*at))
	}
	return fields
}

// timeFields are the times of a selection, by the names of their fields.
func timeFields(of api.Selector) iter.Seq2[string, *time.Time] {
	return func(yield func(string, *time.Time) bool) {
		_ = yield("since", &of.Since) && yield("until", &of.Until) &&
			yield("published_since", &of.PublishedSince) && yield("published_until", &of.PublishedUntil)
	}
}

// fixed is an address with its times as they were understood: 22:00 is another moment tomorrow, and 2h each second.
func fixed(q url.Values, of api.Selector) url.Values {
	q = maps.Clone(q)
	for name, at := range timeFields(of) {
		if q.Get(name) != "" {
			q.Set(name, exactly(*at))
		}
	}
	return q
}

// times are the times of a selection in words, in UTC and in the zone of this machine.
func (s *Server) times(of api.Selector, when string) (words []string) {
	for _, m := range usage.TimesOf(of, when) {
		words = append(words, m.Words(s.Now().Location()))
	}
	return words
}

// exactly is a time in a form, empty where there is none.
func exactly(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}
