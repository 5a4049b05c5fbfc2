package stack

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// Rejected is a rejected event with what its body and its reason tell.
type Rejected struct {
	api.RejectedEvent

	Tenant, Type any    // nil where the body has none; a publisher may have written anything
	Fault        string // the reason, shortened
	Valid        string // "no" where it would be rejected again, "yes" where it may not be, "" where that is unknown
}

// DescribeRejected reads the body and the reason of a rejected event.
func DescribeRejected(e api.RejectedEvent) Rejected {
	r := Rejected{RejectedEvent: e}
	if e.Body == nil && e.TenantID+e.EventType != "" { // a search shows no bodies
		r.Tenant, r.Type = e.TenantID, e.EventType
	}
	var body struct {
		TenantID any `json:"tenant_id"`
		Type     any `json:"type"`
	}
	if e.Body != nil && json.Unmarshal([]byte(*e.Body), &body) == nil { // a body may be no event at all
		r.Tenant, r.Type = body.TenantID, body.Type
	}
	fault := strings.TrimPrefix(e.Reason, event.InvalidEvent)
	fault, near, suggests := strings.Cut(fault, event.Nearest)
	if suggests {
		near, _, _ = strings.Cut(near, " ")
		fault += ", nearest: " + strings.TrimRight(near, ",?")
	}
	r.Fault = fault
	switch {
	case r.Again():
		r.Valid = "yes"
	case r.Invalid():
		r.Valid = "no"
	}
	return r
}

// Invalid reports whether the event breaks a rule, and would be rejected again.
func (r Rejected) Invalid() bool { return strings.HasPrefix(r.Reason, event.InvalidEvent) }

// Again reports whether publishing the event again may succeed.
func (r Rejected) Again() bool { return r.Reason == event.NotProcessed }
