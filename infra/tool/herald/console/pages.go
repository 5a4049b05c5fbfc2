package console

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// deliveriesPage lists those that are searched for, and otherwise places to begin from.
func deliveriesPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	selected, err := s.selector(q)
	if err != nil {
		return nil, err
	}
	of := api.DeliveriesRequest{
		Page: pageOf(q), EndpointID: selected.EndpointID, EventID: selected.EventID, TenantID: selected.TenantID,
		PublishedSince: selected.PublishedSince, PublishedUntil: selected.PublishedUntil,
	}
	times := s.times(selected, usage.Sent)
	q = fixed(q, selected)
	if of.EndpointID != "" || of.EventID != "" {
		found, err := ask(ctx, s, api.ListDeliveries, of)
		if err != nil {
			return nil, err
		}
		t := s.site.DeliveryList(q, found.Data).Or("No delivery matches, or all that match are acknowledged.")
		return list{Table: t.Then(s.nextPage("/deliveries", q, found.NextCursor)), Note: found.Note, Times: times}, nil
	}
	troubled, err := ask(ctx, s, api.ListEndpoints, api.EndpointsRequest{TenantID: of.TenantID})
	if err != nil {
		return nil, err
	}
	t := s.site.EndpointList(q, troubled.Data).Or("No endpoint is in trouble: deliveries are sent as they come.")
	t.Linked(parts.Each(troubled.Data, func(e api.ListedEndpoint) string {
		return s.site.Link("/deliveries", "endpoint_id", e.EndpointID, "tenant_id", e.TenantID,
			"published_since", q.Get("published_since"), "published_until", q.Get("published_until"))
	}))
	return list{Table: t, Times: times, Note: "Choose an endpoint to see its deliveries that are not acknowledged, " +
		"or paste the wh-id that its receiver saw, or the id of an event, into the search above."}, nil
}

// testSent is the field of an address with the time at which a test was sent, in Unix seconds.
const testSent = "sent"

// testPatience is how long a page waits for the end of a test. An attempt takes 15 s at most.
const testPatience = 2 * time.Minute

// testPage is the page of a test without a record: there is none before the test has ended.
func testPage(s *Server, q url.Values) detail {
	h := &parts.Head{Kind: "Delivery", Name: "A test", ID: q.Get("delivery_id"), State: "under way",
		Advice: []string{"It has not ended yet, or its record has expired."}}
	sent, err := strconv.ParseInt(q.Get(testSent), 10, 64)
	over := err != nil || s.Now().Sub(time.Unix(sent, 0)).Abs() > testPatience
	if !over {
		h.Advice[0] = "It has not ended yet. This page checks again for " + parts.Coarse(testPatience) + "."
	}
	return detail{Head: h, Final: over}
}

// deliveryPage is about a delivery, by its record.
func deliveryPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	id := q.Get("delivery_id")
	answer, err := stack.Ask(ctx, s.Stack, api.GetDelivery, api.DeliveryRequest{DeliveryID: id})
	switch {
	case errors.Is(err, api.ErrNotFound) && strings.HasPrefix(id, "test_"):
		return testPage(s, q), nil
	case errors.Is(err, api.ErrNotFound) && id != "":
		return detail{Head: &parts.Head{Kind: "Delivery", Name: "No record of this delivery", ID: id,
			Advice: []string{"No delivery has this id, or its record has expired: records are kept for 30 days after their " +
				"last change, and the stack may keep fewer of acknowledged ones. A dead letter is kept for longer."},
			Links: []parts.Cell{s.site.LetterLink(id)}}}, nil
	case err != nil:
		return nil, err
	}
	d := answer.Fields
	e, err := stack.EndpointOf(ctx, s.Stack, d.TenantID, d.EndpointID)
	if err != nil {
		return nil, err
	}
	shown := detailOf(s.site.DeliveryPage(d, e), answer.JSON)
	shown.Final = strings.HasPrefix(id, "test_") // the record of a test is its end
	if s.LogCosts && q.Get(eachAttempt) == "" {
		again := s.site.Link("/delivery", "delivery_id", d.DeliveryID, eachAttempt, "1")
		shown.Head.Links = append(shown.Head.Links, parts.Cell{Text: "Each attempt, from the log", Link: again,
			Title: "AWS bills the bytes that it searches"})
		return shown, nil
	}
	s.addAttempts(ctx, shown.Timeline, d)
	return shown, nil
}

func deadLettersPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	of, err := s.letters(q)
	if err != nil {
		return nil, err
	}
	found, err := ask(ctx, s, api.ListDeadLetters, api.DeadLettersRequest{Page: pageOf(q), Selector: of})
	if err != nil {
		return nil, err
	}
	t := s.site.LetterList(q, found.Data).Or("No dead letter matches. A delivery dies when its schedule of ten " +
		"attempts, or its life of 7 days, ends. Its letter is kept here, sealed, for 90 days.")
	q = fixed(q, of)
	t.Then(s.nextPage("/dead", q, found.NextCursor))
	again := of.Status != string(deadletter.Replayed) // whether a replay sends any of it
	return list{Table: t, Times: s.times(of, usage.Died), Fixed: q, More: again}, nil
}

func letterPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	answer, err := stack.Ask(ctx, s.Stack, api.OpenDeadLetter, api.DeliveryRequest{DeliveryID: q.Get("delivery_id")})
	if err != nil {
		return nil, err
	}
	l := answer.Fields
	e, err := stack.EndpointOf(ctx, s.Stack, l.TenantID, l.EndpointID)
	shown := detailOf(s.site.LetterPage(l, e), answer.JSON)
	shown.More = l.Body
	return shown, err
}

func jobsPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	of := api.JobsRequest{Page: pageOf(q), State: job.State(q.Get("state"))}
	found, err := ask(ctx, s, api.ListJobs, of)
	if err != nil {
		return nil, err
	}
	t := s.site.JobList(q, found.Data).Or("No job matches. A replay, a purge or a publish of a whole selection is " +
		"a job. It is kept for 90 days.")
	return list{Table: t.Then(s.nextPage("/jobs", q, found.NextCursor))}, nil
}
