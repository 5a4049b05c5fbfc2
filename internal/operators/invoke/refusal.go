package invoke

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/badjson"
)

// Refuse makes a refusal.
func Refuse(code api.Code, field, message string) *api.Refusal {
	return &api.Refusal{Code: code, Field: field, Message: message}
}

// Invalid refuses a field's type or value.
func Invalid(field, message string) *api.Refusal { return Refuse(api.CodeInvalidField, field, message) }

// refuseJSON names the fault of a request without quoting it. Requests are flat but for lists: the first name tells
// the place. For an unknown field it lists the fields that the action knows.
func refuseJSON(err error, payload []byte, known ...string) *api.Refusal {
	d := badjson.Diagnose(err, payload)
	switch field := short(d.TopLevel()); {
	case d.Kind == badjson.DuplicateName:
		return Refuse(api.CodeInvalidJSON, field, "the name appears twice")
	case d.Kind == badjson.LoneSurrogate:
		return Refuse(api.CodeInvalidJSON, field, fmt.Sprintf("a surrogate without its other half at byte %d", d.Offset))
	case d.Kind == badjson.UnknownName:
		return Refuse(api.CodeUnknownField, field,
			"this action does not know the field; it knows "+strings.Join(known, ", "))
	case d.Kind == badjson.WrongType && field != "":
		return Invalid(field, "wrong type")
	case d.Kind == badjson.WrongType:
		return Refuse(api.CodeInvalidJSON, "", "the request must be a JSON object")
	}
	return Refuse(api.CodeInvalidJSON, "", "the request must be one well-formed JSON object")
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
