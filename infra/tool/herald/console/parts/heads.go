package parts

import (
	"cmp"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// whose names the endpoint of a delivery, which may be known by its id alone.
func whose(d, e answers.Row) string {
	if e == nil {
		return cmp.Or(answers.Text(d, "description"), answers.Text(d, "host"), answers.Text(d, "endpoint_id"), "no endpoint")
	}
	return NameOf(e)
}

// aboutEndpoint adds the state of its endpoint to the head of a delivery.
func (h *Head) aboutEndpoint(s Site, e answers.Row) {
	if e == nil {
		return
	}
	h.Links = append(h.Links, Cell{Text: "Its endpoint", Link: s.EndpointLink(e)})
	if state := Text(e, "health.state"); state != "healthy" {
		h.Why = append(h.Why, "its endpoint is "+state)
	}
}

// LetterLink leads to the dead letter of a delivery.
func (s Site) LetterLink(id string) Cell {
	return Cell{Text: "Open its dead letter", Link: s.Link("/letter", "delivery_id", id),
		Title: "body, headers and deaths; this is logged"}
}

// DeliveryHead leads the page of a delivery.
func (s Site) DeliveryHead(d, e answers.Row) *Head {
	h := &Head{
		Kind: "Delivery", Name: Text(d, "event_type") + " to " + whose(d, e), ID: answers.Text(d, "delivery_id"),
		Tenant: answers.Text(d, "tenant_id"), Where: "event " + Text(d, "event_id"), State: stateOf(d),
		Since: s.At(d["updated_at"]),
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
		h.Links = append(h.Links, s.LetterLink(h.ID))
	case "waiting":
		h.Advice = append(h.Advice, states[Text(e, "health.state")])
	}
	return h
}

// replayOne sends one delivery again, with a warning where it would wait.
func (s Site) replayOne(id string, e answers.Row) Button {
	b := Button{Label: "Replay", Action: s.Base + "/replay", Function: "replay", Fields: []Field{{"delivery_id", id}}}
	if e != nil {
		b.Warning = next.SituationOf(answers.Typed[api.Endpoint](e), true).ReplayWarning(next.Replay)
	}
	return b
}

// LetterHead leads the page of a dead letter.
func (s Site) LetterHead(l, e answers.Row) *Head {
	h := &Head{
		Kind: "Dead letter", Name: Text(l, "event_type") + " to " + whose(l, e), ID: answers.Text(l, "delivery_id"),
		Tenant: answers.Text(l, "tenant_id"), Where: "event " + Text(l, "event_id"), State: Text(l, "status"),
		Since: s.At(l["died_at"]), Why: []string{answered(l, "reason")},
		Links: []Cell{{Text: "Its delivery", Link: s.Link("/delivery", "delivery_id", l["delivery_id"])}},
	}
	h.Class = colour(h.State)
	h.aboutEndpoint(s, e)
	if h.State != "replayed" {
		h.Buttons = append(h.Buttons, s.replayOne(h.ID, e))
	}
	h.Buttons = append(h.Buttons, Button{Label: "Purge…", Function: stack.Deleting,
		Link: s.Link("/confirm", "act", "purge", "delivery_id", h.ID)})
	return h
}

// did are the acts of jobs in words.
var did = map[string]string{"replay": "Replay of", "purge": "Purge of", "publish": "Publish again"}

// JobHead leads the page of a job.
func (s Site) JobHead(j answers.Row) *Head {
	about := " dead letters: "
	if Text(j, "act") == "publish" {
		about = " rejected events: "
	}
	h := &Head{
		Kind: "Job", Name: cmp.Or(did[Text(j, "act")], Text(j, "act")) + about + SelectionOf(j),
		ID: answers.Text(j, "job_id"), State: Text(j, "state"), Class: colour(Text(j, "state")),
		Since: s.At(j["updated_at"]), Why: []string{"started by " + Text(j, "operator")},
		Advice: stack.Advice(answers.Typed[api.Job](j)),
	}
	if id := answers.At(j, "selector.endpoint_id"); id != nil && id != "" {
		path := Link("/endpoint", "endpoint_id", id, "tenant_id", answers.At(j, "selector.tenant_id"))
		h.Links = append(h.Links, Cell{Text: "Its endpoint", Link: s.Base + path})
	}
	switch h.State {
	case "running":
		h.Buttons = append(h.Buttons, Button{Label: "Stop", Function: "replay", Action: s.Base + "/job/stop",
			Fields: []Field{{"job_id", h.ID}}})
	case "stopped":
		h.Buttons = append(h.Buttons, Button{Label: "Go on…", Function: "replay",
			Link: s.Link("/confirm", "act", ResumeJob, "job_id", h.ID)})
	}
	return h
}
