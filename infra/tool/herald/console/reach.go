package console

import (
	"context"
	"fmt"
	"net/url"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// namedAct is an act on one name, an endpoint's, a tenant's or a job's, that reaches many deliveries. Its question has
// their number now: the page with the button may be an hour old.
type namedAct struct {
	fields []string // of an address or a form, that name it
	ask    func(ctx context.Context, s *Server, named url.Values) (question, error)
	do     act
}

var namedActs = map[string]namedAct{
	next.Release:      {[]string{"tenant_id", "endpoint_id"}, askRelease, steer(api.Release)},
	next.ResumeTenant: {[]string{"tenant_id"}, askTenant, resumeTenant},
	parts.ResumeJob:   {[]string{"job_id"}, askJob, goOn},
	revokeKeys:        {[]string{"tenant_id"}, askRevoke, revokeAll},
	compromised:       {[]string{"tenant_id"}, askCompromised, endCompromised},
}

// asked is the question about a named act, with the fields of its form.
func (n namedAct) asked(ctx context.Context, s *Server, q url.Values) (any, error) {
	question, err := n.ask(ctx, s, q)
	if err != nil {
		return nil, err
	}
	question.Hidden = []parts.Field{{Name: "act", Value: q.Get("act")}}
	for _, f := range n.fields {
		question.Hidden = append(question.Hidden, parts.Field{Name: f, Value: q.Get(f)})
	}
	return question, nil
}

func askRelease(ctx context.Context, s *Server, named url.Values) (question, error) {
	at := target(named)
	e, err := ask(ctx, s, api.GetEndpoint, api.EndpointRequest{EndpointID: at.EndpointID, TenantID: at.TenantID})
	if err != nil {
		return question{}, err
	}
	q := question{Function: api.Control, Count: e.Waiting.Count, More: e.Waiting.More}
	q.Asks = fmt.Sprintf("Send %s for %s of %s at once?",
		q.number("delivery that waits", "deliveries that wait"), parts.Named(e).Name(), answers.Shown(e.TenantID))
	q.Label = "Send " + q.number("", "")
	q.Warnings = []string{"Each uses one of its ten attempts: make sure that the receiver works. " +
		"The endpoint is " + answers.Shown(e.Health.State) + "."}
	return q, nil
}

func askTenant(ctx context.Context, s *Server, named url.Values) (question, error) {
	id := named.Get("tenant_id")
	of := api.EndpointsRequest{Page: api.Page{Limit: new(stack.MaxPage)}, TenantID: id}
	found, err := ask(ctx, s, api.ListEndpoints, of)
	if err != nil {
		return question{}, err
	}
	n := len(found.Data)
	q := question{Function: api.Control, Count: max(1, n), More: found.NextCursor != nil, Label: "Resume the tenant"}
	q.Asks = "Resume the tenant " + answers.Shown(id) + "?"
	if n > 0 {
		q.Warnings = []string{"What waits is sent to " + q.number("endpoint", "endpoints") +
			", unless one is paused itself."}
	}
	known := url.Values{"tenant_id": {"known"}}
	q.Lists = []parts.Section{{Title: "Its endpoints", List: s.site.EndpointList(known, found.Data)}}
	return q, nil
}

// askJob asks about the rest of a stopped job. A job whose selection was too large to be counted may have a rest beyond
// its number.
func askJob(ctx context.Context, s *Server, named url.Values) (question, error) {
	j, err := ask(ctx, s, api.GetJob, api.JobRequest{JobID: named.Get("job_id")})
	if err != nil {
		return question{}, err
	}
	act := manyActs[string(j.Act)]
	q := question{Function: act.function(), Typed: act.deletes, Count: j.Left}
	if q.Count == 0 {
		q.Count, q.More = max(1, j.Selected), true
	}
	q.Asks = fmt.Sprintf(act.asks, q.number("more "+act.of, "more "+act.of+"s")) + "?"
	q.Label = fmt.Sprintf(act.asks, q.number("", ""))
	q.Warnings = []string{"The job was stopped by " + answers.Shown(j.StoppedBy) +
		". It selects " + parts.SelectionOf(j) + "."}
	return q, nil
}

// goOn resumes a job. A job that deletes for good is resumed through the alias, and only if the operator has typed the
// number.
func goOn(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	id := form.Get("job_id")
	if form.Get("typed") != "" {
		_, err = stack.Resume(ctx, s.Stack, id)
	} else {
		_, err = ask(ctx, s, api.ResumeJob, api.JobRequest{JobID: id})
	}
	return "the job goes on", parts.Link("/job", "job_id", id), err
}
