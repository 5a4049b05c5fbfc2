package parts

import (
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
	Function string // that it invokes
	Warning  string
}

// Field is a hidden field of a form.
type Field struct{ Name, Value string }

// Controls are the acts of control that have a button. Discarding is left to the command line.
var Controls = map[string]struct{ Label, Done string }{
	next.Pause: {"Pause", "paused"}, next.Resume: {"Resume", "resumed"}, next.Release: {"Send what waits…", "releasing"},
	next.Test: {"Send a test", "a test was sent"}, next.ResumeTenant: {"Resume the tenant…", "the tenant was resumed"},
}

// ResumeJob is the name of an act. Its button is on the page of a job that was stopped.
const ResumeJob = "resume_job"

// buttons are those of the steps for an endpoint.
func (s Site) buttons(steps []next.Step, e answers.Row) []Button {
	tenant, id := answers.Text(e, "tenant_id"), answers.Text(e, "endpoint_id")
	var all []Button
	for _, step := range steps {
		b := Button{Warning: step.Warning, Function: "control", Action: s.Base + "/control/" + step.Act,
			Label: Controls[step.Act].Label, Fields: []Field{{"tenant_id", tenant}, {"endpoint_id", id}}}
		switch step.Act {
		case next.Replay:
			b = Button{Label: "Replay its dead letters…", Function: "replay", Warning: step.Warning,
				Link: s.Link("/confirm", "act", "replay", "endpoint_id", id)}
		case next.Purge:
			b = Button{Label: "Purge its dead letters…", Function: "replaydelete", Warning: step.Warning,
				Link: s.Link("/confirm", "act", "purge", "endpoint_id", id)}
		case next.Release, next.ResumeTenant:
			b.Action, b.Link = "", s.Link("/confirm", "act", step.Act, "tenant_id", tenant, "endpoint_id", id)
		}
		all = append(all, b)
	}
	return all
}

// states explain the states of endpoints, and say who has to act.
var states = map[string]string{
	"failing":  "The last attempts failed; everything is still attempted on schedule. Tell its owner.",
	"flapping": "Some attempts succeed and some fail. Tell its owner.",
	"open": "Only probes are sent; all other deliveries are held, and sent by themselves once a probe succeeds. " +
		"Tell its owner.",
	"recovering": "It answered: what waits is sent, more with each minute.",
	paced:        "It gets as many deliveries a second as its limit lets through; the others wait, which is no trouble.",
	"paused":     "An operator stopped it. Deliveries are held.",
	"disabled":   "Its owner disabled it. Deliveries are held until the owner sets it active.",
	"deleted":    "Its owner deleted it. What waits is discarded, unless the owner restores it.",
	"unreadable": "Its row in the table Endpoints is broken, and so its deliveries die. Repair the row.",
}

// EndpointHead leads the page of an endpoint.
func (s Site) EndpointHead(e answers.Row, dead bool) *Head {
	in := next.SituationOf(answers.Typed[api.Endpoint](e), dead)
	h := &Head{
		Kind: "Endpoint", Name: NameOf(e), ID: answers.Text(e, "endpoint_id"), Tenant: answers.Text(e, "tenant_id"),
		Where: answers.Text(e, "url"), State: string(in.State), Class: colour(string(in.State)),
		Since:   s.At(answers.At(e, "health.since")),
		Buttons: s.buttons(next.Of(in), e),
	}
	if means := states[string(in.State)]; means != "" {
		h.Advice = append(h.Advice, means)
	}
	h.Why = s.why(e)
	return h
}

// why are the reasons of an endpoint's state, in few words each.
func (s Site) why(e answers.Row) (why []string) {
	health := e["health"]
	add := func(there bool, parts ...string) {
		if there {
			why = append(why, strings.Join(parts, " "))
		}
	}
	has := func(path string) bool { return answers.At(e, path) != nil && answers.At(e, path) != "" }
	failing := answers.Number(health, "failures") > 0
	add(has("health.paused_by"), "paused by", Text(health, "paused_by"))
	add(has("health.pause_reason"), "reason:", Text(health, "pause_reason"))
	add(failing, Grouped(answers.Number(health, "failures")), "failures in a row, the last:",
		answered(health, "last_reason"))
	if limit := answers.Number(e, "effective_rate_limit"); limit > 0 {
		add(true, "at most", Grouped(limit), "a second, by", strings.Join(limiters(e), " and "))
	}
	add(has("health.recent"), share(answers.At(e, "health.recent")), "attempts of ten minutes succeeded")
	add(answers.Number(e, "waiting.count") > 0, waitingWords(e), "kept until",
		s.At(answers.At(e, "waiting.kept_until")).Title+" at least")
	add(has("health.next_probe_at"), "the next probe", s.At(answers.At(e, "health.next_probe_at")).Text)
	add(has("health.note"), Text(health, "note"))
	return why
}

// limiters are those who set a limit of deliveries a second.
func limiters(e answers.Row) (who []string) {
	if limit := answers.Number(e, "rate_limit"); limit > 0 {
		who = append(who, "its owner ("+Grouped(limit)+")")
	}
	if limit := answers.Number(e, "operator_rate_limit"); limit > 0 {
		who = append(who, "an operator ("+Grouped(limit)+")")
	}
	return who
}

func waitingWords(e answers.Row) string {
	n := int(answers.Number(e, "waiting.count"))
	words := next.Number(n, "delivery waits,", "deliveries wait,")
	if answers.At(e, "waiting.more") == true {
		return "more than " + words
	}
	return words
}
