// Package problem turns a fault into an answer of the management API: an RFC 9457 problem document.
//
// It promises one documented meaning, status and title for each code, and that the cause is withheld. It quotes the
// names of fields and parameters, but never the caller's values: a key put into the wrong field is not echoed.
package problem

import (
	"cmp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MediaType is the content type of a problem document.
const MediaType = "application/problem+json"

// typePrefix and the code make the "type" of a problem: a name, nothing to be fetched.
const typePrefix = "urn:herald:problem:"

// Error is a fault that its caller may see. The zero Detail is the code's own.
type Error struct {
	Code   Code
	Detail string  // one sentence, for people
	Fields []Field // the faulty parts of the request, if they have names
	Allow  string  // CodeMethodNotAllowed only: the methods of the path
	Cause  error   // for the log, never shown
}

// Field is one thing at fault in a request: at a JSON pointer into the body (RFC 6901; "" is
// the body itself), or in a query parameter. One of Pointer and Parameter is set.
type Field struct {
	Detail    string  `json:"detail"`
	Pointer   *string `json:"pointer,omitzero"`
	Parameter string  `json:"parameter,omitempty"`
}

// Error is the text for the log. It has the cause, and so is never shown.
func (e *Error) Error() string {
	text := string(e.Code)
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New returns a fault that names nothing in the request.
func New(code Code) *Error { return &Error{Code: code} }

// At returns a fault in one place of the body.
func At(code Code, pointer, detail string) *Error {
	return &Error{Code: code, Fields: []Field{{Pointer: &pointer, Detail: detail}}}
}

// Because returns an internal error with its cause. The caller sees the same for every cause.
func Because(code Code, cause error) *Error { return &Error{Code: code, Cause: cause} }

// Document has the members of RFC 9457 (type, title, status, detail), and as extensions the code, the request id and
// the fields at fault. It leaves out instance, for which there is no address. To a client it is an error.
type Document struct {
	Type      string  `json:"type"`
	Title     string  `json:"title"`
	Status    int     `json:"status"`
	Detail    string  `json:"detail"`
	Code      Code    `json:"code"`
	RequestID string  `json:"request_id"`
	Errors    []Field `json:"errors,omitempty"`
}

// Error is what a client may tell people.
func (d *Document) Error() string { return string(d.Code) + ": " + d.Detail }

// Document returns the problem document that answers the request. A detail may quote the name of a field that is no
// valid UTF-8; it is written with the replacement character.
func (e *Error) Document(requestID string) []byte {
	m := meanings[e.Code]
	b, err := json.Marshal(Document{
		Type: typePrefix + string(e.Code), Title: m.title, Status: m.status, Detail: cmp.Or(e.Detail, m.meaning),
		Code: e.Code, RequestID: requestID, Errors: e.Fields,
	}, jsontext.AllowInvalidUTF8(true))
	if err != nil { // strings and a number: cannot fail
		return nil
	}
	return b
}
