package api

import "errors"

// Code says in a word why a request was refused.
type Code string

// The codes that any function may answer with.
const (
	CodeInvalidJSON    Code = "invalid_json"    // no JSON object, a duplicate name, or bad UTF-8
	CodeUnknownField   Code = "unknown_field"   // Field names it
	CodeInvalidField   Code = "invalid_field"   // a value of the wrong type, a wrong value, or none where one is required
	CodeUnknownAction  Code = "unknown_action"  // the message lists the function's actions
	CodeInvalidCursor  Code = "invalid_cursor"  // not a next_cursor of this list
	CodeNotFound       Code = "not_found"       // nothing has that id
	CodeTenantMismatch Code = "tenant_mismatch" // it exists, and belongs to another tenant than tenant_id
)

// The codes of inspect and replay.
const (
	CodePublishing Code = "publishing" // a job publishes or discards rejected events: ask when it is done
	CodeUnopenable Code = "unopenable" // a dead letter was changed, or has parts of another: an incident
)

// The codes of replay.
const (
	CodeJobDone       Code = "job_done"       // a job that is done is neither stopped nor resumed
	CodeAliasRequired Code = "alias_required" // ask replay:delete or inspect:scan, where all else is an unknown_action
)

// The codes of control.
const (
	CodeDeleted        Code = "deleted"         // the endpoint is deleted: nothing is sent to it
	CodeAlreadyPaused  Code = "already_paused"  // by an operator; another pause would replace its reason
	CodeNotPaused      Code = "not_paused"      // by an operator
	CodeAlreadyLimited Code = "already_limited" // by an operator, to the same number
	CodeAlreadyAllowed Code = "already_allowed" // the same number
	CodeNotLimited     Code = "not_limited"     // by an operator
	CodeTooManyOrders  Code = "too_many_orders" // on single endpoints: pause or limit their tenant, or end some
	CodePaused         Code = "paused"          // nothing is sent to a paused endpoint: resume it first
	CodeTenantPaused   Code = "tenant_paused"   // nothing is sent to a paused tenant: resume it first
	CodeDisabled       Code = "disabled"        // only the endpoint's owner can change that
	CodeCircuitOpen    Code = "circuit_open"    // of a test: probes find out by themselves
	CodeUnreadable     Code = "unreadable"      // the stored endpoint, or its tenant's marks, are damaged
)

// Refusal is a function's "no": the request was not understood, or was understood and not done. It is an answer and no
// failure of the function.
type Refusal struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`

	// The field of the request that is at fault; empty if no field is.
	Field string `json:"field"`
}

// Refused is the answer to a request that is refused.
type Refused struct {
	Error *Refusal `json:"error"`
}

func (r *Refusal) Error() string {
	if r.Field == "" {
		return r.Message
	}
	return r.Field + ": " + r.Message
}

// ErrNotFound is what errors.Is finds in the refusal of an id that nothing has.
var ErrNotFound = errors.New("not found")

// Is tells [ErrNotFound].
func (r *Refusal) Is(target error) bool { return target == ErrNotFound && r.Code == CodeNotFound }
