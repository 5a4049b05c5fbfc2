package console

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"

	"github.com/herald-webhooks/herald/infra/herald/answers"
	"github.com/herald-webhooks/herald/infra/herald/stack"
	"github.com/herald-webhooks/herald/infra/internal/client"
)

// view reads the data of a page from the functions. page is the name of its template; its buttons invoke acts.
type view struct {
	page, title string
	read        func(ctx context.Context, s *Server, query url.Values) (any, error)
	acts        []string
}

// views are the pages. None takes more than five calls, questions about rights included.
func (s *Server) views() map[string]view {
	replays := []string{"replay"}
	return map[string]view{
		"/{$}":       {"overview", "Overview", overview, nil},
		"/traffic":   {"traffic", "Traffic", traffic, nil},
		"/endpoints": {"endpoints", "Endpoints", one("endpoints", "tenant_id", "state", "host", "cursor"), nil},
		"/endpoint":  {"endpoint", "Endpoint", endpoint, []string{"control", "replay"}},
		"/deliveries": {"deliveries", "Deliveries",
			searched("inspect", "deliveries", "endpoint_id", "tenant_id", "event_id"), nil},
		"/delivery": {"delivery", "Delivery", delivery, nil},
		"/dead":     {"dead", "Dead letters", deadLetters, replays},
		"/letter":   {"letter", "Dead letter", one("dead_letter", "delivery_id"), replays},
		"/rejected": {"rejected", "Rejected events", one("rejected_events"), replays},
		"/jobs":     {"jobs", "Jobs", one("jobs", "cursor"), nil},
		"/job":      {"job", "Job", job, replays},
		"/keys":     {"keys", "API keys", searched("apikeys", "list", "tenant_id"), nil},
		"/acts":     {"acts", "Acts of operators", acts, nil},
	}
}

// one is the view of one answer of inspect, asked for with the fields that the query has.
func one(action string, fields ...string) func(context.Context, *Server, url.Values) (any, error) {
	return func(ctx context.Context, s *Server, query url.Values) (any, error) {
		return s.Stack.Ask(ctx, "inspect", action, pick(query, fields...))
	}
}

func deadLetters(ctx context.Context, s *Server, query url.Values) (any, error) {
	f := stack.OrDead(pick(query, append([]string{"cursor"}, filterFields...)...))
	return s.Stack.Ask(ctx, "inspect", "dead_letters", f)
}

func overview(ctx context.Context, s *Server, _ url.Values) (any, error) {
	var o struct{ Summary, Trouble, Causes answers.Row }
	var err error
	o.Summary, err = s.Stack.Ask(ctx, "inspect", "summary", nil)
	if err != nil {
		return nil, err
	}
	o.Trouble, err = s.Stack.Ask(ctx, "inspect", "endpoints", answers.Row{"limit": 20})
	if err != nil {
		return nil, err
	}
	if answers.Number(o.Summary, "dead_letters.dead.count") > 0 {
		o.Causes, err = s.Stack.Ask(ctx, "inspect", "causes", nil)
	}
	return o, err
}

func endpoint(ctx context.Context, s *Server, query url.Values) (any, error) {
	shown, err := s.Stack.Ask(ctx, "inspect", "endpoint", pick(query, "endpoint_id", "tenant_id"))
	if err != nil {
		return nil, err
	}
	found := answers.Row{"endpoint_id": shown["endpoint_id"], "limit": 20} // the query may have named it by its host
	open, err := s.Stack.Ask(ctx, "inspect", "deliveries", found)
	if err != nil {
		return nil, err
	}
	dead, err := s.Stack.Ask(ctx, "inspect", "dead_letters", found)
	return answers.Row{"endpoint": shown, "open": open, "dead": dead}, err
}

// delivery has nothing of a test that was just sent: there is no record of it before it has ended.
func delivery(ctx context.Context, s *Server, query url.Values) (any, error) {
	found, err := s.Stack.Ask(ctx, "inspect", "delivery", pick(query, "delivery_id"))
	if errors.Is(err, client.ErrNotFound) && query.Get("done") == controls["test"].Done {
		return nil, nil
	}
	return found, err
}

// outcomeParts bounds the requests for a job's outcome on its page: each is about up to 2,000 deliveries.
const outcomeParts = 2

func job(ctx context.Context, s *Server, query url.Values) (any, error) {
	return stack.ReadJob(ctx, s.Stack, pick(query, "job_id", "cursor"), outcomeParts)
}

// searched is the view of a list that is not asked for without a filter. A cursor is none.
func searched(function, action string, fields ...string) func(context.Context, *Server, url.Values) (any, error) {
	return func(ctx context.Context, s *Server, query url.Values) (any, error) {
		f := pick(query, fields...)
		if len(f) == 0 {
			return nil, nil
		}
		maps.Copy(f, pick(query, "cursor"))
		return s.Stack.Ask(ctx, function, action, f)
	}
}

// show answers with a whole page, or with its refreshed part where the page itself asks.
func (s *Server) show(v view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m := model{
			Title: v.title, Page: v.page, Stack: s.Name, Operator: s.Operator, Query: r.URL.Query(), Path: r.URL.RequestURI(),
			Done: r.URL.Query().Get("done"), Acts: v.acts,
		}
		s.learn(r.Context(), v.acts)
		var err error
		m.Data, err = v.read(r.Context(), s, m.Query)
		s.render(w, r, m, err)
	}
}
