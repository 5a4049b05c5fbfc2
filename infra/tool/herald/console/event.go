package console

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// whereabouts are the places where an event may be. Each says what was searched.
type whereabouts struct {
	EventID, TenantID string
	Places            []parts.Section

	Looks   choice   // where else to look
	Tenants []choice // that have dead letters of such an event, where none was given
	Acts    []choice // the questions that go on
}

// lookThrough is the field of an address that has the rejected events looked through, and nothing else: that hides them
// for a moment.
const lookThrough = "rejected"

// eventPage finds an event by its id: its dead letters and, with its tenant, deliveries that are not acknowledged.
func eventPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	w := whereabouts{EventID: q.Get("event_id"), TenantID: q.Get("tenant_id")}
	switch {
	case w.EventID == "":
		return w, nil
	case q.Get(lookThrough) != "":
		return s.withRejected(ctx, w)
	}
	if w.TenantID != "" {
		of := api.DeliveriesRequest{EventID: w.EventID, TenantID: w.TenantID}
		found, err := ask(ctx, s, api.ListDeliveries, of)
		if err != nil {
			return nil, err
		}
		w.Places = append(w.Places, parts.Section{
			Title: "Deliveries", Note: found.Note, List: s.site.DeliveryList(q, found.Data).Or("None."),
		})
	}
	letters, err := s.lettersOf(ctx, w.EventID, w.TenantID)
	if err != nil {
		return nil, err
	}
	w.Places = append(w.Places, letters.Section)
	w.Tenants = s.tenantsOf(w, letters.rows)
	if w.TenantID != "" && slices.ContainsFunc(letters.rows, dead) {
		w.Acts = append(w.Acts, choice{Text: "Replay what is dead of it…", Link: s.question(job.Replay, w)})
	}
	w.Looks = choice{
		Text: "Look through the rejected events",
		Link: s.site.Link("/event", "event_id", w.EventID, "tenant_id", w.TenantID, lookThrough, "1"),
	}
	return w, nil
}

// foundLetters are the dead letters of an event.
type foundLetters struct {
	parts.Section

	rows []api.DeadLetter
}

func (s *Server) lettersOf(ctx context.Context, eventID, tenantID string) (foundLetters, error) {
	found, err := stack.FindLetters(ctx, s.Stack, eventID, tenantID)
	if err != nil {
		return foundLetters{}, err
	}
	t := s.site.LetterList(url.Values{}, found.Data).Or("None.")
	t.Tick = "" // acts on all of them have buttons of their own
	if found.NextCursor != nil && tenantID != "" {
		t.Then(s.site.Link("/dead", "event_id", eventID, "tenant_id", tenantID, "cursor", *found.NextCursor))
	}
	return foundLetters{parts.Section{Title: "Dead letters", Note: found.Note, List: t}, found.Data}, nil
}

func dead(l api.DeadLetter) bool { return l.Status == deadletter.Dead }

// tenantsOf lead on to the tenants of letters, where the address has none: each tenant has its own events.
func (s *Server) tenantsOf(w whereabouts, letters []api.DeadLetter) (all []choice) {
	if w.TenantID != "" {
		return nil
	}
	for _, l := range letters {
		to := choice{Text: l.TenantID, Link: s.site.Link("/event", "event_id", w.EventID, "tenant_id", l.TenantID)}
		if l.TenantID != "" && !slices.Contains(all, to) {
			all = append(all, to)
		}
	}
	return all
}

// question is the address of the question about an act on all that an event has in one place.
func (s *Server) question(act job.Act, w whereabouts) string {
	return s.site.Link("/confirm", "act", string(act), "event_id", w.EventID, "tenant_id", w.TenantID)
}

// withRejected shows the rejected events under the event's id. No body is shown; the page of each opens it.
func (s *Server) withRejected(ctx context.Context, w whereabouts) (any, error) {
	found, err := stack.FindRejected(ctx, s.Stack, w.EventID, w.TenantID)
	if err != nil {
		return nil, err
	}
	t := parts.NewTable(url.Values{}, found.Data, s.rejectedColumns()...).Or("None.")
	t.Linked(parts.Each(found.Data, s.bodyOf))
	w.Places = []parts.Section{{Title: "Rejected events", Note: found.Note, List: t}}
	w.Looks = choice{
		Text: "Its deliveries and dead letters", Link: s.site.Link("/event", "event_id", w.EventID, "tenant_id", w.TenantID),
	}
	if slices.ContainsFunc(found.Data, stack.Rejected.Again) {
		w.Acts = append(w.Acts, choice{Text: "Publish it again…", Link: s.question(job.Publish, w)})
	}
	return w, nil
}

// bodyOf is the page that opens a rejected event. It is searched by the second in which it was sent: there may be more
// events than one page has.
func (s *Server) bodyOf(e stack.Rejected) string {
	sent := e.SentAt.Truncate(time.Second)
	return s.site.Link("/rejected", "message_id", e.MessageID, "since", exactly(sent),
		"until", exactly(sent.Add(time.Second)))
}
