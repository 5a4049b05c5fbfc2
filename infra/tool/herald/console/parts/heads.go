package parts

import (
	"cmp"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// whose is the endpoint of a delivery by its name.
func whose(e Endpoint) string { return cmp.Or(e.Name(), "no endpoint") }

// aboutEndpoint adds the state of its endpoint to the head of a delivery.
func (h *Head) aboutEndpoint(s Site, e *api.Endpoint) {
	if e == nil {
		return
	}
	h.Links = append(h.Links, Cell{Text: "Its endpoint", Link: s.EndpointLink(Named(*e))})
	if state := e.Health.State; state != api.StateHealthy {
		h.Why = append(h.Why, "its endpoint is "+answers.Shown(state))
	}
}

// LetterLink leads to the dead letter of a delivery.
func (s Site) LetterLink(id string) Cell {
	return Cell{Text: "Open its dead letter", Link: s.Link("/letter", "delivery_id", id),
		Title: "body, headers and deaths; this is logged"}
}

// DeliveryHead leads the page of a delivery. e is its endpoint, nil where it is not known.
func (s Site) DeliveryHead(d api.Delivery, e *api.Endpoint) *Head {
	of := Endpoint{ID: d.EndpointID}
	if e != nil {
		of = Named(*e)
	}
	state, class := standing(d)
	h := &Head{
		Kind: "Delivery", Name: answers.Shown(d.EventType) + " to " + whose(of), ID: d.DeliveryID, Tenant: d.TenantID,
		Where: "event " + answers.Shown(d.EventID), State: answers.Shown(state), Class: class, Since: s.At(d.UpdatedAt),
	}
	if told := answered(d.LastStatus, d.Reason); told != "" {
		h.Why = append(h.Why, told)
	}
	h.aboutEndpoint(s, e)
	if late := s.late(d); late > 0 {
		h.Why = append(h.Why, "its next attempt is late by "+Coarse(late))
		h.Advice = append(h.Advice, "Its queue is behind, or deliveries were stopped.")
	}
	if d.TraceID != "" {
		h.Why = append(h.Why, "trace "+d.TraceID)
	}
	if strings.HasPrefix(h.ID, "test_") {
		h.Advice = append(h.Advice, "This is a test. It is sent only once, and leaves no dead letter.")
	}
	switch {
	case d.State == delivery.Dead:
		h.Buttons = append(h.Buttons, s.replayOne(h.ID, e))
		h.Links = append(h.Links, s.LetterLink(h.ID))
	case d.State == delivery.Waiting && !waitsForItsRate(d) && e != nil:
		h.Advice = append(h.Advice, means[e.Health.State])
	}
	return h
}

// replayOne asks about sending one delivery again, with a warning where it would wait. Its list is found by the filter.
func (s Site) replayOne(id string, e *api.Endpoint, filter ...string) Button {
	of := append([]string{"act", next.Replay, "delivery_id", id}, filter...)
	b := Button{Label: "Replay…", Function: api.Replay, Link: s.Link("/confirm", of...)}
	if e != nil {
		b.Warning = next.SituationOf(*e, true).ReplayWarning(next.Replay)
	}
	return b
}

// LetterHead leads the page of a dead letter. e is its endpoint, nil where it is not known.
func (s Site) LetterHead(l api.DeadLetter, e *api.Endpoint) *Head {
	of := ofLetter(l)
	if e != nil {
		of = Named(*e)
	}
	h := &Head{
		Kind: "Dead letter", Name: answers.Shown(l.EventType) + " to " + whose(of), ID: l.DeliveryID, Tenant: l.TenantID,
		Where: "event " + answers.Shown(l.EventID), State: answers.Shown(l.Status),
		Class: colour(letterColours, l.Status), Since: s.At(l.DiedAt),
		Why:   []string{answers.Shown(answered(l.LastStatus, l.Reason))},
		Links: []Cell{{Text: "Its delivery", Link: s.Link("/delivery", "delivery_id", l.DeliveryID)}},
	}
	h.aboutEndpoint(s, e)
	if l.Status != deadletter.Replayed {
		h.Buttons = append(h.Buttons, s.replayOne(h.ID, e, listed(l)...))
	}
	purge := append([]string{"act", next.Purge, "delivery_id", h.ID}, listed(l)...)
	h.Buttons = append(h.Buttons, Button{
		Label: "Purge…", Function: api.ReplayForGood, Link: s.Link("/confirm", purge...),
	})
	return h
}

// listed is the filter of a list that has this letter and hardly another, as names and values.
func listed(l api.DeadLetter) []string {
	if l.DiedAt.IsZero() {
		return nil
	}
	exactly := func(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
	return []string{
		"tenant_id", l.TenantID, "endpoint_id", l.EndpointID, "status", string(l.Status),
		"since", exactly(l.DiedAt), "until", exactly(l.DiedAt.Add(time.Millisecond)),
	}
}

// did are the acts of jobs in words.
var did = map[job.Act]string{
	job.Replay:  "Replay of dead letters",
	job.Purge:   "Purge of dead letters",
	job.Publish: "Republishing of rejected events",
	job.Discard: "Discard of rejected events",
}

// JobHead leads the page of a job. e is the endpoint of its selection, nil where it has none or it is not known.
func (s Site) JobHead(j api.Job, e *api.Endpoint) *Head {
	h := &Head{
		Kind: "Job", Name: cmp.Or(did[j.Act], answers.Shown(j.Act)) + ": " + titled(j, e), ID: j.JobID,
		State: answers.Shown(j.State), Class: colour(jobColours, j.State), Since: s.At(j.UpdatedAt),
		Why: []string{"started by " + answers.Shown(j.Operator)}, Advice: stack.Advice(j),
	}
	if of := j.Selector; of.EndpointID != "" {
		h.Links = append(h.Links, Cell{
			Text: "Its endpoint", Link: s.EndpointLink(Endpoint{TenantID: of.TenantID, ID: of.EndpointID}),
		})
	}
	switch j.State {
	case job.Running:
		h.Buttons = append(h.Buttons, Button{Label: "Stop", Function: api.Replay, Action: s.Base + "/job/stop",
			Fields: []Field{{"job_id", h.ID}}})
	case job.Stopped:
		h.Buttons = append(h.Buttons, Button{Label: "Resume…", Function: api.Replay,
			Link: s.Link("/confirm", "act", ResumeJob, "job_id", h.ID)})
	case job.Done:
	}
	return h
}
