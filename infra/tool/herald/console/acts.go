package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// acts are the forms' actions. Without a question they reach one thing each.
func (s *Server) acts() map[string]act {
	acts := map[string]act{
		"/start": start, "/job/stop": stopJob, "/control/" + next.Test: sendTest,
		"/tail/start": startTail, "/tail/stop": stopTail, "/chart/draw": drawChart,
	}
	maps.Copy(acts, tenantActs())
	for _, action := range steering {
		if _, many := namedActs[action.Name]; !many {
			acts["/control/"+action.Name] = steer(action)
		}
	}
	return acts
}

// byIDs acts on ids, and leads back to the list that they are from.
func byIDs(ctx context.Context, s *Server, name string, form url.Values) (done, back string, err error) {
	act := manyActs[name]
	ids := form[act.id]
	done, err = act.byIDs(ctx, s, ids)
	back = askedOn("/confirm", form) + "?" + filterOf(form).Encode()
	if len(ids) == 1 && name == next.Replay {
		back = parts.Link("/delivery", "delivery_id", ids[0])
	}
	return done, back, err
}

// start answers the question. Of an act that cannot be undone, the count has to be typed.
func start(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	name := form.Get("act")
	act, many := manyActs[name]
	named, known := namedActs[name]
	if !many && !known {
		return "", "", errors.New("no such act")
	}
	number := form.Get(typed)
	if number != "" && number != form.Get("count") || number == "" && act.deletes {
		return "", "", &usage.Fault{Field: typed, Text: "nothing was done: that is not the number in the question"}
	}
	if known {
		return named.do(ctx, s, form)
	}
	if len(form[act.id]) > 0 {
		return byIDs(ctx, s, name, form)
	}
	if form.Get("token") == "" {
		return "", "", errors.New("nothing was done: the console itself did not ask this")
	}
	return startJobs(ctx, s, name, form)
}

// startJobs starts a job on the selection of the question, or a job for each endpoint where endpoints were ticked. A
// form that is sent twice has the same token, and starts nothing twice.
func startJobs(ctx context.Context, s *Server, name string, form url.Values) (done, back string, err error) {
	act, endpoints := manyActs[name], form["endpoint_id"]
	back = askedOn("/confirm", form) + "?" + filterOf(form).Encode()
	if len(endpoints) > mostReplays {
		return "", back, errors.New("nothing was done: too many endpoints")
	}
	of, err := act.selection(s, form)
	if err != nil {
		return "", back, err
	}
	request := api.StartJobRequest{Selector: of, Act: job.Act(name), Confirm: act.deletes}
	var started []string
	for n := range max(1, len(endpoints)) {
		request.Token = form.Get("token") + "-" + strconv.Itoa(n)
		if len(endpoints) > 0 {
			request.EndpointID = endpoints[n]
		}
		answer, err := ask(ctx, s, act.startJob(), request)
		if err != nil && len(started) > 0 {
			return "", back, fmt.Errorf("%s started, then: %w", next.Number(len(started), "job was", "jobs were"), err)
		}
		if err != nil {
			return "", back, err
		}
		if answer.Job == nil {
			return "", "/jobs", errors.New("the stack did not say which job it started: see the running jobs")
		}
		started = append(started, answer.Job.JobID)
	}
	if len(started) == 1 {
		return "started", parts.Link("/job", "job_id", started[0]), nil
	}
	return next.Number(len(started), "job was", "jobs were") + " started", "/jobs?", nil
}

func stopJob(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	id := form.Get("job_id")
	_, err = ask(ctx, s, api.StopJob, api.JobRequest{JobID: id})
	return "stopped", parts.Link("/job", "job_id", id), err
}

// maxForm bounds a form in bytes: a thousand ids fit.
const maxForm = 1 << 18

// perform carries out an act and leads back to a page.
func (s *Server) perform(a act) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			http.Error(w, "the form cannot be read", http.StatusBadRequest)
			return
		}
		done, back, err := a(r.Context(), s, r.PostForm)
		if err != nil {
			s.render(w, r, s.notDone(r.Context(), back, r.PostForm, err))
			return
		}
		to, _ := url.Parse(s.site.Base + back) // made above
		q := to.Query()
		q.Set("done", done)
		to.RawQuery = q.Encode()
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
	}
}

// notDone is the page with the button, or the question, of an act that was not done. It says why.
func (s *Server) notDone(ctx context.Context, back string, form url.Values, err error) page {
	if fault, is := errors.AsType[*usage.Fault](err); is && fault.Field == typed {
		p, asking := s.read(ctx, "/confirm", s.views()["/confirm"], asked(form))
		if question, is := p.Data.(question); is && asking == nil {
			question.Fault = fault.Text
			p.Data, p.status = question, http.StatusBadRequest
			return p
		}
	}
	to, _ := url.Parse(back) // made by the act
	if v, known := s.views()[to.Path]; known {
		return s.fault(ctx, to.Path, v, to.Query(), err)
	}
	p := page{Title: "Not done", Template: "problem", Stack: s.Name, Operator: s.Operator, Path: "/"}
	p.fail(err)
	return p
}

// typed is the field of a question with the number.
const typed = "typed"

// asked is the address of the question that a form answers.
func asked(form url.Values) url.Values {
	q := maps.Clone(form)
	for _, name := range []string{typed, "count", "token"} {
		q.Del(name)
	}
	return q
}
