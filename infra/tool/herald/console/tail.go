package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/follow"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// tailed is the page of attempts as they are made.
type tailed struct {
	follow.State

	About        string
	Since, Until parts.Cell
	Price        string // of a minute, and of what was followed
	Ended        string
	Button       parts.Button // that begins it, or ends it
	List         *parts.Table
}

// A page that follows asks for more by itself, until it has ended.
func (t tailed) final() bool { return !t.Running }

// followed are the attempts of an address or a form.
func followed(q url.Values) stack.Tailed {
	return stack.Tailed{TenantID: q.Get("tenant_id"), EndpointID: q.Get("endpoint_id")}
}

// fields are those of an address or a form.
func fields(of stack.Tailed) []parts.Field {
	return []parts.Field{{Name: "tenant_id", Value: of.TenantID}, {Name: "endpoint_id", Value: of.EndpointID}}
}

// whose says whose attempts they are.
func whose(of stack.Tailed) string {
	switch {
	case of.EndpointID != "":
		return "attempts to " + answers.Shown(of.EndpointID)
	case of.TenantID != "":
		return "attempts of " + answers.Shown(of.TenantID)
	}
	return "all attempts"
}

// tailPage shows what is followed, or what was. To look at it begins nothing.
func tailPage(_ context.Context, s *Server, q url.Values) (any, error) {
	of := followed(q)
	if err := of.Check(); err != nil {
		return nil, err
	}
	now := s.tail.Look()
	page := tailed{State: now, Price: s.price(now)}
	if now.Running {
		of = now.Of
		page.Button = parts.Button{Label: "End it", Action: s.site.Base + "/tail/stop"}
	} else {
		page.Button = parts.Button{Label: "Follow " + whose(of), Action: s.site.Base + "/tail/start", Fields: fields(of)}
	}
	page.About = whose(of)
	page.Since, page.Until = s.site.At(now.Begun), s.site.At(now.Ends)
	if now.Why != nil && !now.Running {
		page.Ended = fmt.Sprintf("Following %s has ended: %v.", whose(now.Of), now.Why)
	}
	known := url.Values{"tenant_id": {now.Of.TenantID}, "endpoint_id": {now.Of.EndpointID}}
	page.List = s.site.AttemptList(known, now.Attempts).Or("No attempt yet.")
	return page, nil
}

// price says what it costs to follow the log.
func (s *Server) price(now follow.State) string {
	if !s.LogCosts {
		return "On the local stack this costs nothing."
	}
	text := fmt.Sprintf("AWS charges $%.2f for each minute begun of Live Tail, in us-east-1. The first 1,800 minutes "+
		"of a month are free.", stack.TailPrice)
	if now.AllOfThem > 0 {
		text += fmt.Sprintf(" This console has followed for %s: $%.2f.",
			next.Number(now.AllOfThem, "minute", "minutes"), float64(now.AllOfThem)*stack.TailPrice)
	}
	return text
}

// startTail begins to follow.
func startTail(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	of := followed(form)
	back = parts.Link("/tail", "tenant_id", of.TenantID, "endpoint_id", of.EndpointID)
	return "", back, s.tail.Start(ctx, of)
}

// stopTail ends what is followed.
func stopTail(_ context.Context, s *Server, _ url.Values) (done, back string, err error) {
	of := s.tail.Look().Of
	s.tail.Stop()
	return "", parts.Link("/tail", "tenant_id", of.TenantID, "endpoint_id", of.EndpointID), nil
}

// seen answers a page that tells that it is open, also while it is not asked again.
func (s *Server) seen(w http.ResponseWriter, _ *http.Request) {
	s.tail.Look()
	w.WriteHeader(http.StatusNoContent)
}

// Close ends what costs by the minute.
func (s *Server) Close() { s.tail.Close() }
