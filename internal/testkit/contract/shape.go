package contract

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"
)

// Shape says what JSON of a type has at each place, such as "data[].id". Values of a map are at "*".
type Shape map[string]Place

// Place is what may be at a place.
type Place struct {
	Types    string // "integer or null"
	Values   string // all that there are, with spaces between them; "" if they are not listed
	Required bool   // of a member of an object
}

// Shape returns the shape of a schema of the description, as it is written there.
func (c *Contract) Shape(schema string) Shape {
	s := Shape{}
	s.describe("", c.document.Components.Schemas[schema].Value, false)
	return s
}

// describe adds what a schema says about a place. Of alternatives one may be null.
func (s Shape) describe(at string, v *openapi3.Schema, required bool) {
	types := v.Type.Slice()
	for _, one := range v.OneOf {
		types = append(types, one.Value.Type.Slice()...)
	}
	var values []string
	for _, value := range v.Enum {
		values = append(values, fmt.Sprint(value))
	}
	s.add(at, types, values, required)
	for name, property := range v.Properties {
		s.describe(strings.TrimPrefix(at+"."+name, "."), property.Value, slices.Contains(v.Required, name))
	}
	if v.Items != nil {
		s.describe(at+"[]", v.Items.Value, false)
	}
	if every := v.AdditionalProperties.Schema; every != nil {
		s.describe(at+".*", every.Value, false)
	}
}

func (s Shape) add(at string, types, values []string, required bool) {
	slices.Sort(types)
	slices.Sort(values)
	s[at] = Place{Types: strings.Join(types, " or "), Values: strings.Join(values, " "), Required: required}
}

// Listed are the values of types that have constants.
type Listed map[reflect.Type][]string

// ShapeOf returns the shape of a Go type. A field that may be left out is never null, and a raw value in an answer is
// an object. A struct with a blank array for its first field is a value of the array's type that may be left out.
func (l Listed) ShapeOf(t reflect.Type) Shape {
	s := Shape{}
	l.describe(s, "", t, false)
	return s
}

// scalars are JSON Schema's names of types.
var scalars = map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer"}

func (l Listed) describe(s Shape, at string, t reflect.Type, required bool) {
	if t.Kind() == reflect.Struct && t.NumField() > 0 && t.Field(0).Name == "_" {
		t = t.Field(0).Type.Elem()
	}
	var null []string
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
		null = []string{"null"}
	}
	add := func(name string) { s.add(at, append(null, name), slices.Clone(l[t]), required) }
	switch {
	case t == reflect.TypeFor[jsontext.Value]():
		add("object")
	case scalars[t.Kind()] != "":
		add(scalars[t.Kind()])
	case t.Kind() == reflect.Slice:
		add("array")
		l.describe(s, at+"[]", t.Elem(), false)
	case t.Kind() == reflect.Map:
		add("object")
		l.describe(s, at+".*", t.Elem(), false)
	case t.Kind() == reflect.Struct:
		add("object")
		l.fields(s, at, t)
	default:
		add(t.String())
	}
}

// fields adds the fields of a struct, with those of embedded ones. A pointer that is left out where it is nil is never
// null.
func (l Listed) fields(s Shape, at string, t reflect.Type) {
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || field.PkgPath != "" {
			continue
		}
		of, required := field.Type, !strings.Contains(options, "omit")
		if !required && of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		l.describe(s, strings.TrimPrefix(at+"."+name, "."), of, required)
	}
}
