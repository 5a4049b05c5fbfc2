package console

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

func endpointsPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	found, err := s.ask(ctx, "inspect", "endpoints", pick(q, "tenant_id", "state", "host", "description", "cursor"))
	if err != nil {
		return nil, err
	}
	empty := "No endpoint is in trouble. Healthy ones are listed with their tenant, or by the state healthy."
	if len(pick(q, "tenant_id", "state", "host", "description")) > 0 {
		empty = "No endpoint is like that. Tenants create endpoints by the management API."
	}
	return list{Table: s.site.EndpointList(q, found).Or(empty).Then(s.nextPage("/endpoints", q, found))}, nil
}

// endpointPage shows an endpoint with its deliveries. Where the address has no tenant, since an id was pasted, a
// delivery or a dead letter names it.
func endpointPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	f := pick(q, "endpoint_id", "tenant_id")
	open, err := s.ask(ctx, "inspect", "deliveries", with(f, "limit", 20))
	if err != nil {
		return nil, err
	}
	dead, err := s.ask(ctx, "inspect", "dead_letters", with(f, "limit", 20))
	if err != nil {
		return nil, err
	}
	for _, r := range append(answers.Rows(open), answers.Rows(dead)...) {
		if f["tenant_id"] == nil && answers.Text(r, "tenant_id") != "" {
			f["tenant_id"] = r["tenant_id"]
		}
	}
	shown, err := s.ask(ctx, "inspect", "endpoint", f)
	var refused *api.Refusal
	if errors.As(err, &refused) && refused.Field == "tenant_id" && f["tenant_id"] == nil {
		return detail{Head: &parts.Head{Kind: "Endpoint", Name: "Of which tenant?", ID: answers.Text(f, "endpoint_id"),
			Advice: []string{"It is in no trouble, and nothing of it waits or died: its tenant leads to it."}}, More: f}, nil
	}
	if err != nil {
		return nil, err
	}
	known := url.Values{"endpoint_id": {"known"}, "tenant_id": {"known"}}
	all := parts.Link("/deliveries", "endpoint_id", shown["endpoint_id"], "tenant_id", shown["tenant_id"])
	letters := parts.Link("/dead", "endpoint_id", shown["endpoint_id"], "tenant_id", shown["tenant_id"])
	waiting := s.site.DeliveryList(known, open).Or("Every delivery was acknowledged, or has its dead letter below.")
	died := s.site.LetterList(known, dead).Or("None. A delivery dies when its schedule, or its life of 7 days, ends.")
	died.Tick = ""
	if open["next_cursor"] != nil {
		waiting.Then(s.site.Base + all)
	}
	if dead["next_cursor"] != nil {
		died.Then(s.site.Base + letters)
	}
	return detail{
		Head:     s.site.EndpointHead(shown, slices.ContainsFunc(answers.Rows(dead), isDead)),
		Timeline: s.site.EndpointTimeline(shown), Raw: shown,
		Lists: []parts.Section{{Title: "Not acknowledged", List: waiting}, {Title: "Dead letters", List: died}},
	}, nil
}

// isDead reports whether a dead letter is there to be replayed.
func isDead(letter answers.Row) bool { return letter["status"] != "replayed" }

// deliveriesPage lists those that are searched for, and otherwise places to begin from.
func deliveriesPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	f := pick(q, "endpoint_id", "tenant_id", "event_id", "cursor")
	if f["endpoint_id"] != nil || f["event_id"] != nil {
		found, err := s.ask(ctx, "inspect", "deliveries", f)
		if err != nil {
			return nil, err
		}
		t := s.site.DeliveryList(q, found).Or("No delivery is like that, or all of them are acknowledged.")
		return list{Table: t.Then(s.nextPage("/deliveries", q, found)), Note: answers.Text(found, "note")}, nil
	}
	troubled, err := s.ask(ctx, "inspect", "endpoints", pick(q, "tenant_id"))
	if err != nil {
		return nil, err
	}
	rows := answers.Rows(troubled)
	t := s.site.EndpointList(q, troubled).Or("No endpoint is in trouble: every delivery is sent as it comes.")
	for n, r := range rows {
		t.Rows[n].Cells[0].Link = s.site.Link("/deliveries", "endpoint_id", r["endpoint_id"], "tenant_id", r["tenant_id"])
	}
	return list{Table: t, Note: "Choose an endpoint to see its deliveries that are not acknowledged, " +
		"or paste the wh-id that its receiver saw into the search above."}, nil
}

// deliveryPage has nothing of a test that was just sent: there is no record of it before it has ended.
func deliveryPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	d, err := s.ask(ctx, "inspect", "delivery", pick(q, "delivery_id"))
	switch {
	case errors.Is(err, api.ErrNotFound) && strings.HasPrefix(q.Get("delivery_id"), "test_"):
		return detail{Head: &parts.Head{Kind: "Delivery", Name: "A test", ID: q.Get("delivery_id"), State: "under way",
			Advice: []string{"It has not ended yet, or its record has expired."}}}, nil
	case errors.Is(err, api.ErrNotFound) && q.Get("delivery_id") != "":
		return detail{Head: &parts.Head{Kind: "Delivery", Name: "No record of this delivery", ID: q.Get("delivery_id"),
			Advice: []string{"No delivery has this id, or its record has expired: records are kept for 30 days after their " +
				"last change, and the stack may keep fewer of acknowledged ones. A dead letter is kept for longer."},
			Links: []parts.Cell{s.site.LetterLink(q.Get("delivery_id"))}}}, nil
	case err != nil:
		return nil, err
	}
	e, err := s.endpointOf(ctx, d)
	if err != nil {
		return nil, err
	}
	t := detail{Head: s.site.DeliveryHead(d, e), Timeline: s.site.DeliveryTimeline(d, e), Raw: d}
	if s.LogCosts && q.Get(eachAttempt) == "" {
		again := parts.Link("/delivery", "delivery_id", d["delivery_id"], eachAttempt, "1")
		t.Head.Links = append(t.Head.Links, parts.Cell{Text: "Each attempt, from the log", Link: s.site.Base + again,
			Title: "costs by the bytes that are searched"})
		return t, nil
	}
	s.addAttempts(ctx, t.Timeline, d)
	return t, nil
}

// endpointOf is the endpoint of a delivery, nil where it cannot be read: the page does without it.
func (s *Server) endpointOf(ctx context.Context, d answers.Row) (answers.Row, error) {
	f := answers.Row{"endpoint_id": d["endpoint_id"], "tenant_id": d["tenant_id"]}
	if answers.Text(d, "endpoint_id") == "" {
		return nil, nil
	}
	e, err := s.ask(ctx, "inspect", "endpoint", f)
	var refused *api.Refusal
	if errors.As(err, &refused) {
		return nil, nil
	}
	return e, err
}

func deadLettersPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	f, err := s.letters(q, append([]string{"cursor"}, filterFields...)...)
	if err != nil {
		return nil, err
	}
	found, err := s.ask(ctx, "inspect", "dead_letters", f)
	if err != nil {
		return nil, err
	}
	t := s.site.LetterList(q, found).Or("No dead letter is like that. A delivery dies when its schedule of ten " +
		"attempts, or its life of 7 days, ends; its letter is kept here, sealed, for 90 days.")
	return list{Table: t.Then(s.nextPage("/dead", q, found))}, nil
}

func letterPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	l, err := s.ask(ctx, "inspect", "dead_letter", pick(q, "delivery_id"))
	if err != nil {
		return nil, err
	}
	e, err := s.endpointOf(ctx, l)
	return detail{Head: s.site.LetterHead(l, e), Timeline: s.site.LetterTimeline(l), Raw: l, More: l["body"]}, err
}

func jobsPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	found, err := s.ask(ctx, "inspect", "jobs", pick(q, "state", "cursor"))
	if err != nil {
		return nil, err
	}
	t := s.site.JobList(q, found).Or("No job is like that. A replay, a purge or a publish of a whole selection is a " +
		"job; it is kept for 90 days.")
	return list{Table: t.Then(s.nextPage("/jobs", q, found))}, nil
}

// outcomeParts bounds the requests for a job's outcome on its page: each is about up to 2,000 deliveries.
const outcomeParts = 2

func jobPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	read, err := stack.ReadJob(ctx, s.Stack, q.Get("job_id"), q.Get("cursor"), outcomeParts)
	if err != nil {
		return nil, err
	}
	j := rowsOfJob(read)
	t := detail{Head: s.site.JobHead(j.Job), Timeline: s.site.JobTimeline(j.Job), Raw: j.Job, More: j}
	if len(answers.Rows(j.Failures)) > 0 {
		path := "/letter"
		if parts.Text(j.Job, "act") == "publish" {
			path = ""
		}
		id := parts.Column{Title: "id", Class: "id", Cell: func(r answers.Row) parts.Cell {
			c := parts.Cell{Text: parts.Text(r, "id"), Title: parts.Text(r, "id"), Class: "id"}
			if path != "" {
				c.Link = s.site.Link(path, "delivery_id", r["id"])
			}
			return c
		}}
		result, reason := parts.TextColumn("result", "result", "", ""), parts.TextColumn("reason", "reason", "", "")
		failed := parts.NewTable(q, answers.Rows(j.Failures), id, result, reason)
		t.Lists = []parts.Section{{Title: "What it did not do", List: failed.Then(s.nextPage("/job", q, j.Failures))}}
	}
	return t, nil
}
