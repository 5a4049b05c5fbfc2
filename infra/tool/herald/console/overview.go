package console

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// glance is the first page: counts that lead to their lists, and the next steps.
type glance struct {
	Tiles []tile
	Next  []todo
	Lists []parts.Section
}

// tile is a count with the address of its list.
type tile struct{ Count, Label, Link, Class string }

// tile counts something. Nothing of it is grey.
func (s *Server) tile(count int, label, path, class string) tile {
	if count == 0 {
		class = "dim"
	}
	return tile{parts.Grouped(count), label, s.site.Base + path, class}
}

func overviewPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	var sum api.Summary
	var troubled api.List[api.ListedEndpoint]
	errs := parallel.Each(2, 2, func(n int) (err error) {
		if n == 0 {
			sum, err = ask(ctx, s, api.GetSummary, api.SummaryRequest{Causes: true})
			return err
		}
		troubled, err = ask(ctx, s, api.ListEndpoints, api.EndpointsRequest{Page: few})
		return err
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	var causes []api.Cause
	if sum.Causes != nil {
		causes = sum.Causes.Data
	}
	trouble := s.site.EndpointList(q, troubled.Data).Or("No endpoint is in trouble.")
	if troubled.NextCursor != nil {
		trouble.Then(s.site.Base + "/endpoints")
	}
	g := glance{Tiles: s.tiles(sum), Next: s.suggestions(sum, causes, troubled.Data)}
	g.Lists = append(g.Lists, parts.Section{Title: "Endpoints in trouble", List: trouble})
	if died := s.site.CauseList(q, causes); len(died.Rows) > 0 {
		g.Lists = append(g.Lists, parts.Section{Title: "Why deliveries died", List: died})
	}
	if slow := s.slowList(q, sum.Endpoints.Slow); len(slow.Rows) > 0 {
		g.Lists = append(g.Lists, parts.Section{Title: "Slow tenants", List: slow,
			Note: "Their receivers are slow, so their deliveries go through a separate lane. This ends by itself."})
	}
	g.Lists = append(g.Lists, parts.Section{Title: "Queues", List: queueList(q, sum)})
	return g, nil
}

func (s *Server) tiles(sum api.Summary) []tile {
	in := func(state api.State, label, class string) tile {
		return s.tile(sum.Endpoints.States[state], label, "/endpoints?state="+string(state), class)
	}
	return []tile{
		in(api.StateOpen, "endpoints open", "bad"), in(api.StateFailing, "failing", "warn"),
		in(api.StateFlapping, "flapping", "warn"), in(api.StateRecovering, "recovering", "good"),
		in(api.StatePaused, "paused", "warn"),
		s.tile(sum.Waiting.Count, "deliveries wait", "/deliveries", "warn"),
		s.tile(sum.DeadLetters[deadletter.Dead].Count, "dead letters", deadLetters, "bad"),
		s.tile(stack.RejectedIn(sum), "rejected events", "/rejected", "bad"),
		s.tile(sum.Endpoints.SlowTenants, "slow tenants", "/#slow-tenants", "warn"),
	}
}

// replayable are the first endpoints that take deliveries again, with the number of their dead letters.
func replayable(causes []api.Cause) (ids []string, letters int) {
	for _, cause := range causes {
		id := cause.EndpointID
		known := slices.Contains(ids, id)
		if !next.Takes(cause.State) || id == "" || !known && len(ids) == mostReplays {
			continue
		}
		if !known {
			ids = append(ids, id)
		}
		letters += cause.Count
	}
	return ids, letters
}

func (s *Server) slowList(q url.Values, slow []api.SlowTenant) *parts.Table {
	return parts.NewTable(q, slow, parts.Tenants(s.site, func(t api.SlowTenant) string { return t.TenantID }),
		parts.Moment(s.site, "slow until, at least", func(t api.SlowTenant) time.Time { return t.Until }))
}

func queueList(q url.Values, sum api.Summary) *parts.Table {
	var names []string
	full := false
	for _, name := range stack.Queues {
		if depth, there := sum.Queues[name]; there {
			names = append(names, name)
			full = full || depth != (api.Depth{})
		}
	}
	if !full {
		return parts.NewTable[string](q, nil).Or("All queues are empty.")
	}
	return parts.NewTable(q, names, parts.Text("queue", "", "", func(name string) any { return name }),
		parts.Amount("visible", func(name string) int { return sum.Queues[name].Visible }),
		parts.Amount("in flight", func(name string) int { return sum.Queues[name].InFlight }),
		parts.Amount("delayed", func(name string) int { return sum.Queues[name].Delayed }))
}
