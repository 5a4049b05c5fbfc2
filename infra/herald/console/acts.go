package console

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// act does what a form asks for, and says what was done and where to go on.
type act func(ctx context.Context, s *Server, form url.Values) (done, back string, err error)

// acts are the forms' actions.
func (s *Server) acts() map[string]act {
	acts := map[string]act{"/replay": replay, "/start": start, "/publish": publish}
	for action := range controls {
		acts["/control/"+action] = control(action)
	}
	for action := range jobActions {
		acts["/job/"+action] = jobAct(action)
	}
	return acts
}

// controls are the actions of control that have a button. Throwing away is left to the command line.
var controls = map[string]string{
	"pause": "paused", "resume": "resumed", "release": "releasing", "test": "a test was sent",
}

func control(action string) act {
	return func(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
		f := pick(form, "tenant_id", "endpoint_id")
		if action == "pause" {
			f["reason"] = form.Get("reason")
		}
		var answer row
		err = s.Stack.Ask(ctx, "control", action, f, &answer)
		if action == "test" {
			return controls[action], link("/delivery", "delivery_id", answer["delivery_id"]), err
		}
		return controls[action], "/endpoint?" + idQuery(f), err
	}
}

func idQuery(f row) string {
	q := url.Values{}
	for name, v := range f {
		if name != "reason" {
			q.Set(name, fmt.Sprint(v))
		}
	}
	return q.Encode()
}

// replay sends the letters again whose boxes are ticked.
func replay(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	ids := form["delivery_id"]
	if len(ids) == 0 {
		return "", "", fmt.Errorf("no dead letter was chosen")
	}
	var results list
	err = s.Stack.Ask(ctx, "replay", "deliveries", row{"delivery_ids": ids}, &results)
	return counted(results), "/dead?status=dead", err
}

// counted says how many there were of each result.
func counted(results list) string {
	counts, order := map[string]int{}, []string{}
	for _, r := range results.Data {
		name := strings.TrimSpace(fmt.Sprint(r["result"], " ", orEmpty(r["reason"])))
		if counts[name]++; counts[name] == 1 {
			order = append(order, name)
		}
	}
	for n, name := range order {
		order[n] = fmt.Sprint(counts[name], " ", name)
	}
	return strings.Join(order, ", ")
}

func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// filterFields select dead letters.
var filterFields = []string{"tenant_id", "endpoint_id", "reason", "status", "since", "until"}

func filter(form url.Values) url.Values {
	q := url.Values{}
	for name, v := range pick(form, filterFields...) {
		q.Set(name, fmt.Sprint(v))
	}
	return q
}

// start counts what the filter selects, and starts a job on it once the count was confirmed.
func start(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	f := pick(form, filterFields...)
	if f["tenant_id"] == nil && f["endpoint_id"] == nil && f["status"] == nil {
		f["status"] = "dead"
	}
	f["act"] = "replay"
	var answer struct {
		Selected int            `json:"selected"`
		Ready    int            `json:"ready"`
		Refused  map[string]int `json:"refused"`
		Until    string         `json:"until"`
		Job      *struct {
			ID string `json:"job_id"`
		} `json:"job"`
	}
	confirmed := form.Get("token") != ""
	if f["token"] = form.Get("token"); !confirmed {
		f["token"], f["dry_run"] = rand.Text(), true
	}
	if err := s.Stack.Ask(ctx, "replay", "start_job", f, &answer); err != nil {
		return "", "", err
	}
	if confirmed && answer.Job != nil {
		return "started", "/job?job_id=" + url.QueryEscape(answer.Job.ID), nil
	}
	q := filter(form)
	q.Set("token", fmt.Sprint(f["token"]))
	q.Set("ready", fmt.Sprint(answer.Ready))
	q.Set("until", answer.Until) // what was counted, and nothing that died since
	var refused []string
	for reason, n := range answer.Refused {
		refused = append(refused, fmt.Sprint(n, " ", reason))
	}
	return fmt.Sprintf("%d selected, %d can be replayed; cannot: %s", answer.Selected, answer.Ready,
		orNone(strings.Join(refused, ", "))), "/dead?" + q.Encode(), nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// publish sends the rejected events again whose boxes are ticked.
func publish(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	ids := form["message_id"]
	if len(ids) == 0 {
		return "", "", fmt.Errorf("no event was chosen")
	}
	var results list
	err = s.Stack.Ask(ctx, "replay", "rejected_events", row{"message_ids": ids}, &results)
	return counted(results), "/rejected", err
}

// jobActions are the actions of replay on a job.
var jobActions = map[string]string{"stop": "stop_job", "resume": "resume_job"}

func jobAct(action string) act {
	return func(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
		id := pick(form, "job_id")
		return action, "/job?" + idQuery(id), s.Stack.Ask(ctx, "replay", jobActions[action], id, nil)
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
			if errors.Is(err, ErrDenied) {
				s.rights.forget()
			}
			s.render(w, r, model{Title: "Not done", Page: "problem", Stack: s.Name, Operator: s.Operator, Path: "/"}, err)
			return
		}
		to, _ := url.Parse(back) // made above
		q := to.Query()
		q.Set("done", done)
		to.RawQuery = q.Encode()
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
	}
}
