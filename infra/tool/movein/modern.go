package movein

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds how deep schemas and examples stand in each other.
const maxDepth = 64

// modern writes a schema of any draft as one of 2020-12 that stands alone: references to its own parts are replaced by
// these. dropped says which rules are not kept.
func modern(root jsontext.Value) (text jsontext.Value, dropped []string, err error) {
	m := &modernizer{root: root, left: maxSchema}
	text, err = m.schema(root, nil, 0)
	slices.Sort(m.dropped)
	return text, slices.Compact(m.dropped), err
}

type modernizer struct {
	root    jsontext.Value
	left    int // bytes
	dropped []string
}

// schema writes a schema; open are the references that lead to it.
func (m *modernizer) schema(v jsontext.Value, open []string, depth int) (jsontext.Value, error) {
	m.left -= len(v)
	switch {
	case depth > maxDepth:
		return nil, fmt.Errorf("more than %d levels", maxDepth)
	case m.left < -16*maxSchema:
		return nil, fmt.Errorf("more than %d bytes", maxSchema)
	case v.Kind() != '{':
		return v, nil
	}
	var out []member
	for _, k := range draft4(membersOf(v)) {
		value, err := m.keyword(k, open, depth+1)
		if err != nil {
			return nil, err
		}
		if value != nil {
			out = append(out, member{k.name, value})
		}
	}
	ref := textOf(get(v, "$ref"))
	if ref == "" {
		return object(out), nil
	}
	target, err := m.target(ref, open, depth)
	if err != nil || len(out) == 0 {
		return target, err
	}
	return object([]member{{"allOf", list([]jsontext.Value{target, object(out)})}}), nil
}

// keyword writes the value of a keyword, nil for one that is left out.
func (m *modernizer) keyword(k member, open []string, depth int) (jsontext.Value, error) {
	switch k.name {
	case "$ref", "$schema", "$id", "$anchor", "$defs", "definitions", "$comment", "$vocabulary":
		return nil, nil
	case "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor":
		return nil, fmt.Errorf("%s", k.name)
	case "const", "enum", "default", "example", "examples":
		return k.value, nil
	case "pattern":
		if !known(textOf(k.value)) {
			m.dropped = append(m.dropped, "a pattern that RE2 does not know is left out")
			return nil, nil
		}
	case "properties", "patternProperties", "dependentSchemas":
		return m.named(k.value, open, depth)
	}
	if items := itemsOf(k.value); items != nil {
		for n, item := range items {
			var err error
			items[n], err = m.schema(item, open, depth)
			if err != nil {
				return nil, err
			}
		}
		return list(items), nil
	}
	return m.schema(k.value, open, depth)
}

// known reports whether RE2 knows a pattern.
func known(pattern string) bool {
	_, err := regexp.Compile(pattern)
	return err == nil
}

// named writes the schemas of names.
func (m *modernizer) named(v jsontext.Value, open []string, depth int) (jsontext.Value, error) {
	members := membersOf(v)
	for n, of := range members {
		value, err := m.schema(of.value, open, depth)
		if err != nil {
			return nil, err
		}
		members[n].value = value
	}
	return object(members), nil
}

// target writes the part of the schema that a reference names.
func (m *modernizer) target(ref string, open []string, depth int) (jsontext.Value, error) {
	pointer, here := strings.CutPrefix(ref, "#")
	switch {
	case slices.Contains(open, ref):
		return nil, errors.New("it refers to itself")
	case !here || pointer != "" && pointer[0] != '/':
		return nil, errors.New("it refers to another document")
	}
	v := m.root
	for token := range jsontext.Pointer(pointer).Tokens() {
		v = get(v, token)
	}
	if v == nil {
		return nil, errors.New("it refers to a part that it does not have")
	}
	return m.schema(v, append(slices.Clone(open), ref), depth+1)
}

// draft4 writes the keywords of older drafts, and of OpenAPI 3.0, as those of 2020-12.
func draft4(members []member) (out []member) {
	given := object(members)
	listed := get(given, "items").Kind() == '['
	for _, k := range members {
		switch {
		case k.name == "exclusiveMinimum" || k.name == "exclusiveMaximum":
			out = append(out, bound(k, given)...)
		case k.name == "items" && listed:
			out = append(out, member{"prefixItems", k.value})
		case k.name == "additionalItems" && listed:
			out = append(out, member{"items", k.value})
		case k.name == "type":
			out = append(out, member{k.name, nullable(k.value, given)})
		case k.name == "nullable":
		default:
			out = append(out, k)
		}
	}
	return out
}

// nullable is a type, of which OpenAPI 3.0 says with another keyword that null is one of its values.
func nullable(v, given jsontext.Value) jsontext.Value {
	if v.Kind() == '"' && get(given, "nullable").Kind() == 't' {
		return list([]jsontext.Value{v, quoted("null")})
	}
	return v
}

// bound is an exclusive bound, which was a mark of the bound next to it in draft 4.
func bound(k member, given jsontext.Value) []member {
	switch v := get(given, strings.ToLower(strings.TrimPrefix(k.name, "exclusive"))); {
	case k.value.Kind() == 'f' || k.value.Kind() == 't' && v == nil:
		return nil
	case k.value.Kind() == 't':
		return []member{{k.name, v}}
	}
	return []member{k}
}
