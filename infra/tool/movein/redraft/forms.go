package redraft

import (
	"slices"
	"strings"
)

// types writes type. OpenAPI 3.0 says with another keyword that null is one of its values.
func (m *making) types(v any) error {
	m.nulled = true
	list, isList := v.([]any)
	if name, isName := v.(string); isName {
		list, isList = []any{name}, true
	}
	if m.of.is("nullable") && isList && !slices.Contains(list, any("null")) {
		v = append(slices.Clone(list), "null")
		if m.at.draft != unnamed {
			m.note(`nullable is no keyword of %s, and is kept as "or null"`, m.at.draft)
		}
	}
	written, err := m.typed(v, m.deeper())
	if err != nil {
		return err
	}
	if name := "type"; written.has(name) {
		m.out.set(name, written.values[name])
	} else if len(written.names) > 0 {
		m.set("anyOf", written.values["anyOf"])
	}
	return nil
}

// typed is the schema of a type. In draft 3 it may be any, or a list of names and schemas.
func (m *making) typed(v any, s spot) (*object, error) {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	isSchema := func(one any) bool { _, is := one.(*object); return is && m.at.draft <= draft3 }
	names := slices.DeleteFunc(slices.Clone(list), isSchema)
	switch {
	case m.at.draft <= draft3 && slices.Contains(names, any("any")):
		return newObject(), nil
	case (m.at.draft == draft3 || m.at.draft == draft4) && slices.Contains(names, any("integer")):
		m.note("integer takes 1.0 as well, as in later drafts")
	}
	if len(names) == len(list) {
		return with("type", v), m.measure(v)
	}
	var all []any
	if len(names) > 0 {
		all = append(all, with("type", names))
	}
	for _, one := range slices.DeleteFunc(slices.Clone(list), func(one any) bool { return !isSchema(one) }) {
		written, err := m.schema(one, m.at, s)
		if err != nil {
			return nil, err
		}
		all = append(all, written)
	}
	return with("anyOf", all), m.measure(names)
}

// disallow is the opposite of a type of draft 3.
func (m *making) disallow(v any) error {
	written, err := m.typed(v, m.turned())
	m.set("not", written)
	return err
}

// extends are the schemas, or the one, that draft 3 had in place of allOf.
func (m *making) extends(v any) error {
	written, err := m.below(whole, v, m.deeper())
	if all, isList := written.([]any); isList {
		m.parts = append(m.parts, all...)
		return err
	}
	m.parts = append(m.parts, written)
	return err
}

func (m *making) divisibleBy(v any) error {
	m.set("multipleOf", v)
	return m.measure(v)
}

// dependencies are what a name needs: in drafts 3 to 7 other names or a schema.
func (m *making) dependencies(v any) error {
	of, isObject := v.(*object)
	if !isObject {
		of = with("dependencies", v) // no schema, so that the compiler refuses it
	}
	needs, schemas := newObject(), newObject()
	for _, name := range of.names {
		value := of.values[name]
		if err := m.spend(len(name) + 4); err != nil {
			return err
		}
		if one, isText := value.(string); isText && m.at.draft <= draft3 {
			value = []any{one}
		}
		if list, isList := value.([]any); isList {
			needs.set(name, list)
			if err := m.measure(list); err != nil {
				return err
			}
			continue
		}
		written, err := m.schema(value, m.at, m.deeper())
		if err != nil {
			return err
		}
		schemas.set(name, written)
	}
	if len(needs.names) > 0 {
		m.set("dependentRequired", needs)
	}
	if len(schemas.names) > 0 {
		m.set("dependentSchemas", schemas)
	}
	return nil
}

// required are names. In draft 3 it is a mark of the schema of the required name, which properties reads.
func (m *making) required(v any) error {
	if _, isMark := v.(bool); isMark && m.at.draft <= draft3 {
		return nil
	}
	m.out.set("required", v)
	return m.measure(v)
}

// properties writes the schemas of names, and the names that draft 3 marks as required.
func (m *making) properties(v any) error {
	written, err := m.below(named, v, m.deeper())
	m.out.set("properties", written)
	of, isObject := v.(*object)
	if err != nil || !isObject || m.at.draft > draft3 {
		return err
	}
	var marked []any
	for _, name := range of.names {
		one, isSchema := of.values[name].(*object)
		if isSchema && one.is("required") && (m.at.draft == unnamed || !one.has("$ref")) {
			marked = append(marked, name)
		}
	}
	if len(marked) > 0 {
		m.set("required", marked)
	}
	return m.measure(marked)
}

// exclusive is a bound. In drafts 3 and 4 it is a mark of the bound next to it.
func (m *making) exclusive(name string, v any) error {
	if mark, isMark := v.(bool); isMark {
		v = m.of.values[strings.ToLower(strings.TrimPrefix(name, "exclusive"))]
		if !mark || v == nil {
			return nil
		}
	}
	m.out.set(name, v)
	return m.measure(v)
}

// items is the schema of all items. Up to 2019-09 it may be a list of those of the first ones, as prefixItems is.
func (m *making) items(v any) error {
	written, err := m.below(whole, v, m.deeper())
	switch list, isList := written.([]any); {
	case isList && len(list) > 0:
		m.set("prefixItems", list)
	case !isList:
		m.out.set("items", written)
	}
	return err
}

// additionalItems is the schema of the items behind such a list. Beside any other items it counts for nothing.
func (m *making) additionalItems(v any) error {
	if _, isList := m.of.values["items"].([]any); !isList {
		return nil
	}
	written, err := m.below(whole, v, m.deeper())
	m.out.set("items", written)
	return err
}

// turnedRound writes the schemas of a keyword that refuses what they take.
func (m *making) turnedRound(name string, v any) error {
	written, err := m.below(whole, v, m.turned())
	m.out.set(name, written)
	return err
}

// contains writes the schema of some item. For unevaluatedItems of 2019-09 that item is not evaluated, for the one of
// 2020-12 it is. Below two denials, it is neither there.
func (m *making) contains(v any) error {
	written, err := m.below(whole, v, m.turned())
	if err != nil || !m.hides() {
		m.out.set("contains", written)
		return err
	}
	inner := with("contains", written)
	for _, name := range []string{"minContains", "maxContains"} {
		if m.of.has(name) {
			inner.set(name, m.of.values[name])
		}
	}
	m.set("not", with("not", inner))
	return m.measure(inner.values["minContains"])
}

// hides reports whether items that are contained have to stay unevaluated.
func (m *making) hides() bool { return m.at.draft == draft2019 && m.unevaluated }

func (m *making) countContains(name string, v any) error {
	if m.hides() && m.of.has("contains") {
		return nil
	}
	m.out.set(name, v)
	return m.measure(v)
}

// pattern writes a regular expression of ECMA-262 as one of RE2.
func (m *making) pattern(v any) error {
	text, isText := v.(string)
	if !isText {
		m.out.set("pattern", v)
		return nil
	}
	written, err := m.translated(text)
	switch {
	case err != nil && m.inverted:
		return err
	case err != nil:
		m.note("%s is left out", err)
		return nil
	}
	m.out.set("pattern", written)
	return m.measure(written)
}

// patternProperties writes schemas of the names that patterns match. Without one of these, additionalProperties would
// refuse its names.
func (m *making) patternProperties(v any) error {
	of, isObject := v.(*object)
	if !isObject {
		m.out.set("patternProperties", v)
		return nil
	}
	written, err := m.each(of, m.deeper(), m.translated)
	m.out.set("patternProperties", written)
	return err
}
