package redraft

import (
	"fmt"
	"slices"
	"strings"
)

// making is a schema that is being written.
type making struct {
	*writer
	spot

	of     *object // the given one
	at     place
	out    *object
	parts  []any // schemas for allOf, before those that the given one has there
	nulled bool  // nullable is in the type
}

// refers reports whether the schema has a reference.
func (m *making) refers() bool {
	_, isText := m.of.values["$ref"].(string)
	return isText
}

// alone reports whether nothing counts beside a reference: in drafts 3 to 7.
func (m *making) alone() bool {
	return m.refers() && m.at.draft >= draft3 && m.at.draft <= draft7
}

// whole is the written schema.
func (m *making) whole() any {
	all, isList := m.out.values["allOf"].([]any)
	switch {
	case len(m.parts) == 1 && len(m.out.names) == 0:
		return m.orNull(m.parts[0])
	case len(m.parts) > 0 && (isList || !m.out.has("allOf")):
		m.out.set("allOf", append(m.parts, all...))
	}
	return m.orNull(m.out)
}

// set sets a keyword that is made of another. Where the given schema has it as well, both count.
func (m *making) set(name string, value any) {
	if m.of.has(name) || m.out.has(name) {
		m.parts = append(m.parts, with(name, value))
		return
	}
	m.out.set(name, value)
}

// reference puts the target of $ref into allOf. All other keywords stay beside each other, since some, such as
// unevaluatedProperties, depend on their neighbours.
func (m *making) reference() error {
	if !m.of.has("$ref") {
		return nil
	}
	ref, isText := m.of.values["$ref"].(string)
	if !isText {
		m.note("$ref is no text, and is left out")
		return nil
	}
	t, err := m.resolve(ref, m.at)
	if err != nil {
		return err
	}
	written, err := m.schema(t.schema, t.place, m.deeper())
	m.parts = append(m.parts, written)
	return err
}

// addresses are keywords by which schemas are found. Nothing refers to a schema that is in no other.
var addresses = []string{
	"$schema", "$ref", "id", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "definitions", "$defs",
}

// member writes a keyword and its value.
func (m *making) member(name string, value any) error {
	if err := m.spend(len(name) + 4); err != nil {
		return err
	}
	k, known := keywords[name]
	switch {
	case slices.Contains(addresses, name) || name == "nullable": // orNull reads it
		return nil
	case !known:
		return m.stranger(name, value)
	case k.describes:
		return m.description(name, value)
	case m.alone():
		m.note("%s beside $ref counts for nothing in %s, and is left out", name, m.at.draft)
		return nil
	case !k.in(m.at.draft):
		m.note("%s is no keyword of %s, and is left out", name, m.at.draft)
		return nil
	case m.at.draft == unnamed && m.refers():
		m.note("what is beside $ref counts, as in 2020-12: the schema names no draft")
	}
	if write, special := m.special(name); special {
		return write(value)
	}
	written, err := m.below(k.shape, value, m.deeper())
	m.out.set(name, written)
	return err
}

// special is how a keyword is written that is not the same in all drafts, or stands on its head.
func (m *making) special(name string) (write func(value any) error, special bool) {
	write, special = map[string]func(any) error{
		"type": m.types, "disallow": m.disallow, "extends": m.extends, "dependencies": m.dependencies,
		"divisibleBy": m.divisibleBy, "required": m.required, "properties": m.properties,
		"items": m.items, "additionalItems": m.additionalItems, "pattern": m.pattern,
		"patternProperties": m.patternProperties, "contains": m.contains,
	}[name]
	switch name {
	case "exclusiveMinimum", "exclusiveMaximum":
		return func(v any) error { return m.exclusive(name, v) }, true
	case "not", "if", "oneOf":
		return func(v any) error { return m.turnedRound(name, v) }, true
	case "minContains", "maxContains":
		return func(v any) error { return m.countContains(name, v) }, true
	case "$dynamicRef", "$recursiveRef":
		return func(any) error { return fmt.Errorf("%s", name) }, true
	}
	return write, special
}

// below writes the value of a keyword by its shape.
func (m *making) below(of shape, v any, s spot) (any, error) {
	switch v := v.(type) {
	case []any:
		if of == plain {
			break
		}
		written := make([]any, len(v))
		for n, item := range v {
			one, err := m.schema(item, m.at, s)
			if err != nil {
				return nil, err
			}
			written[n] = one
		}
		return written, m.spend(len(v) + 2)
	case *object:
		switch of {
		case whole:
			return m.schema(v, m.at, s)
		case named:
			return m.each(v, s, func(name string) (string, error) { return name, nil })
		}
	}
	return m.copied(v)
}

// each writes the schemas of names.
func (m *making) each(of *object, s spot, rename func(string) (string, error)) (any, error) {
	written := newObject()
	for _, name := range of.names {
		key, err := rename(name)
		if err == nil {
			err = m.spend(len(key) + 4)
		}
		if err != nil {
			return nil, err
		}
		one, err := m.schema(of.values[name], m.at, s)
		if err != nil {
			return nil, err
		}
		if written.has(key) { // two names that are one after their translation
			one = with("allOf", []any{written.values[key], one})
		}
		written.set(key, one)
	}
	return written, nil
}

// stranger writes a member that is a keyword of no draft. It describes, but must not look like a reference.
func (m *making) stranger(name string, value any) error {
	if looksUp(value) {
		m.note("%.64s is no keyword, and is left out: it has references", name)
		return nil
	}
	written, err := m.copied(value)
	m.out.set(name, written)
	return err
}

// looksUp reports whether a value has a name that could be taken for a reference or an anchor.
func looksUp(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, looksUp)
	case *object:
		for _, name := range v.names {
			if strings.HasPrefix(name, "$") || looksUp(v.values[name]) {
				return true
			}
		}
	}
	return false
}

// description writes a keyword that refuses nothing at Herald.
func (m *making) description(name string, value any) error {
	switch name {
	case "$comment":
		return nil
	case "contentSchema":
		return m.stranger(name, value)
	case "format":
		m.note("format only describes, and is not checked")
	case "contentEncoding", "contentMediaType":
		if m.at.draft == draft7 {
			m.note("%s only describes, and is not checked", name)
		}
	}
	written, err := m.copied(value)
	m.out.set(name, written)
	return err
}

// orNull is a schema of OpenAPI 3.0 that takes null besides.
func (m *making) orNull(v any) any {
	if !m.of.is("nullable") || m.nulled {
		return v
	}
	m.note(`nullable without type is kept as "or null"`)
	return with("anyOf", []any{v, with("type", "null")})
}
