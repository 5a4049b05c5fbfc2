package console

import (
	"cmp"
	"strings"

	"github.com/herald-webhooks/herald/infra/herald/answers"
	"github.com/herald-webhooks/herald/infra/herald/next"
	"github.com/herald-webhooks/herald/infra/herald/stack"
)

// whose names the endpoint of a delivery, which may be known by its id alone.
func whose(d, e answers.Row) string {
	if e == nil {
		return cmp.Or(answers.Text(d, "description"), answers.Text(d, "host"), answers.Text(d, "endpoint_id"), "no endpoint")
	}
	return nameOf(e)
}

// aboutEndpoint adds the state of its endpoint to the head of a delivery.
func (h *head) aboutEndpoint(s *Server, e answers.Row) {
	if e == nil {
		return
	}
	h.Links = append(h.Links, cell{Text: "Its endpoint", Link: s.endpointLink(e)})
	if state := text(e, "health.state"); state != "healthy" {
		h.Why = append(h.Why, "its endpoint is "+state)
	}
}

func (s *Server) letterLink(id string) cell {
	return cell{Text: "Open its dead letter", Link: s.base + link("/letter", "delivery_id", id),
		Title: "body, headers and deaths; this is logged"}
}

// deliveryHead leads the page of a delivery.
func (s *Server) deliveryHead(d, e answers.Row) *head {
	h := &head{
		Kind: "Delivery", Name: text(d, "event_type") + " to " + whose(d, e), ID: answers.Text(d, "delivery_id"),
		Tenant: answers.Text(d, "tenant_id"), Where: "event " + text(d, "event_id"), State: stateOf(d),
		Since: s.at(d["updated_at"]),
	}
	h.Class = colour(h.State)
	if told := answered(d, "reason"); told != "–" {
		h.Why = append(h.Why, told)
	}
	h.aboutEndpoint(s, e)
	if trace := answers.Text(d, "trace_id"); trace != "" {
		h.Why = append(h.Why, "trace "+trace)
	}
	if strings.HasPrefix(h.ID, "test_") {
		h.Advice = append(h.Advice, "This is a test: it is sent once, never again, and leaves no dead letter.")
	}
	switch h.State {
	case "dead":
		h.Buttons = append(h.Buttons, s.replayOne(h.ID, e))
		h.Links = append(h.Links, s.letterLink(h.ID))
	case "waiting":
		h.Advice = append(h.Advice, states[text(e, "health.state")])
	}
	return h
}

// replayOne sends one delivery again, with a warning where it would wait.
func (s *Server) replayOne(id string, e answers.Row) button {
	b := button{Label: "Replay", Action: s.base + "/replay", Function: "replay", Fields: []field{{"delivery_id", id}}}
	if e != nil {
		b.Warning = next.SituationOf(e, true).ReplayWarning(next.Replay)
	}
	return b
}

// letterHead leads the page of a dead letter.
func (s *Server) letterHead(l, e answers.Row) *head {
	h := &head{
		Kind: "Dead letter", Name: text(l, "event_type") + " to " + whose(l, e), ID: answers.Text(l, "delivery_id"),
		Tenant: answers.Text(l, "tenant_id"), Where: "event " + text(l, "event_id"), State: text(l, "status"),
		Since: s.at(l["died_at"]), Why: []string{answered(l, "reason")},
		Links: []cell{{Text: "Its delivery", Link: s.base + link("/delivery", "delivery_id", l["delivery_id"])}},
	}
	h.Class = colour(h.State)
	h.aboutEndpoint(s, e)
	if h.State != "replayed" {
		h.Buttons = append(h.Buttons, s.replayOne(h.ID, e))
	}
	h.Buttons = append(h.Buttons, button{Label: "Purge…", Function: stack.Deleting,
		Link: s.base + link("/confirm", "act", "purge", "delivery_id", h.ID)})
	return h
}

// did are the acts of jobs in words.
var did = map[string]string{"replay": "Replay of", "purge": "Purge of", "publish": "Publish again"}

// jobHead leads the page of a job.
func (s *Server) jobHead(j answers.Row) *head {
	about := " dead letters: "
	if text(j, "act") == "publish" {
		about = " rejected events: "
	}
	h := &head{
		Kind: "Job", Name: cmp.Or(did[text(j, "act")], text(j, "act")) + about + ofJob(j),
		ID: answers.Text(j, "job_id"), State: text(j, "state"), Class: colour(text(j, "state")),
		Since: s.at(j["updated_at"]), Why: []string{"started by " + text(j, "operator")}, Advice: stack.Advice(j),
	}
	if id := answers.At(j, "selector.endpoint_id"); id != nil && id != "" {
		path := link("/endpoint", "endpoint_id", id, "tenant_id", answers.At(j, "selector.tenant_id"))
		h.Links = append(h.Links, cell{Text: "Its endpoint", Link: s.base + path})
	}
	switch h.State {
	case "running":
		h.Buttons = append(h.Buttons, button{Label: "Stop", Function: "replay", Action: s.base + "/job/stop",
			Fields: []field{{"job_id", h.ID}}})
	case "stopped":
		h.Buttons = append(h.Buttons, button{Label: "Go on…", Function: "replay",
			Link: s.base + link("/confirm", "act", resumeJob, "job_id", h.ID)})
	}
	return h
}
