package webhooks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

const maxEvents = 50

// fields are the checked values of a body. A field that the body does not have is nil.
type fields struct {
	url         *string // as it is stored
	events      []string
	unknown     bool // events have an entry that is refused, unless the endpoint has it already
	description *string
	headers     *[]endpoint.Header // none for null and {}
	oauth       *clientCredentials // without an OAuth for null
	rateLimit   *int               // 0 for null: none
	contact     *string
	metadata    *map[string]string // nil for {}
	status      *endpoint.Status
}

// readNew returns the fields of a new endpoint's body, which must have a URL and events. It takes an entry of events
// that the endpoint had before, even if the catalogue has since lost it.
func (h *Handler) readNew(body []byte, had ...string) (fields, error) {
	var in management.NewEndpoint
	if err := decode(body, &in); err != nil {
		return fields{}, err
	}
	var r reader
	r.require("/url", in.URL.Value)
	r.require("/events", in.Events.Value)
	f := h.check(management.EndpointChange{NewEndpoint: in}, &r, had)
	return f, r.problem()
}

// readChange returns the fields of a change's body. Entries of events that the endpoint had are taken.
func (h *Handler) readChange(body []byte, had ...string) (fields, error) {
	var in management.EndpointChange
	if err := decode(body, &in); err != nil {
		return fields{}, err
	}
	var r reader
	f := h.check(in, &r, had)
	return f, r.problem()
}

// check reads the given members. The reader has their faults.
func (h *Handler) check(in management.EndpointChange, r *reader, had []string) (f fields) {
	if in.URL.Value != nil {
		f.url = new(h.readURL(in.URL, r))
	}
	if in.Events.Value != nil {
		f.events, f.unknown = readEvents(in.Events, r, had)
	}
	if in.Description.Value != nil {
		f.description = new(readText(in.Description, "/description", r))
	}
	if in.Headers.Value != nil {
		f.headers = new(readHeaders(in.Headers, r))
	}
	if in.OAuth2.Value != nil {
		f.oauth = new(h.readOAuth(in.OAuth2, r))
	}
	if f.authorizesTwice(endpoint.Endpoint{}) {
		r.refuse(oauthPointer, twoAuthorizations)
	}
	if in.RateLimit.Value != nil {
		f.rateLimit = new(readRateLimit(in.RateLimit, r))
	}
	if in.Contact.Value != nil {
		f.contact = new(readText(in.Contact, "/contact", r))
	}
	if in.Metadata.Value != nil {
		f.metadata = new(readMetadata(in.Metadata, r))
	}
	if in.Status.Value != nil {
		f.status = new(readStatus(in.Status, r))
	}
	return f
}

// apply gives an endpoint the fields, except for those that have to be sealed.
func (f fields) apply(e *endpoint.Endpoint) {
	if f.url != nil {
		e.URL = *f.url
	}
	if f.events != nil {
		e.Events = f.events
	}
	if f.description != nil {
		e.Description = *f.description
	}
	if f.rateLimit != nil {
		e.RateLimit = *f.rateLimit
	}
	if f.contact != nil {
		e.About.Contact = *f.contact
	}
	if f.metadata != nil {
		e.About.Metadata = *f.metadata
	}
	if f.status != nil {
		e.Status = *f.status
	}
}

// orDefaults are the fields with those of a new endpoint where the body has none.
func (f fields) orDefaults() fields {
	if f.description == nil {
		f.description = new("")
	}
	if f.headers == nil {
		f.headers = new([]endpoint.Header(nil))
	}
	if f.oauth == nil {
		f.oauth = new(clientCredentials{})
	}
	if f.rateLimit == nil {
		f.rateLimit = new(0)
	}
	if f.contact == nil {
		f.contact = new("")
	}
	if f.metadata == nil {
		f.metadata = new(map[string]string(nil))
	}
	return f
}

// readURL returns a URL in the form in which it is stored, so that two spellings of one address are one. It
// resolves no name: the address behind a name is checked when deliver dials it.
func (h *Handler) readURL(v management.Member[string], r *reader) string {
	raw, ok := r.text(v.Value, "/url")
	if !ok {
		return ""
	}
	stored, err := h.URLs.Normalise(raw)
	if err != nil {
		r.refuse("/url", err.Error())
	}
	return stored
}

// readStatus reads active or disabled. A deletion by a status would hide behind a harmless change, and so has its
// method.
func readStatus(v management.Member[string], r *reader) endpoint.Status {
	text, ok := r.text(v.Value, "/status")
	s := endpoint.Status(text)
	if ok && s != endpoint.Active && s != endpoint.Disabled {
		r.refuse("/status", "must be active or disabled; to delete or restore an endpoint use its own operations")
	}
	return s
}

// shownPatterns bounds the patterns in a refusal: an import may have 500 entries, and an answer has to fit.
const shownPatterns = 8

// notSubscribable refuses an entry of events. It names the patterns, since similar ones are none (infra/docs/spec.md,
// "Subscription wildcards"), and the nearest events. Where a catalogue declares many patterns, it counts the rest.
func notSubscribable(name string, patterns []string) string {
	shown := patterns[:min(len(patterns), shownPatterns)]
	text := event.Unknown + listed + ", with the patterns " + strings.Join(shown, ", ")
	if rest := len(patterns) - len(shown); rest > 0 {
		text += fmt.Sprintf(" and %d others", rest)
	}
	return text + event.Suggestion(name, patterns[len(shown):]...)
}

const listed = "; GET /v1/event-types lists all"

// readEvents reads an array of names and patterns. One that is too long is refused unread. Entries that the endpoint
// had are taken; unknown is true if another one is refused for its name.
func readEvents(v management.Member[[]string], r *reader, had []string) (list []string, unknown bool) {
	const pointer = "/events"
	var values []jsontext.Value
	switch {
	case v.Kind() != '[' || json.Unmarshal(v.Value, &values) != nil:
		r.mistyped(pointer, "must be an array of strings")
		return nil, false
	case len(values) == 0:
		r.refuse(pointer, "must have at least one entry")
		return nil, false
	case len(values) > maxEvents:
		r.refuse(pointer, fmt.Sprintf("must have at most %d entries", maxEvents))
		return nil, false
	}
	for i, value := range values {
		at := fmt.Sprintf("%s/%d", pointer, i)
		name, ok := r.text(value, at)
		switch {
		case ok && !event.ValidPattern(name) && !slices.Contains(had, name):
			unknown = true
			r.refuse(at, notSubscribable(name, event.Patterns()))
		case ok && slices.Contains(list, name):
			r.refuse(at, "is a duplicate")
		}
		list = append(list, name)
	}
	return list, unknown
}

// readRateLimit returns an endpoint's limit, in deliveries a second. It returns 0 for null, which means no limit.
func readRateLimit(v management.Member[*int], r *reader) int {
	const pointer = "/rate_limit"
	bounds := fmt.Sprintf("must be an integer from %d to %d, or null", endpoint.MinRate, endpoint.MaxRate)
	if v.Kind() == 'n' {
		return 0
	}
	if v.Kind() != '0' {
		r.mistyped(pointer, bounds)
		return 0
	}
	rate, ok := wholeNumber(v.Value, endpoint.MinRate, endpoint.MaxRate)
	if !ok {
		r.refuse(pointer, bounds)
	}
	return rate
}
