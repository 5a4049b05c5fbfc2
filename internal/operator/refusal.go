package operator

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

// refuseJSON says what is wrong with a request without quoting it.
func refuseJSON(err error) *Refusal {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return Refuse(CodeInvalidJSON, topLevel(syntactic.JSONPointer), "the name appears twice")
		}
		return Refuse(CodeInvalidJSON, "", "the request must be one well-formed JSON object")
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		field := topLevel(semantic.JSONPointer)
		switch {
		case errors.Is(err, json.ErrUnknownName):
			return Refuse(CodeUnknownField, field, "this action does not know the field")
		case field == "":
			return Refuse(CodeInvalidJSON, "", "the request must be a JSON object")
		default:
			return Refuse(CodeInvalidField, field, "wrong type")
		}
	}
	return Refuse(CodeInvalidJSON, "", "the request must be one well-formed JSON object")
}

// topLevel returns the first name of a pointer: requests are flat but for lists.
func topLevel(p jsontext.Pointer) string {
	for token := range p.Tokens() {
		return token
	}
	return ""
}

func printable(s string) bool {
	n := 0
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
		n++
	}
	return n >= 1 && n <= 128 && strings.TrimSpace(s) != ""
}

func names(actions map[string]Action) string {
	return strings.Join(slices.Sorted(maps.Keys(actions)), ", ")
}
