package console

import (
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
		TenantID: q.Get("tenant_id"), EndpointID: q.Get("endpoint_id"), Reason: q.Get("reason"), Status: q.Get("status"),
		Since: q.Get("since"), Until: q.Get("until"),
	}.Selector(s.Now().UTC())
}

// events is the selection of rejected events that an address or a form has.
func (s *Server) events(q url.Values) (api.Selector, error) {
	of, err := s.selector(q)
	return api.Selector{TenantID: of.TenantID, Reason: of.Reason, Since: of.Since, Until: of.Until}, err
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
