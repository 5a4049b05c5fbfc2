package console

import (
	"context"
	"fmt"
	"net/url"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// namedAct is an act on one name, an endpoint's, a tenant's or a job's, that reaches many deliveries. Its question has
// their number now: the page with the button may be an hour old.
type namedAct struct {
	fields []string // that name it
	ask    func(ctx context.Context, s *Server, named answers.Row) (question, error)
	do     act
}

var namedActs = map[string]namedAct{
	next.Release:      {[]string{"tenant_id", "endpoint_id"}, askRelease, control(next.Release)},
	next.ResumeTenant: {[]string{"tenant_id"}, askTenant, control(next.ResumeTenant)},
	parts.ResumeJob:   {[]string{"job_id"}, askJob, goOn},
}

// asked is the question about a named act, with the fields of its form.
func (n namedAct) asked(ctx context.Context, s *Server, q url.Values) (any, error) {
	named := pick(q, n.fields...)
	ask, err := n.ask(ctx, s, named)
	if err != nil {
		return nil, err
	}
	ask.Hidden = []parts.Field{{Name: "act", Value: q.Get("act")}}
	for _, f := range n.fields {
		ask.Hidden = append(ask.Hidden, parts.Field{Name: f, Value: answers.Text(named, f)})
	}
	return ask, nil
}

func askRelease(ctx context.Context, s *Server, named answers.Row) (question, error) {
	e, err := s.ask(ctx, "inspect", "endpoint", named)
	if err != nil {
		return question{}, err
	}
	q := question{Function: "control", Count: int(answers.Number(e, "waiting.count"))}
	q.More = answers.At(e, "waiting.more") == true
	q.Asks = fmt.Sprintf("Send %s for %s of %s at once?",
		q.number("delivery that waits", "deliveries that wait"), parts.NameOf(e), parts.Text(e, "tenant_id"))
	q.Label = "Send " + q.number("", "")
	q.Warnings = []string{"Each uses one of its ten attempts: make sure that the receiver works. " +
		"The endpoint is " + parts.Text(e, "health.state") + "."}
	return q, nil
}

func askTenant(ctx context.Context, s *Server, named answers.Row) (question, error) {
	found, err := s.ask(ctx, "inspect", "endpoints", with(named, "limit", stack.MaxPage))
	if err != nil {
		return question{}, err
	}
	n := len(answers.Rows(found))
	q := question{Function: "control", Count: max(1, n), More: found["next_cursor"] != nil, Label: "Resume the tenant"}
	q.Asks = "Resume the tenant " + parts.Text(named, "tenant_id") + "?"
	if n > 0 {
		q.Warnings = []string{"What waits is sent to " + q.number("endpoint", "endpoints") +
			", unless one is paused itself."}
	}
	known := url.Values{"tenant_id": {"known"}}
	q.Lists = []parts.Section{{Title: "Its endpoints", List: s.site.EndpointList(known, found)}}
	return q, nil
}

// doing are the acts of jobs, and their objects.
var doing = map[string][3]string{
	"replay":  {"Replay %s", "more dead letter", "more dead letters"},
	"purge":   {"Delete %s for good", "more dead letter", "more dead letters"},
	"publish": {"Publish %s again", "more rejected event", "more rejected events"},
}

// askJob asks about the rest of a stopped job. A job whose selection was too large to be counted may have a rest beyond
// its number.
func askJob(ctx context.Context, s *Server, named answers.Row) (question, error) {
	j, err := s.ask(ctx, "inspect", "job", named)
	if err != nil {
		return question{}, err
	}
	q := question{Function: "replay", Count: int(answers.Number(j, "left"))}
	if q.Count == 0 {
		q.Count, q.More = max(1, int(answers.Number(j, "selected"))), true
	}
	if parts.Text(j, "act") == "purge" {
		q.Function, q.Typed = stack.Deleting, true
	}
	does := doing[parts.Text(j, "act")]
	q.Asks = fmt.Sprintf(does[0], q.number(does[1], does[2])) + "?"
	q.Label = fmt.Sprintf(does[0], q.number("", ""))
	q.Warnings = []string{"The job was stopped by " + parts.Text(j, "stopped_by") +
		". It selects " + parts.SelectionOf(j) + "."}
	return q, nil
}

// goOn resumes a job. One that deletes for good takes the alias, and is resumed only where the number was typed.
func goOn(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	named := pick(form, "job_id")
	if form.Get("typed") != "" {
		_, err = stack.Resume(ctx, s.Stack, form.Get("job_id"))
	} else {
		_, err = s.ask(ctx, "replay", "resume_job", named)
	}
	return "the job goes on", parts.Link("/job", "job_id", named["job_id"]), err
}
