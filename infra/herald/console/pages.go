package console

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/infra/herald/answers"
	"github.com/herald-webhooks/herald/infra/herald/stack"
	"github.com/herald-webhooks/herald/infra/internal/client"
)

func endpointsPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	found, err := s.Stack.Ask(ctx, "inspect", "endpoints", pick(q, "tenant_id", "state", "host", "description", "cursor"))
	if err != nil {
		return nil, err
	}
	empty := "No endpoint is in trouble. Healthy ones are listed with their tenant, or by the state healthy."
	if len(pick(q, "tenant_id", "state", "host", "description")) > 0 {
		empty = "No endpoint is like that. Tenants create endpoints by the management API."
	}
	return list{table: s.endpointList(q, found).or(empty).then(s.nextPage("/endpoints", q, found))}, nil
}

// endpointPage shows an endpoint with its deliveries. Where the address has no tenant, since an id was pasted, a
// delivery or a dead letter names it.
func endpointPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	f := pick(q, "endpoint_id", "tenant_id")
	open, err := s.Stack.Ask(ctx, "inspect", "deliveries", with(f, "limit", 20))
	if err != nil {
		return nil, err
	}
	dead, err := s.Stack.Ask(ctx, "inspect", "dead_letters", with(f, "limit", 20))
	if err != nil {
		return nil, err
	}
	for _, r := range append(answers.Rows(open), answers.Rows(dead)...) {
		if f["tenant_id"] == nil && answers.Text(r, "tenant_id") != "" {
			f["tenant_id"] = r["tenant_id"]
		}
	}
	shown, err := s.Stack.Ask(ctx, "inspect", "endpoint", f)
	var refused *client.Refusal
	if errors.As(err, &refused) && refused.Field == "tenant_id" && f["tenant_id"] == nil {
		return thing{Head: &head{Kind: "Endpoint", Name: "Of which tenant?", ID: answers.Text(f, "endpoint_id"),
			Advice: []string{"It is in no trouble, and nothing of it waits or died: its tenant leads to it."}}, More: f}, nil
	}
	if err != nil {
		return nil, err
	}
	known := url.Values{"endpoint_id": {"known"}, "tenant_id": {"known"}}
	all := link("/deliveries", "endpoint_id", shown["endpoint_id"], "tenant_id", shown["tenant_id"])
	letters := link("/dead", "endpoint_id", shown["endpoint_id"], "tenant_id", shown["tenant_id"])
	waiting := s.deliveryList(known, open).or("Every delivery was acknowledged, or has its dead letter below.")
	died := s.letterList(known, dead).or("None. A delivery dies when its schedule, or its life of 7 days, ends.")
	died.Tick = ""
	if open["next_cursor"] != nil {
		waiting.then(s.base + all)
	}
	if dead["next_cursor"] != nil {
		died.then(s.base + letters)
	}
	return thing{
		Head:     s.endpointHead(shown, slices.ContainsFunc(answers.Rows(dead), isDead)),
		Timeline: s.ofEndpoint(shown), Raw: shown,
		Lists: []section{{Title: "Not acknowledged", List: waiting}, {Title: "Dead letters", List: died}},
	}, nil
}

// isDead reports whether a dead letter is there to be replayed.
func isDead(letter answers.Row) bool { return letter["status"] != "replayed" }

// deliveriesPage lists those that are searched for, and otherwise places to begin from.
func deliveriesPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	f := pick(q, "endpoint_id", "tenant_id", "event_id", "cursor")
	if f["endpoint_id"] != nil || f["event_id"] != nil {
		found, err := s.Stack.Ask(ctx, "inspect", "deliveries", f)
		if err != nil {
			return nil, err
		}
		t := s.deliveryList(q, found).or("No delivery is like that, or all of them are acknowledged.")
		return list{table: t.then(s.nextPage("/deliveries", q, found)), Note: answers.Text(found, "note")}, nil
	}
	troubled, err := s.Stack.Ask(ctx, "inspect", "endpoints", pick(q, "tenant_id"))
	if err != nil {
		return nil, err
	}
	rows := answers.Rows(troubled)
	t := s.endpointList(q, troubled).or("No endpoint is in trouble: every delivery is sent as it comes.")
	for n, r := range rows {
		t.Rows[n].Cells[0].Link = s.base + link("/deliveries", "endpoint_id", r["endpoint_id"], "tenant_id", r["tenant_id"])
	}
	return list{table: t, Note: "Choose an endpoint to see its deliveries that are not acknowledged, " +
		"or paste the wh-id that its receiver saw into the search above."}, nil
}

// eachAttempt is the field of an address that asks for a delivery's attempts, from the log.
const eachAttempt = "attempts"

// deliveryPage has nothing of a test that was just sent: there is no record of it before it has ended.
func deliveryPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	d, err := s.Stack.Ask(ctx, "inspect", "delivery", pick(q, "delivery_id"))
	switch {
	case errors.Is(err, client.ErrNotFound) && strings.HasPrefix(q.Get("delivery_id"), "test_"):
		return thing{Head: &head{Kind: "Delivery", Name: "A test", ID: q.Get("delivery_id"), State: "under way",
			Advice: []string{"It has not ended yet, or its record has expired."}}}, nil
	case errors.Is(err, client.ErrNotFound) && q.Get("delivery_id") != "":
		return thing{Head: &head{Kind: "Delivery", Name: "No record of this delivery", ID: q.Get("delivery_id"),
			Advice: []string{"No delivery has this id, or its record has expired: records are kept for 30 days after their " +
				"last change, and the stack may keep fewer of acknowledged ones. A dead letter is kept for longer."},
			Links: []cell{s.letterLink(q.Get("delivery_id"))}}}, nil
	case err != nil:
		return nil, err
	}
	e, err := s.endpointOf(ctx, d)
	if err != nil {
		return nil, err
	}
	t := thing{Head: s.deliveryHead(d, e), Timeline: s.ofDelivery(d, e), Raw: d}
	if s.LogCosts && q.Get(eachAttempt) == "" {
		again := link("/delivery", "delivery_id", d["delivery_id"], eachAttempt, "1")
		t.Head.Links = append(t.Head.Links, cell{Text: "Each attempt, from the log", Link: s.base + again,
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
	e, err := s.Stack.Ask(ctx, "inspect", "endpoint", f)
	var refused *client.Refusal
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
	found, err := s.Stack.Ask(ctx, "inspect", "dead_letters", f)
	if err != nil {
		return nil, err
	}
	t := s.letterList(q, found).or("No dead letter is like that. A delivery dies when its schedule of ten attempts, or " +
		"its life of 7 days, ends; its letter is kept here, sealed, for 90 days.")
	return list{table: t.then(s.nextPage("/dead", q, found))}, nil
}

func letterPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	l, err := s.Stack.Ask(ctx, "inspect", "dead_letter", pick(q, "delivery_id"))
	if err != nil {
		return nil, err
	}
	e, err := s.endpointOf(ctx, l)
	return thing{Head: s.letterHead(l, e), Timeline: s.ofLetter(l), Raw: l, More: l["body"]}, err
}

func jobsPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	found, err := s.Stack.Ask(ctx, "inspect", "jobs", pick(q, "state", "cursor"))
	if err != nil {
		return nil, err
	}
	t := s.jobList(q, found).or("No job is like that. A replay, a purge or a publish of a whole selection is a job; " +
		"it is kept for 90 days.")
	return list{table: t.then(s.nextPage("/jobs", q, found))}, nil
}

// outcomeParts bounds the requests for a job's outcome on its page: each is about up to 2,000 deliveries.
const outcomeParts = 2

func jobPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	j, err := stack.ReadJob(ctx, s.Stack, pick(q, "job_id", "cursor"), outcomeParts)
	if err != nil {
		return nil, err
	}
	t := thing{Head: s.jobHead(j.Job), Timeline: s.ofJob(j.Job), Raw: j.Job, More: j}
	if len(answers.Rows(j.Failures)) > 0 {
		path := "/letter"
		if text(j.Job, "act") == "publish" {
			path = ""
		}
		id := column{title: "id", class: "id", cell: func(r answers.Row) cell {
			c := cell{Text: text(r, "id"), Title: text(r, "id"), Class: "id"}
			if path != "" {
				c.Link = s.base + link(path, "delivery_id", r["id"])
			}
			return c
		}}
		result, reason := plain("result", "result", "", ""), plain("reason", "reason", "", "")
		failed := listed(q, answers.Rows(j.Failures), id, result, reason)
		t.Lists = []section{{Title: "What it did not do", List: failed.then(s.nextPage("/job", q, j.Failures))}}
	}
	return t, nil
}
