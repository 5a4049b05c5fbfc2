package console

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// view reads the data of a page from the functions. template is its template by name, nav its place in the navigation;
// its buttons invoke acts. A live one asks again by itself.
type view struct {
	template, nav, title string

	read func(ctx context.Context, s *Server, query url.Values) (any, error)
	acts []api.Function
	live bool
}

// views are the pages. None takes more than five calls, questions about rights included. Questions may take more: one
// about a replay to several endpoints counts each, and one about ticked rows reads up to five pages of their list.
func (s *Server) views() map[string]view {
	replays := []api.Function{api.Replay}
	letters := []api.Function{api.Replay, api.ReplayForGood}
	return map[string]view{
		"/{$}":       {"overview", "overview", "Overview", overviewPage, nil, true},
		"/traffic":   {"traffic", "traffic", "Traffic", trafficPage, nil, false},
		"/shares":    {"shares", "traffic", "Tenants' shares", sharesPage, nil, false},
		"/chart":     {"chart", "traffic", "Attempts by outcome", chartPage, nil, false},
		"/tail":      {"tail", "traffic", "Attempts as they are made", tailPage, nil, true},
		"/endpoints": {"endpoints", "endpoints", "Endpoints", endpointsPage, nil, false},
		"/endpoint":  {"detail", "endpoints", "Endpoint", endpointPage, []api.Function{api.Control, api.Replay}, false},
		"/tenant": {"detail", "endpoints", "Tenant", tenantPage,
			[]api.Function{api.Control, api.APIKeysRevoke}, false},
		"/tenant/acts": {"part", "endpoints", "What was done for the tenant", tenantActsPage,
			[]api.Function{api.Control}, false},
		"/subscribers": {"subscribers", "endpoints", "Who selects a type", subscribersPage, nil, false},
		"/deliveries":  {"deliveries", "deliveries", "Deliveries", deliveriesPage, nil, false},
		"/event":       {"event", "deliveries", "An event", eventPage, letters, false},
		"/delivery":    {"detail", "deliveries", "Delivery", deliveryPage, replays, true},
		"/dead":        {"dead", "dead", "Dead letters", deadLettersPage, letters, false},
		"/letter":      {"detail", "dead", "Dead letter", letterPage, letters, false},
		"/rejected":    {"rejected", "rejected", "Rejected events", rejectedPage, letters, false},
		"/jobs":        {"jobs", "jobs", "Jobs", jobsPage, nil, true},
		"/job":         {"detail", "jobs", "Job", jobPage, replays, true},
		"/keys":        {"keys", "keys", "API keys", keysPage, nil, false},
		"/acts":        {"acts", "acts", "Acts of operators", actsPage, nil, false},
		"/confirm":     {"confirm", "dead", "Are you sure?", confirmPage, letters, false},
	}
}

// show answers with a whole page, or with its refreshed part where the page itself asks.
func (s *Server) show(path string, v view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p, err := s.read(r.Context(), path, v, r.URL.Query())
		to := askedOn(path, p.Query)
		switch page, known := s.views()[to]; {
		case err != nil && known:
			p = s.fault(r.Context(), to, page, p.Query, err)
		case err != nil:
			p.fail(err)
		}
		s.render(w, r, p)
	}
}

// read reads a page.
func (s *Server) read(ctx context.Context, path string, v view, q url.Values) (p page, err error) {
	p = page{
		Title: v.title, Template: v.template, Nav: v.nav, Live: v.live && !s.costs(q), Stack: s.Name, Operator: s.Operator,
		Query: q, Path: refreshPath(path, q), Done: q.Get("done"), Acts: v.acts, AsOf: s.site.At(s.Now()).Title,
		Form: formAt(path, q),
	}
	if on, known := s.views()[askedOn(path, q)]; known { // a question stands in the section that it is asked in
		p.Nav = on.nav
	}
	s.learn(ctx, v.acts)
	p.Data, err = v.read(ctx, s, q)
	if d, is := p.Data.(ending); is && err == nil && d.final() {
		p.Live, p.final = false, true
	}
	return p, err
}

// fault is a page with the error of what was asked on it. What the page shows is shown as well, unless a field of its
// form is wrong, or it cannot be read either.
func (s *Server) fault(ctx context.Context, path string, v view, q url.Values, err error) page {
	p, reading := s.read(ctx, path, v, filterOf(q))
	switch {
	case reading != nil:
		p.Data, err = nil, reading
	case p.Form != nil && p.Form.atFault: // it found what the page is about
		p.Form = nil
	}
	if p.fail(err); p.Problem == "" {
		p.Data = nil
	}
	return p
}

// refreshPath is the address of a page for its refresh. The result of an act is told once: it may not hold any more.
func refreshPath(path string, q url.Values) string {
	path = strings.TrimSuffix(path, "{$}")
	q = maps.Clone(q)
	q.Del("done")
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
