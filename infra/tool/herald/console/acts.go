package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
)

// acts are the forms' actions. Without a question they reach one thing each.
func (s *Server) acts() map[string]act {
	acts := map[string]act{"/start": start, "/replay": replayByID, "/job/stop": stopJob}
	for action := range parts.Controls {
		if _, many := namedActs[action]; !many {
			acts["/control/"+action] = control(action)
		}
	}
	return acts
}

// replayByID sends one delivery again.
func replayByID(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	if len(form["delivery_id"]) != 1 {
		return "", "", errors.New("nothing was done: this was not asked by the console's own button")
	}
	return byIDs(ctx, s, "replay", form)
}

// backs are the pages that acts on ids lead back to.
var backs = map[string]string{
	"delivery_id": "/dead?status=dead", "message_id": "/rejected",
}

func byIDs(ctx context.Context, s *Server, name string, form url.Values) (done, back string, err error) {
	act := manyActs[name]
	given := form[act.id]
	if len(given) == 0 {
		return "", "", errors.New("no box was ticked")
	}
	f := answers.Row{act.id + "s": given}
	if act.deletes {
		f["confirm"] = true
	}
	results, err := s.ask(ctx, act.function(), act.byID, f)
	back = backs[act.id]
	if len(given) == 1 && name == "replay" {
		back = parts.Link("/delivery", "delivery_id", given[0])
	}
	return counted(answers.Rows(results)), back, err
}

// counted is the number of each kind of result.
func counted(results []answers.Row) string {
	counts := answers.Row{}
	for _, r := range results {
		reason, _ := r["reason"].(string)
		name := strings.TrimSpace(fmt.Sprint(r["result"], " ", reason))
		before, _ := counts[name].(int)
		counts[name] = before + 1
	}
	return answers.ReasonsIn(counts)
}

// start answers the question. Of an act that cannot be undone, the count has to be typed.
func start(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	name := form.Get("act")
	act, many := manyActs[name]
	named, known := namedActs[name]
	if !many && !known {
		return "", "", errors.New("no such act")
	}
	typed := form.Get("typed")
	if typed != "" && typed != form.Get("count") || typed == "" && act.deletes {
		return "", "", errors.New("nothing was done: the number that was typed is not the number of the question")
	}
	if known {
		return named.do(ctx, s, form)
	}
	if len(form[act.id]) > 0 {
		return byIDs(ctx, s, name, form)
	}
	if form.Get("token") == "" || act.fields == nil {
		return "", "", errors.New("nothing was done: this was not asked by the console's own question")
	}
	return startJobs(ctx, s, name, form)
}

// startJobs starts a job on the selection of the question, and one for each of several endpoints. A token starts one
// job only, however often it comes.
func startJobs(ctx context.Context, s *Server, name string, form url.Values) (done, back string, err error) {
	act, endpoints := manyActs[name], form["endpoint_id"]
	if len(endpoints) > mostReplays {
		return "", "", errors.New("nothing was done: too many endpoints")
	}
	f := pick(form, act.fields...)
	f["act"], f["confirm"] = name, act.deletes
	var started []string
	for n := range max(1, len(endpoints)) {
		f["token"] = form.Get("token") + "-" + strconv.Itoa(n)
		if len(endpoints) > 0 {
			f["endpoint_id"] = endpoints[n]
		}
		answer, err := s.ask(ctx, act.function(), "start_job", f)
		if err != nil && len(started) > 0 {
			return "", "", fmt.Errorf("%s started, then: %w", next.Number(len(started), "job was", "jobs were"), err)
		}
		if err != nil {
			return "", "", err
		}
		id := answers.Shown(answers.At(answer, "job.job_id"))
		started = append(started, id)
	}
	if len(started) == 1 {
		return "started", parts.Link("/job", "job_id", started[0]), nil
	}
	return next.Number(len(started), "job was", "jobs were") + " started", "/jobs?", nil
}

func stopJob(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	id := form.Get("job_id")
	_, err = s.ask(ctx, "replay", "stop_job", answers.Row{"job_id": id})
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
			s.render(w, r, page{Title: "Not done", Template: "problem", Stack: s.Name, Operator: s.Operator, Path: "/"}, err)
			return
		}
		to, _ := url.Parse(s.site.Base + back) // made above
		q := to.Query()
		q.Set("done", done)
		to.RawQuery = q.Encode()
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
	}
}
