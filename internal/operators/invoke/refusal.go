package invoke

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/herald-webhooks/herald/internal/rules/badjson"
)

// The codes of refused requests.
const (
	CodeInvalidJSON    = "invalid_json"    // no JSON object, a duplicate name, bad UTF-8
	CodeUnknownField   = "unknown_field"   // field names it
	CodeInvalidField   = "invalid_field"   // wrong type or value, or missing
	CodeUnknownAction  = "unknown_action"  // the message lists the function's actions
	CodeInvalidCursor  = "invalid_cursor"  // not a cursor of this list
	CodeNotFound       = "not_found"       // nothing has that id
	CodeTenantMismatch = "tenant_mismatch" // it exists, and belongs to another tenant than tenant_id
)

// Refusal is a request that was understood and not done, or not understood. It is answered,
// not thrown: the Lambda invocation succeeds.
type Refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field"` // the request's field at fault, "" for none
}

func (r *Refusal) Error() string { return r.Code + " " + r.Field + ": " + r.Message }

// Refuse makes a Refusal.
func Refuse(code, field, message string) *Refusal {
	return &Refusal{Code: code, Field: field, Message: message}
}

// Invalid refuses a field's type or value.
func Invalid(field, message string) *Refusal { return Refuse(CodeInvalidField, field, message) }

// refuseJSON names the fault of a request without quoting it. Requests are flat but for lists: the first name tells
// the place. For an unknown field it lists the fields that the action knows.
func refuseJSON(err error, payload []byte, known ...string) *Refusal {
	d := badjson.Diagnose(err, payload)
	switch field := short(d.TopLevel()); {
	case d.Kind == badjson.DuplicateName:
		return Refuse(CodeInvalidJSON, field, "the name appears twice")
	case d.Kind == badjson.LoneSurrogate:
		return Refuse(CodeInvalidJSON, field, fmt.Sprintf("a surrogate without its other half at byte %d", d.Offset))
	case d.Kind == badjson.UnknownName:
		return Refuse(CodeUnknownField, field,
			"this action does not know the field; it knows "+strings.Join(known, ", "))
	case d.Kind == badjson.WrongType && field != "":
		return Invalid(field, "wrong type")
	case d.Kind == badjson.WrongType:
		return Refuse(CodeInvalidJSON, "", "the request must be a JSON object")
	}
	return Refuse(CodeInvalidJSON, "", "the request must be one well-formed JSON object")
}

// fieldsOf are the names of a request's fields, embedded structs' included. They come from the type of the request, so
// that a message cannot forget a new field.
func fieldsOf(request reflect.Type) (names []string) {
	for _, field := range reflect.VisibleFields(request) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if options == "embed" {
			names = append(names, fieldsOf(field.Type)...)
		} else if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maxOperator takes the ARN of any session of a role: 39 bytes, and two names of up to 64.
const maxOperator = 256

// printable reports whether a text has 1 to 256 characters that print. A newline or an escape sequence in a name could
// forge a line of the log, or of an operator's terminal.
func printable(s string) bool {
	n := 0
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
		n++
	}
	return n >= 1 && n <= maxOperator && strings.TrimSpace(s) != ""
}

// CheckReason refuses an operator's reason that is longer than 256 characters or has any that do not print. It may be
// empty.
func CheckReason(reason string) error {
	if reason != "" && !printable(reason) {
		return Invalid("reason", "must be at most 256 printable characters")
	}
	return nil
}
