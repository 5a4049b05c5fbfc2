package gotypes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// kind is what Go makes of a value. Kinds without parts are Go's own types.
type kind string

const (
	text     kind = "string"
	whole    kind = "int64"
	number   kind = "float64"
	exact    kind = "json.Number" // of fractions that are counted, such as cents
	truth    kind = "bool"
	anything kind = "any"
	list     kind = "list"
	object   kind = "object"
)

// shape is as much of a schema as a type of Go can say.
type shape struct {
	kind     kind
	nullable bool
	fields   []field
	more     *shape // of an object's other fields; nil if it may have none
	item     *shape // of a list
}

// field is a field of an object.
type field struct {
	shape

	name, description string
	required          bool
}

// isMap reports whether an object has no field with a name.
func (s shape) isMap() bool { return s.kind == object && len(s.fields) == 0 && s.more != nil }

// asData makes an object of a shape, since data is always one.
func (s *shape) asData() {
	if s.kind != object {
		*s = shape{kind: object, more: &shape{kind: anything}}
	}
}

// hasNil reports whether Go's type has a nil that can stand for a missing value.
func (s shape) hasNil() bool { return s.kind == list || s.kind == anything || s.isMap() }

// golang is the type of the field, given that of its value.
func (f field) golang(value string) string {
	if f.hasNil() || f.required && !f.nullable {
		return value
	}
	return "*" + value
}

// put is the statement that encodes the field.
func (f field) put(value string) string {
	name := strconv.Quote(f.name)
	switch {
	case !f.required:
		return fmt.Sprintf("if %s != nil {\no.put(%s, %s)\n}\n", value, name, value)
	case f.kind == list && !f.nullable:
		return fmt.Sprintf("o.put(%s, listOf(%s))\n", name, value)
	case f.isMap() && !f.nullable:
		return fmt.Sprintf("o.put(%s, mapOf(%s))\n", name, value)
	}
	return fmt.Sprintf("o.put(%s, %s)\n", name, value)
}

// deepest bounds the levels of a schema. What is below them is anything.
const deepest = 100

// shapeOf reads a schema.
func shapeOf(schema jsontext.Value, depth int) (shape, error) {
	if schema.Kind() != '{' || depth > deepest {
		return shape{kind: anything}, nil // true; false is no field
	}
	k, err := keywordsOf(schema)
	if err != nil {
		return shape{}, err
	}
	if other := k.orNull(); other != nil {
		s, err := shapeOf(other, depth+1)
		s.nullable = true
		return s, err
	}
	types := slices.DeleteFunc(slices.Clone(k.named), func(t string) bool { return t == "null" })
	s := shape{kind: k.kindOf(types), nullable: len(types) < len(k.named)}
	switch s.kind {
	case list:
		item, err := shapeOf(k.items, depth+1)
		s.item = &item
		return s, err
	case object:
		return k.object(s, depth)
	}
	return s, nil
}

// object reads the fields of an object.
func (k keywords) object(s shape, depth int) (shape, error) {
	for _, p := range k.properties {
		if string(p.value) == "false" {
			continue // it may not be there
		}
		of, err := shapeOf(p.value, depth+1)
		if err != nil {
			return s, err
		}
		described, err := keywordsOf(p.value)
		if err != nil {
			return s, err
		}
		s.fields = append(s.fields, field{of, p.name, described.description, slices.Contains(k.required, p.name)})
	}
	for _, name := range k.required {
		if !slices.ContainsFunc(k.properties, func(p property) bool { return p.name == name }) {
			k.properties = append(k.properties, property{name: name})
			s.fields = append(s.fields, field{shape{kind: anything}, name, "", true})
		}
	}
	if k.open || len(s.fields) == 0 && string(k.additional) != "false" {
		more, err := shapeOf(k.additional, depth+1)
		s.more = &more
		return s, err
	}
	return s, nil
}

// kindOf is the kind of a value of these types, or of one that the keywords hint at if there are none.
func (k keywords) kindOf(types []string) kind {
	switch strings.Join(types, " ") {
	case "string":
		return text
	case "boolean":
		return truth
	case "integer":
		return whole
	case "number", "integer number", "number integer":
		if k.multiple {
			return exact
		}
		return number
	case "array":
		return list
	case "object":
		return object
	case "":
		return k.hinted()
	}
	return anything
}

func (k keywords) hinted() kind {
	switch {
	case len(k.properties) > 0 || k.additional != nil:
		return object
	case k.items != nil:
		return list
	case len(k.values) > 0 && !slices.ContainsFunc(k.values, func(v jsontext.Value) bool { return v.Kind() != '"' }):
		return text
	}
	return anything
}
