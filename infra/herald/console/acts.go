package console

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/herald-webhooks/herald/infra/herald/answers"
	"github.com/herald-webhooks/herald/infra/herald/stack"
)

// act does a form's act, and returns its result and the page to go on with.
type act func(ctx context.Context, s *Server, form url.Values) (done, back string, err error)

// acts are the forms' actions.
func (s *Server) acts() map[string]act {
	acts := map[string]act{
		"/start":   start,
		"/replay":  ticked("deliveries", "delivery_id", "/dead?status=dead"),
		"/publish": ticked("rejected_events", "message_id", "/rejected"),
	}
	for action := range controls {
		acts["/control/"+action] = control(action)
	}
	for _, action := range []string{"stop", "resume"} {
		acts["/job/"+action] = jobAct(action)
	}
	return acts
}

func control(action string) act {
	return func(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
		f := pick(form, "tenant_id", "endpoint_id")
		answer, err := s.Stack.Ask(ctx, "control", action, f)
		if action == "test" {
			return controls[action].Done, link("/delivery", "delivery_id", answer["delivery_id"]), err
		}
		return controls[action].Done, link("/endpoint", "tenant_id", f["tenant_id"], "endpoint_id", f["endpoint_id"]), err
	}
}

// ticked makes replay act on the ticked rows.
func ticked(action, id, back string) act {
	return func(ctx context.Context, s *Server, form url.Values) (string, string, error) {
		if len(form[id]) == 0 {
			return "", "", errors.New("no box was ticked")
		}
		results, err := s.Stack.Ask(ctx, "replay", action, answers.Row{id + "s": form[id]})
		return counted(answers.Rows(results)), back, err
	}
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
	return answers.Reasons(counts)
}

// start counts the filter's selection, and starts a job on it once the count was confirmed.
func start(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	f, token := stack.OrDead(pick(form, filterFields...)), form.Get("token")
	f["act"], f["token"] = "replay", token
	if token == "" {
		f["token"], f["dry_run"] = rand.Text(), true
	}
	answer, err := s.Stack.Ask(ctx, "replay", "start_job", f)
	if err != nil {
		return "", "", err
	}
	if id := answers.At(answer, "job.job_id"); token != "" && id != nil {
		return "started", link("/job", "job_id", id), nil
	}
	f["until"] = answer["until"] // the same selection, without later deaths
	query := []any{"token", f["token"], "ready", answer["ready"]}
	for _, name := range filterFields {
		query = append(query, name, f[name])
	}
	done = answers.Plain(answer["selected"]) + " selected, " + answers.Plain(answer["ready"]) + " can be replayed"
	if refused := answers.Reasons(answer["refused"]); refused != "" {
		done += "; cannot: " + refused
	}
	return done, link("/dead", query...), nil
}

func jobAct(action string) act {
	return func(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
		id := form.Get("job_id")
		if action == "resume" {
			_, err = stack.Resume(ctx, s.Stack, answers.Row{"job_id": id})
		} else {
			_, err = s.Stack.Ask(ctx, "replay", action+"_job", answers.Row{"job_id": id})
		}
		return action, link("/job", "job_id", id), err
	}
}

// maxForm bounds a form in bytes: a thousand ids fit.
const maxForm = 1 << 18

// do carries out an act and leads back to a page.
func (s *Server) do(a act) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			http.Error(w, "the form cannot be read", http.StatusBadRequest)
			return
		}
		done, back, err := a(r.Context(), s, r.PostForm)
		if err != nil {
			s.render(w, r, model{Title: "Not done", Page: "problem", Stack: s.Name, Operator: s.Operator, Path: "/"}, err)
			return
		}
		to, _ := url.Parse(s.base + back) // made above
		q := to.Query()
		q.Set("done", done)
		to.RawQuery = q.Encode()
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
	}
}
