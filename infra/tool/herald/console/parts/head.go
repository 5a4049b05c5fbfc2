package parts

import (
	"maps"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// Head leads a page about one thing: its identity, its state with the reasons, and the acts that make sense now.
type Head struct {
	Kind, Name string
	ID         string // to be copied
	Tenant     string
	Where      string // its host, event type or selection
	State      string
	Class      string // the colour of the state
	Since      Cell
	Why        []string
	Said       []string // by its owner, who may write anything: nothing of it is a link
	Buttons    []Button
	Advice     []string
	Links      []Cell
}

// Button is an act that makes sense now: a form that acts, or a link to its question.
type Button struct {
	Label    string
	Action   string // of a form, "" for a link
	Link     string
	Fields   []Field
	Inputs   []Input      // of a form, to be filled in
	Function api.Function // that it invokes
	Warning  string
}

// Field is a hidden field of a form.
type Field struct{ Name, Value string }

// Input is a field of a form that is filled in: a text, or a number up to Most.
type Input struct {
	Name, Label string
	Least, Most int
	Optional    bool
}

// Controls are the acts of control that have a button. Discarding is left to the command line.
var Controls = map[string]struct{ Label, Done string }{
	next.Pause: {"Pause", "paused"}, next.Resume: {"Resume", "resumed"}, next.Release: {"Send what waits…", "releasing"},
	next.Test: {"Send a test", "a test was sent"}, next.ResumeTenant: {"Resume the tenant…", "the tenant was resumed"},
}

// ResumeJob is the name of an act. Its button is on the page of a job that was stopped.
const ResumeJob = "resume_job"

// buttons are those of the steps for an endpoint.
func (s Site) buttons(steps []next.Step, e api.Endpoint) []Button {
	tenant, id := e.TenantID, e.EndpointID
	var all []Button
	for _, step := range steps {
		b := Button{Warning: step.Warning, Function: api.Control, Action: s.Base + "/control/" + step.Act,
			Label: Controls[step.Act].Label, Fields: []Field{{"tenant_id", tenant}, {"endpoint_id", id}}}
		switch step.Act {
		case next.Replay:
			b = Button{Label: "Replay its dead letters…", Function: api.Replay, Warning: step.Warning,
				Link: s.Link("/confirm", "act", step.Act, "endpoint_id", id)}
		case next.Purge:
			b = Button{Label: "Purge its dead letters…", Function: api.ReplayForGood, Warning: step.Warning,
				Link: s.Link("/confirm", "act", step.Act, "endpoint_id", id)}
		case next.Release, next.ResumeTenant:
			b.Action, b.Link = "", s.Link("/confirm", "act", step.Act, "tenant_id", tenant, "endpoint_id", id)
		}
		all = append(all, b)
	}
	return all
}

// EndpointHead leads the page of an endpoint. dead says whether it has dead letters to replay.
func (s Site) EndpointHead(e api.Endpoint, dead bool) *Head {
	state := e.Health.State
	h := &Head{
		Kind: "Endpoint", Name: Named(e).Name(), ID: e.EndpointID, Tenant: e.TenantID, Where: e.URL,
		State: string(state), Class: colour(endpointColours, state), Since: s.At(e.Health.Since),
		Buttons: s.buttons(next.Of(next.SituationOf(e, dead)), e), Why: s.why(e), Said: words(e),
		Links: s.attempts(e.TenantID, e.EndpointID),
	}
	if text := means[state]; text != "" {
		h.Advice = append(h.Advice, text)
	}
	return h
}

// attempts lead to the attempts of a tenant, or of one of its endpoints.
func (s Site) attempts(tenantID, endpointID string) []Cell {
	return []Cell{
		{Text: "Its attempts as they are made", Link: s.Link("/tail", "tenant_id", tenantID, "endpoint_id", endpointID)},
		{Text: "Its attempts by outcome", Link: s.Link("/chart", "tenant_id", tenantID, "endpoint_id", endpointID)},
	}
}

// words are the contact and the metadata of an endpoint.
func words(e api.Endpoint) (all []string) {
	if e.Contact != "" {
		all = append(all, "contact: "+e.Contact)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Metadata)) {
		all = append(all, name+": "+e.Metadata[name])
	}
	return all
}

// why are the reasons of an endpoint's state, in few words each.
func (s Site) why(e api.Endpoint) (why []string) {
	health := e.Health
	add := func(there bool, parts ...string) {
		if there {
			why = append(why, strings.Join(parts, " "))
		}
	}
	add(health.PausedBy != "", "paused by", health.PausedBy)
	add(health.PauseReason != "", "reason:", health.PauseReason)
	add(health.Failures > 0, Grouped(health.Failures), "failures in a row, the last:",
		answers.Shown(answered(health.LastStatus, health.LastReason)))
	if limit := given(e.EffectiveRateLimit); limit > 0 {
		add(true, "at most", Grouped(limit), "a second, by", strings.Join(limiters(e), " and "))
	}
	add(health.Recent != nil, share(health.Recent), "attempts in ten minutes succeeded")
	add(e.Waiting.Count > 0, waitingWords(e.Waiting), "kept until", s.At(e.Waiting.KeptUntil).Title+" at least")
	add(!health.NextProbeAt.IsZero(), "the next probe", s.At(health.NextProbeAt).Text)
	add(health.Note != "", health.Note)
	return why
}

// given is a limit, 0 where there is none.
func given(limit *int) int {
	if limit == nil {
		return 0
	}
	return *limit
}

// limiters are those who set a limit of deliveries a second.
func limiters(e api.Endpoint) (who []string) {
	if limit := given(e.RateLimit); limit > 0 {
		who = append(who, "its owner ("+Grouped(limit)+")")
	}
	if limit := given(e.OperatorRateLimit); limit > 0 {
		who = append(who, "an operator ("+Grouped(limit)+")")
	}
	return who
}

func waitingWords(w api.Waiting) string {
	words := next.Number(w.Count, "delivery waits,", "deliveries wait,")
	if w.More {
		return "more than " + words
	}
	return words
}
