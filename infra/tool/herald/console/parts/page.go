package parts

import (
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Page describes one thing in sections. The console and the command line both show it, so that they show the same.
type Page struct {
	Head     *Head
	Facts    []Fact
	Timeline *Timeline
	Lists    []Section
}

// Fact is a property of the thing that a page is about.
type Fact struct{ Name, Text string }

// facts collects those that have a value.
type facts []Fact

func (f *facts) add(name string, v any) {
	if shown := answers.Shown(v); shown != answers.Nothing && shown != "" {
		*f = append(*f, Fact{name, shown})
	}
}

// at adds a time.
func (f *facts) at(s Site, name string, at time.Time) {
	if !at.IsZero() {
		f.add(name, s.At(at).Told())
	}
}

// Told is a time with its distance, so that no reader has to reckon.
func (c Cell) Told() string {
	if strings.HasSuffix(c.Text, "UTC") { // it is too far away to have a distance
		return c.Title
	}
	return c.Title + " (" + c.Text + ")"
}

// EndpointPage describes an endpoint.
func (s Site) EndpointPage(e api.Endpoint, its stack.Troubles) Page {
	return Page{
		Head: s.EndpointHead(e, its.CanReplay()), Facts: s.endpointFacts(e), Timeline: s.EndpointTimeline(e),
		Lists: s.troubleLists(e, its),
	}
}

func (s Site) endpointFacts(e api.Endpoint) []Fact {
	var f facts
	f.add("status set by its owner", e.Status)
	f.add("subscribes to", e.Events)
	if o := e.OAuth2; o != nil {
		f.add("gets tokens from", o.TokenURL)
		f.add("as the client", o.ClientID+" ("+string(o.Method)+")")
		f.add("for the scope", o.Scope)
		f.add("and the audience", o.Audience)
	}
	if e.TenantPaused {
		f.add("its tenant", "all of its endpoints are paused")
	}
	if e.Health.Failures > 0 || e.Health.LastReason != "" {
		f.add("last failure", lastAnswer(e.Health.LastStatus, e.Health.LastReason))
	}
	f.add("limited by", e.LimitedBy)
	f.at(s, "limited since", e.LimitedAt)
	f.add("reason of the limit", e.LimitReason)
	if w := e.Waiting; w.Count > 0 {
		f.add("waits for the endpoint itself", next.Number(w.Held, "delivery", "deliveries"))
	}
	f.at(s, "the oldest that waits began", e.Waiting.OldestCreatedAt)
	return f
}

// lastAnswer is what the last attempt met. Without a response, it says so.
func lastAnswer(status int, reason delivery.Reason) string {
	if reason == delivery.ReasonTokenRefused || reason == delivery.ReasonTokenUnreachable {
		return "no token: " + string(reason)
	}
	if status == 0 {
		return strings.TrimSuffix("no answer: "+string(reason), ": ")
	}
	return answered(status, reason)
}

// troubleLists are the lists about an endpoint. They lead on to all.
func (s Site) troubleLists(e api.Endpoint, its stack.Troubles) []Section {
	known := map[string][]string{"endpoint_id": {"known"}, "tenant_id": {"known"}}
	waiting := s.DeliveryList(known, its.Open.Data).
		Or("Every delivery was acknowledged, or has its dead letter below.")
	died := s.LetterList(known, its.Dead.Data).
		Or("None. A delivery dies when its schedule, or its life of 7 days, ends.")
	died.Tick = ""
	if its.Open.NextCursor != nil {
		waiting.Then(s.Link("/deliveries", "endpoint_id", e.EndpointID, "tenant_id", e.TenantID))
	}
	if its.Dead.NextCursor != nil {
		died.Then(s.Link("/dead", "endpoint_id", e.EndpointID, "tenant_id", e.TenantID))
	}
	return []Section{{Title: "Not acknowledged", List: waiting}, {Title: "Dead letters", List: died}}
}

// DeliveryPage describes a delivery. e is its endpoint, nil where it is not known.
func (s Site) DeliveryPage(d api.Delivery, e *api.Endpoint) Page {
	return Page{Head: s.DeliveryHead(d, e), Facts: s.deliveryFacts(d), Timeline: s.DeliveryTimeline(d, e)}
}

func (s Site) deliveryFacts(d api.Delivery) []Fact {
	var f facts
	f.add("endpoint", d.EndpointID)
	f.add("attempts in this life", Grouped(d.Attempts))
	if d.Attempts > 0 {
		f.add("last attempt", lastAnswer(d.LastStatus, d.Reason))
	}
	if d.DurationMS > 0 {
		f.add("it took", Grouped(int(d.DurationMS))+" ms")
	}
	if d.Replay > 0 {
		f.add("sent again by operators", Grouped(d.Replay)+" times")
	}
	f.add("trace", d.TraceID)
	f.at(s, "last change", d.UpdatedAt)
	return f
}

// JobPage describes a job. e is the endpoint of its selection, nil where it has none or it is not known.
func (s Site) JobPage(j stack.Job, e *api.Endpoint) Page {
	page := Page{Head: s.JobHead(j.Fields, e), Facts: s.jobFacts(j), Timeline: s.JobTimeline(j.Fields)}
	if failures := j.Failures; failures != nil && len(failures.Data) > 0 {
		page.Lists = []Section{{Title: "What it could not do", List: s.failureList(j.Fields.Act, failures.Data)}}
	}
	return page
}

func (s Site) jobFacts(j stack.Job) []Fact {
	var f facts
	of := j.Fields
	f.add("selects", InWords(of.Selector))
	f.add("selected", Grouped(of.Selected))
	f.add("done", Grouped(of.Done))
	f.add("refused", answers.Reasons(of.Refused))
	f.add("failed", answers.Reasons(of.Failed))
	f.add("left", Grouped(of.Left))
	if o := j.Outcome; o != nil {
		f.add("outcome", outcomeWords(*o))
	}
	f.at(s, "last change", of.UpdatedAt)
	return f
}

func outcomeWords(o stack.Outcome) string {
	words := Grouped(o.Sent) + " sent, " + Grouped(o.Delivered) + " delivered, " + Grouped(o.DeadAgain) + " dead again, " +
		Grouped(o.UnderWay) + " under way" + o.HeldWords()
	if o.Discarded > 0 {
		words += ", " + Grouped(o.Discarded) + " discarded"
	}
	if o.Unknown > 0 {
		words += ", " + Grouped(o.Unknown) + " unknown, since their records have expired"
	}
	if o.More {
		words += "; these are the first " + Grouped(o.Sent)
	}
	return words
}

// failureList are the ids that a job did not act on. Those of dead letters lead to their pages.
func (s Site) failureList(act job.Act, failures []api.JobFailure) *Table {
	type row = api.JobFailure
	path := "/letter"
	if act.OnEvents() {
		path = ""
	}
	return NewTable(nil, failures,
		IDs(s, "id", path, "delivery_id", func(f row) string { return f.ID }),
		Text("result", "", "", func(f row) any { return f.Result }),
		Text("reason", "", "", func(f row) any { return f.Reason }))
}
