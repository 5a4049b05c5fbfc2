package console

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// form is the filter of a page, above what the page shows. It keeps what was given even if that was wrong, and has the
// fault beside its field.
type form struct {
	Path, Button string
	Inputs       []input
	Hidden       []parts.Field // filters that are set by clicks

	keeps   []string // the names of the filters that are set by clicks
	atFault bool     // it is there only where something was wrong: nothing has to be filled in before
}

// input is a field of a form. The first fault has the cursor.
type input struct {
	Name, Label, Hint string
	Required          bool
	Value, Fault      string
}

const (
	timeHint  = "2h, 7d, 22:00 here"
	untilHint = "likewise"
)

// The inputs that several forms have.
var (
	tenantInput   = input{Name: "tenant_id", Label: "Tenant"}
	endpointInput = input{Name: "endpoint_id", Label: "Endpoint", Hint: "id or TENANT/NAME"}
	eventInput    = input{Name: "event_id", Label: "Event id"}
	sinceInput    = input{Name: "published_since", Label: "Published since", Hint: timeHint}
	loggedInput   = input{Name: "endpoint_id", Label: "Endpoint", Hint: "its id"} // the log has no names
	untilInput    = input{Name: "published_until", Label: "Published until", Hint: untilHint}
)

// forms are the forms of pages, by the pages' paths.
var forms = map[string]form{
	"/endpoints": {Button: "Show", keeps: []string{"state"}, Inputs: []input{
		tenantInput, {Name: "host", Label: "Host"}, {Name: "description", Label: "Description"},
	}},
	"/tail":  {Button: "Choose", Inputs: []input{tenantInput, loggedInput}},
	"/chart": {Button: "Choose", keeps: []string{"span"}, Inputs: []input{tenantInput, loggedInput}},
	"/endpoint": {Button: "Show", atFault: true, Inputs: []input{
		{Name: "endpoint_id", Label: "Endpoint", Required: true}, tenantInput,
	}},
	"/tenant":      {Button: "Show", atFault: true, Inputs: []input{{Name: "tenant_id", Label: "Tenant", Required: true}}},
	"/subscribers": {Button: "Show", Inputs: []input{{Name: "event_type", Label: "Event type", Required: true}}},
	"/deliveries": {Button: "Find", Inputs: []input{
		tenantInput, eventInput, endpointInput, sinceInput, untilInput,
	}},
	"/event": {Button: "Find", Inputs: []input{
		{Name: "event_id", Label: "Event id", Required: true}, tenantInput,
	}},
	"/delivery": {Button: "Show", atFault: true, Inputs: []input{
		{Name: "delivery_id", Label: "Delivery", Required: true},
	}},
	"/letter": {Button: "Open", atFault: true, Inputs: []input{
		{Name: "delivery_id", Label: "Dead letter of the delivery", Required: true},
	}},
	"/job": {Button: "Show", atFault: true, Inputs: []input{{Name: "job_id", Label: "Job", Required: true}}},
	"/dead": {Button: "Show", keeps: []string{"status"}, Inputs: []input{
		tenantInput, endpointInput, eventInput, {Name: "reason", Label: "Reason"},
		{Name: "since", Label: "Died since", Hint: timeHint}, {Name: "until", Label: "Died until", Hint: untilHint},
		sinceInput, untilInput,
	}},
	"/rejected": {Button: "Show", Inputs: []input{
		tenantInput, {Name: "reason", Label: "Part of the reason"},
		{Name: "since", Label: "Sent since", Hint: timeHint}, {Name: "until", Label: "Sent until", Hint: untilHint},
	}},
	"/keys": {Button: "Show", Inputs: []input{{Name: "tenant_id", Label: "Tenant", Required: true}}},
}

// formAt is the form of a page with what its address has, nil where the page has no form.
func formAt(path string, q url.Values) *form {
	f, there := forms[path]
	if !there {
		return nil
	}
	f.Path = path
	f.Inputs = slices.Clone(f.Inputs)
	for n, in := range f.Inputs {
		f.Inputs[n].Value = q.Get(in.Name)
	}
	for _, name := range f.keeps {
		if value := q.Get(name); value != "" {
			f.Hidden = append(f.Hidden, parts.Field{Name: name, Value: value})
		}
	}
	return &f
}

// reject puts an error beside the field that is wrong. It reports false for an error that is about no field of the
// form. A wrong filter that was set by a click is left out, or the form would send it again.
func (f *form) reject(err error) bool {
	name, text := wrong(err)
	f.Hidden = slices.DeleteFunc(f.Hidden, func(h parts.Field) bool { return h.Name == name })
	at := slices.IndexFunc(f.Inputs, func(in input) bool { return in.Name == name })
	if at < 0 || name == "" {
		return false
	}
	f.Inputs[at].Fault = text
	return true
}

// wrong is the field that an error is about, with the fault in the words of pages. Both are empty for an error about
// no field.
func wrong(err error) (field, text string) {
	if fault, is := errors.AsType[*usage.Fault](err); is {
		return fault.Field, fault.Text
	}
	if refused, is := errors.AsType[*api.Refusal](err); is {
		return refused.Field, inWords(refused.Message)
	}
	return "", ""
}

// inWords is a refusal in the words of pages, which have no names of a request's fields.
func inWords(message string) string { return fieldWords.Replace(message) }

var fieldWords = strings.NewReplacer(
	"endpoint_id, event, event_id or trace_id", "an endpoint or the id of an event", "inspect endpoint", "the search",
	"published_since", "when it was published", "published_until", "when it was published",
	"tenant_id", "the tenant", "endpoint_id", "the endpoint", "event_id", "the event's id", "event_type", "the type",
	"message_ids", "the events", "message_id", "the event", "delivery_ids", "the deliveries",
	"delivery_id", "the delivery", "job_id", "the job", "next_cursor", "page",
)
