// Package schema checks the data of events against JSON Schemas (2020-12).
//
// It promises that a mismatch is reported by its place in the schema and never by the data. It resolves no reference
// to another document.
package schema

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// dialect is the dialect of every schema, named or not.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// Schema is a compiled schema. Its methods may be called concurrently.
type Schema struct{ resolved *jsonschema.Resolved }

// Compile reads the text of a schema.
func Compile(text string) (*Schema, error) {
	s := &jsonschema.Schema{}
	if err := s.UnmarshalJSON([]byte(text)); err != nil {
		return nil, fmt.Errorf("reading schema: %w", err)
	}
	if s.Schema != "" && s.Schema != dialect {
		return nil, fmt.Errorf("reading schema: $schema must be %s", dialect)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolving schema: %w", err)
	}
	return &Schema{resolved}, nil
}

// Mismatch names the keyword of the schema that the data violates, as a JSON Pointer: /properties/amount/type.
type Mismatch struct{ Keyword string }

func (m *Mismatch) Error() string { return "does not fulfil " + m.Keyword + " of its schema" }

// Check returns a *Mismatch unless the data matches the schema; any one of several.
func (s *Schema) Check(data []byte) error {
	var value any
	if err := json.Unmarshal(data, &value, json.WithUnmarshalers(numbers)); err != nil {
		return fmt.Errorf("reading data: %w", err)
	}
	err := s.resolved.Validate(value)
	if err == nil {
		return nil
	}
	return &Mismatch{Keyword: keyword(err)}
}

// numbers reads a number beyond every float as the largest float.
var numbers = json.UnmarshalFromFunc(func(d *jsontext.Decoder, value *any) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	token, err := d.ReadToken()
	if err != nil {
		return err //nolint:wrapcheck // it points to the fault
	}
	number, err := token.Float()
	if err != nil {
		number = math.Copysign(math.MaxFloat64, number)
	}
	*value = number
	return nil
})

// The library's errors begin with "validating /properties/amount: " for each level, then "type: ".
var (
	level = regexp.MustCompile(`^validating (.+): $`)
	first = regexp.MustCompile(`^(\w+)[:\[]`)
)

// keyword is the innermost place that an error names. The rest of its text contains values.
func keyword(err error) string {
	at := ""
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		head := strings.TrimSuffix(err.Error(), inner.Error())
		if found := level.FindStringSubmatch(head); found != nil && found[1] != "root" {
			at = found[1]
		}
		err = inner
	}
	if found := first.FindStringSubmatch(err.Error()); found != nil {
		return at + "/" + found[1]
	}
	if strings.HasPrefix(err.Error(), "unexpected additional properties") {
		return at + "/additionalProperties"
	}
	return at + "/"
}
