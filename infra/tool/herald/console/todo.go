package console

import (
	"net/url"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// todo is something to do, about some endpoints where it names them.
type todo struct {
	parts.Cell

	Endpoints []told
	More      int // endpoints that it does not name
}

// told is an endpoint, and whom its owner wants to be told about it.
type told struct {
	parts.Cell

	Contact string
}

// suggestions lead on, as the tool's do: to the replays that are sent at once, to rejected events, and to the endpoints
// in trouble by their states.
func (s *Server) suggestions(sum api.Summary, causes []api.Cause, troubled []api.ListedEndpoint) (todos []todo) {
	if ids, letters := replayable(causes); len(ids) > 0 {
		q := url.Values{"act": {next.Replay}, "endpoint_id": ids}
		todos = append(todos, todo{Cell: parts.Cell{Link: s.site.Base + "/confirm?" + q.Encode(), Text: "Replay " +
			next.Number(letters, "dead letter", "dead letters") + " of " +
			next.Number(len(ids), "endpoint that takes", "endpoints that take") + " deliveries again…"}})
	}
	if n := stack.RejectedIn(sum); n > 0 {
		todos = append(todos, todo{Cell: parts.Cell{Link: s.site.Base + "/rejected",
			Text: "Look at " + next.Number(n, "rejected event", "rejected events")}})
	}
	state := func(e api.ListedEndpoint) api.State { return e.State }
	for _, g := range next.Groups(troubled, state, sum.Endpoints.States) {
		todos = append(todos, s.toGroup(g, next.PauseReasons(troubled)))
	}
	return todos
}

// toGroup leads to a group of endpoints: to its list, or to the one that it has.
func (s *Server) toGroup(g next.Group[api.ListedEndpoint], pauses []string) (do todo) {
	some, more := g.Some()
	for _, e := range some {
		named := parts.Listed(e)
		text := named.Name() + " of " + answers.Shown(e.TenantID)
		do.Endpoints = append(do.Endpoints, told{parts.Cell{Text: text, Link: s.site.EndpointLink(named)}, e.Contact})
	}
	do.More = more
	if g.Count > 1 {
		do.Cell = parts.Cell{Text: g.Says("", pauses), Link: s.site.Link("/endpoints", "state", string(g.State))}
		return do
	}
	one := do.Endpoints[0]
	do.Cell = parts.Cell{Text: g.Says(one.Text, pauses), Link: one.Link}
	do.Endpoints = nil
	if one.Contact != "" {
		do.Endpoints = []told{{Contact: one.Contact}}
	}
	return do
}
