package webhooks

import (
	"bytes"
	"fmt"
	"math"
	"mime"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/badjson"
	"github.com/herald-webhooks/herald/internal/rules/problem"
)

const (
	maxBody   = 64 << 10 // bytes
	maxFields = 20       // named in one answer
)

// checkBody checks a body against its route's rules, except for its content.
func (c *call) checkBody() error {
	// The size comes before everything, so that no parser sees a body that is too large.
	if len(c.body) > maxBody {
		return problem.New(problem.CodeBodyTooLarge)
	}
	switch {
	case c.route.body == noBody:
		return checkNoBody(c.body)
	case len(c.body) > 0 && encoded(c.in.Headers["content-encoding"]) && !jsontext.Value(c.body).IsValid():
		return problem.New(problem.CodeUnsupportedMediaType)
	case c.route.body == optionalBody && checkNoBody(c.body) == nil:
		c.body = nil
		return nil
	}
	media, _, err := mime.ParseMediaType(c.in.Headers["content-type"])
	if err != nil || media != "application/json" {
		return problem.New(problem.CodeUnsupportedMediaType)
	}
	return nil
}

// encoded reports whether a Content-Encoding says that the body is compressed, or encoded in another way. Some clients
// say UTF-8 there, and send plain JSON all the same.
func encoded(header string) bool {
	header = strings.TrimSpace(header)
	return header != "" && !strings.EqualFold(header, "identity")
}

// checkNoBody accepts nothing, {} or null, of any content type: clients send each of them.
func checkNoBody(body []byte) error {
	if len(bytes.Trim(body, " \t\r\n")) == 0 {
		return nil
	}
	var none *struct{}
	if json.Unmarshal(body, &none, json.RejectUnknownMembers(true)) != nil {
		return problem.New(problem.CodeUnexpectedBody)
	}
	return nil
}

// decode reads the body, a JSON object, into the fields of out, which are raw values. Each member stays unparsed until
// its own check: one of the wrong type is then named together with all others.
func decode(body []byte, out any) error {
	if err := json.Unmarshal(body, out, json.RejectUnknownMembers(true)); err != nil {
		return refuseJSON(err, body)
	}
	// Only null gets here besides an object.
	if jsontext.Value(body).Kind() != '{' { // null leaves out as it was
		return problem.At(problem.CodeInvalidBody, "", "must be an object")
	}
	return nil
}

// refuseJSON names the fault and its place, without quoting any value.
func refuseJSON(err error, body []byte) error {
	d := badjson.Diagnose(err, body)
	pointer := shortened(string(d.Pointer))
	switch d.Kind {
	case badjson.DuplicateName:
		return problem.At(problem.CodeInvalidJSON, pointer, "appears more than once")
	case badjson.Malformed:
		return problem.At(problem.CodeInvalidJSON, pointer, fmt.Sprintf("is malformed at byte %d of the body", d.Offset))
	case badjson.LoneSurrogate:
		return problem.At(problem.CodeInvalidJSON, pointer,
			fmt.Sprintf("has a surrogate without its other half at byte %d of the body", d.Offset))
	case badjson.UnknownName:
		return problem.At(problem.CodeInvalidBody, pointer, "does not exist here")
	case badjson.WrongType:
		return problem.At(problem.CodeInvalidBody, pointer, "must be an object")
	}
	return problem.At(problem.CodeInvalidJSON, "", "is incomplete")
}

// reader reads typed values and collects faults: types first, then rules, so that one answer names all faults of a
// kind.
type reader struct {
	types, rules []problem.Field
}

// mistyped notes that a field has a value of another type. Nothing else is checked of that field.
func (r *reader) mistyped(pointer, detail string) {
	r.types = append(r.types, problem.Field{Pointer: &pointer, Detail: detail})
}

// refuse notes that a field has a value of the right type that breaks a rule.
func (r *reader) refuse(pointer, detail string) {
	r.rules = append(r.rules, problem.Field{Pointer: &pointer, Detail: detail})
}

// require refuses a field that is not given.
func (r *reader) require(pointer string, v jsontext.Value) {
	if v == nil {
		r.refuse(pointer, "is required")
	}
}

// text reads a string; ok is false for any other value, null too.
func (r *reader) text(v jsontext.Value, pointer string) (s string, ok bool) {
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		r.mistyped(pointer, "must be a string")
		return "", false
	}
	return s, true
}

// problem is nil when all was well.
func (r *reader) problem() error {
	code, fields := problem.CodeInvalidBody, r.types
	if len(fields) == 0 {
		code, fields = problem.CodeValidationFailed, r.rules
	}
	if len(fields) == 0 {
		return nil
	}
	return &problem.Error{Code: code, Fields: fields[:min(len(fields), maxFields)]}
}

// shortened keeps a caller's invention from filling the answer.
func shortened(name string) string {
	const most = 64
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "…"
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

// wholeNumber reads an integer within bounds. JSON has only one kind of number, so 1.0 and 1e0 are integers as well.
func wholeNumber(v jsontext.Value, low, high int) (n int, ok bool) {
	var number float64
	if v.Kind() != '0' || json.Unmarshal(v, &number) != nil {
		return 0, false
	}
	if number != math.Trunc(number) || number < float64(low) || number > float64(high) {
		return 0, false
	}
	return int(number), true
}
