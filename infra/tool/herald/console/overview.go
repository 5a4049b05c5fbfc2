package console

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
)

// glance is the first page: counts that lead to their lists, and the next steps.
type glance struct {
	Tiles []tile
	Next  []parts.Cell
	Lists []parts.Section
}

// tile is a count with the address of its list.
type tile struct{ Count, Label, Link, Class string }

// tile counts something. Nothing of it is grey.
func (s *Server) tile(count float64, label, path, class string) tile {
	if count == 0 {
		class = "dim"
	}
	return tile{parts.Grouped(count), label, s.site.Base + path, class}
}

func overviewPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	var sum, troubled answers.Row
	errs := parallel.Each(2, 2, func(n int) (err error) {
		if n == 0 {
			sum, err = s.ask(ctx, "inspect", "summary", answers.Row{"causes": true})
			return err
		}
		troubled, err = s.ask(ctx, "inspect", "endpoints", answers.Row{"limit": 20})
		return err
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	causes, _ := sum["causes"].(answers.Row)
	trouble := s.site.EndpointList(q, troubled).Or("No endpoint is in trouble.")
	if troubled["next_cursor"] != nil {
		trouble.Then(s.site.Base + "/endpoints")
	}
	g := glance{Tiles: s.tiles(sum), Next: s.suggestions(sum, answers.Rows(causes), answers.Rows(troubled))}
	g.Lists = append(g.Lists, parts.Section{Title: "Endpoints in trouble", List: trouble})
	if died := s.site.CauseList(q, causes); len(died.Rows) > 0 {
		g.Lists = append(g.Lists, parts.Section{Title: "What deliveries died of", List: died})
	}
	if slow := s.slowList(q, sum); len(slow.Rows) > 0 {
		g.Lists = append(g.Lists, parts.Section{Title: "Slow tenants", List: slow,
			Note: "Their receivers take long, so their deliveries go through a lane of their own. This ends by itself."})
	}
	g.Lists = append(g.Lists, parts.Section{Title: "Queues", List: queueList(q, sum)})
	return g, nil
}

func (s *Server) tiles(sum answers.Row) []tile {
	state := func(name, label, class string) tile {
		return s.tile(answers.Number(sum, "endpoints.states."+name), label, "/endpoints?state="+name, class)
	}
	return []tile{
		state("open", "endpoints open", "bad"), state("failing", "failing", "warn"), state("flapping", "flapping", "warn"),
		state("recovering", "recovering", "good"), state("paused", "paused", "warn"),
		s.tile(answers.Number(sum, "waiting.count"), "deliveries wait", "/deliveries", "warn"),
		s.tile(answers.Number(sum, "dead_letters.dead.count"), "dead letters", "/dead?status=dead", "bad"),
		s.tile(answers.Number(sum, "queues.EventsDeadLetterQueue.visible"), "rejected events", "/rejected", "bad"),
		s.tile(answers.Number(sum, "endpoints.slow_tenants"), "slow tenants", "/#slow-tenants", "warn"),
	}
}

// suggestions lead on, as the tool's do: to the replays that are sent at once, to rejected events, and to the worst
// endpoint.
func (s *Server) suggestions(sum answers.Row, causes, troubled []answers.Row) (links []parts.Cell) {
	var ids []string
	letters := 0
	seen := map[string]bool{}
	for _, cause := range causes {
		id := answers.Text(cause, "endpoint_id")
		if !next.Takes(stateIn(cause)) || id == "" || !seen[id] && len(ids) == mostReplays {
			continue
		}
		if !seen[id] {
			ids = append(ids, id)
		}
		seen[id] = true
		letters += int(answers.Number(cause, "count"))
	}
	if len(ids) > 0 {
		q := url.Values{"act": {"replay"}, "endpoint_id": ids}
		links = append(links, parts.Cell{Link: s.site.Base + "/confirm?" + q.Encode(), Text: "Replay " +
			next.Number(letters, "dead letter", "dead letters") + " of " +
			next.Number(len(ids), "endpoint that takes", "endpoints that take") + " deliveries again…"})
	}
	if n := int(answers.Number(sum, "queues.EventsDeadLetterQueue.visible")); n > 0 {
		links = append(links, parts.Cell{Link: s.site.Base + "/rejected",
			Text: "Look at " + next.Number(n, "rejected event", "rejected events")})
	}
	if worst := worst(troubled); worst != nil {
		links = append(links, parts.Cell{Link: s.site.EndpointLink(worst),
			Text: fmt.Sprintf("See %s of %s: it is %s",
				parts.NameOf(worst), parts.Text(worst, "tenant_id"), parts.Text(worst, "state"))})
	}
	return links
}

// worst is the endpoint in the worst state, nil where there is none.
func worst(troubled []answers.Row) (found answers.Row) {
	for _, r := range troubled {
		if found == nil || next.Health(stateIn(r)) < next.Health(stateIn(found)) {
			found = r
		}
	}
	return found
}

func (s *Server) slowList(q url.Values, sum answers.Row) *parts.Table {
	named, _ := answers.At(sum, "endpoints.slow").([]any)
	return parts.NewTable(q, answers.Rows(answers.Row{"data": named}), s.site.TenantColumn(),
		s.site.Moment("slow until, at least", "until"))
}

// queueOrder is along a delivery's way.
var queueOrder = []string{
	"EventsQueue", "EventsDeadLetterQueue", "DeliveryQueue", "RetryQueue", "SlowQueue", "DeadLetterQueue",
}

func queueList(q url.Values, sum answers.Row) *parts.Table {
	var rows []answers.Row
	for _, name := range queueOrder {
		if depth, ok := answers.At(sum, "queues."+name).(answers.Row); ok {
			rows = append(rows, answers.Row{"queue": name, "of": depth})
		}
	}
	empty := !slices.ContainsFunc(rows, func(r answers.Row) bool {
		return answers.Number(r, "of.visible")+answers.Number(r, "of.in_flight")+answers.Number(r, "of.delayed") > 0
	})
	if empty {
		return parts.NewTable(q, nil).Or("All queues are empty.")
	}
	return parts.NewTable(q, rows, parts.TextColumn("queue", "queue", "", ""), parts.Amount("visible", "of.visible"),
		parts.Amount("in flight", "of.in_flight"), parts.Amount("delayed", "of.delayed"))
}
