// Package schema checks the data of events against JSON Schemas (2020-12) without references.
//
// It promises that numbers are compared exactly, of whatever size; that a check stops at its limit, with work that is
// counted and grows with the data alone; and that a mismatch is reported by its places in the schema and in the data,
// but never by a value, or by a name that the schema does not have.
// infra/decisions/0025-herald-checks-schemas-itself.md says why it is no library.
package schema

import (
	"errors"
	"fmt"
)

// dialect is the dialect of every schema, named or not.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// Schema is a compiled schema. Its methods may be called concurrently.
type Schema struct{ root *node }

// ErrTooCostly is a check that went beyond its limit.
var ErrTooCostly = errors.New("checking the data against its schema costs too much")

// Compile reads the text of a schema. Keywords that it does not know are ignored, as the dialect asks for; format, too,
// is only a description there. The error names the place of the fault as a JSON Pointer.
func Compile(text string) (*Schema, error) {
	v, err := parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("reading schema: %w", err)
	}
	o, ok := v.(*object)
	if !ok {
		return nil, errors.New("reading schema: it must be an object")
	}
	if named, ok := o.get("$schema"); ok && named != dialect {
		return nil, fmt.Errorf("reading schema: $schema must be %s", dialect)
	}
	root, err := compile(o, "")
	if err != nil {
		return nil, fmt.Errorf("reading schema: %w", err)
	}
	return &Schema{root}, nil
}

// Check returns a *Mismatch unless the data matches the schema; any one of several. It costs at most a little more than
// the limit: where it would, the error is ErrTooCostly.
func (s *Schema) Check(data []byte, limit Cost) (spent Cost, err error) {
	r := &run{left: limit}
	if !r.spend(costDecode * Cost(len(data))) {
		return 0, ErrTooCostly
	}
	v, err := parse(data)
	if err != nil {
		return limit - r.left, fmt.Errorf("reading data: %w", err)
	}
	wrong := r.apply(s.root, v, nil)
	switch {
	case r.over():
		return limit, ErrTooCostly
	case wrong != nil:
		return limit - r.left, wrong.mismatch()
	}
	return limit - r.left, nil
}

// Worst is the most that a check of so many bytes costs, unless one of its numbers has an exponent of more than a
// thousand digits. at is the keyword that costs most. The catalogue refuses a schema by it, and tells its author which
// keyword to bound.
func (s *Schema) Worst(size int) (most Cost, at string) {
	b := s.root.bound
	return Cost(b.of(size)) + costDecode*Cost(size), b.costliest(size)
}
