package gotypes

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// keywords are those of a schema that say something about Go's types, those of its allOf included.
type keywords struct {
	named       []string // the types, empty if any is allowed
	properties  []property
	required    []string
	additional  jsontext.Value
	items       jsontext.Value
	values      []jsontext.Value // of const and enum
	choices     []jsontext.Value // of anyOf or oneOf
	description string
	multiple    bool
	open        bool // an object may have fields that properties does not name
}

// property is a member of properties.
type property struct {
	name  string
	value jsontext.Value
}

// orNull is the other one of two choices of which one is null; nil if there is none.
func (k keywords) orNull() jsontext.Value {
	const null = `{"type":"null"}`
	if len(k.choices) != 2 || len(k.named) > 0 || len(k.properties) > 0 {
		return nil
	}
	for n, choice := range k.choices {
		if string(choice) == null && string(k.choices[1-n]) != null {
			return k.choices[1-n]
		}
	}
	return nil
}

// keywordsOf reads a schema. That of true or false has none.
func keywordsOf(schema jsontext.Value) (k keywords, err error) {
	if schema.Kind() != '{' {
		return k, nil
	}
	members, err := membersOf(schema)
	if err != nil {
		return k, err
	}
	for _, m := range members {
		if err := k.read(m); err != nil {
			return k, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return k, nil
}

// read takes a keyword over.
func (k *keywords) read(m property) (err error) {
	switch m.name {
	case "type":
		var one string
		if m.value.Kind() == '"' {
			err = json.Unmarshal(m.value, &one)
			k.named = []string{one}
			return err //nolint:wrapcheck // keywordsOf names the keyword
		}
		return json.Unmarshal(m.value, &k.named) //nolint:wrapcheck // likewise
	case "properties":
		members, err := membersOf(m.value)
		k.addProperties(members)
		return err
	case "required":
		var names []string
		err = json.Unmarshal(m.value, &names)
		k.required = append(k.required, names...)
		return err //nolint:wrapcheck // likewise
	case "items":
		k.items = both(k.items, m.value)
	case "enum":
		values, err := listed(m.value)
		k.values = append(k.values, values...)
		return err
	case "const":
		k.values = append(k.values, m.value)
	case "description":
		if m.value.Kind() == '"' {
			return json.Unmarshal(m.value, &k.description) //nolint:wrapcheck // likewise
		}
	case "allOf":
		return k.readAll(m.value)
	default:
		return k.readRest(m)
	}
	return nil
}

// readRest takes the keywords over that leave an object open, and those of numbers.
func (k *keywords) readRest(m property) error {
	switch m.name {
	case "additionalProperties", "unevaluatedProperties":
		if m.value.Kind() != 'f' {
			k.open = true
		}
		if k.additional == nil {
			k.additional = m.value
		}
	case "patternProperties", "dependentSchemas", "if", "then", "else":
		k.open = true
	case "anyOf", "oneOf":
		choices, err := listed(m.value)
		k.choices = append(k.choices, choices...)
		k.open = true
		return err
	case "multipleOf":
		k.multiple = bytes.ContainsAny(m.value, ".eE-")
	}
	return nil
}

// readAll takes over what the schemas of allOf say, which the catalogue writes for a reference with words beside it.
func (k *keywords) readAll(schemas jsontext.Value) error {
	all, err := listed(schemas)
	if err != nil {
		return err
	}
	for _, schema := range all {
		other, err := keywordsOf(schema)
		if err != nil {
			return err
		}
		k.join(other)
	}
	return nil
}

// join adds the keywords of a schema that holds for the same value.
func (k *keywords) join(other keywords) {
	if len(k.named) == 0 {
		k.named = other.named
	}
	if k.description == "" {
		k.description = other.description
	}
	if k.additional == nil {
		k.additional = other.additional
	}
	if other.items != nil {
		k.items = both(k.items, other.items)
	}
	k.addProperties(other.properties)
	k.required = append(k.required, other.required...)
	k.values = append(k.values, other.values...)
	k.choices = append(k.choices, other.choices...)
	k.multiple = k.multiple || other.multiple
	k.open = k.open || other.open
}

// addProperties adds properties. One that is there must then fulfil both schemas.
func (k *keywords) addProperties(more []property) {
	for _, p := range more {
		at := slices.IndexFunc(k.properties, func(known property) bool { return known.name == p.name })
		if at < 0 {
			k.properties = append(k.properties, p)
			continue
		}
		k.properties[at].value = both(k.properties[at].value, p.value)
	}
}

// listed are the items of a list.
func listed(value jsontext.Value) (items []jsontext.Value, err error) {
	err = json.Unmarshal(value, &items)
	return items, err //nolint:wrapcheck // likewise
}

// both is the schema of a value that must fulfil two.
func both(one, other jsontext.Value) jsontext.Value {
	if one == nil {
		return other
	}
	return slices.Concat([]byte(`{"allOf":[`), one, []byte(","), other, []byte("]}"))
}

// membersOf are the members of an object in their order.
func membersOf(object jsontext.Value) (members []property, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := d.ReadToken(); err != nil {
		return nil, err //nolint:wrapcheck // the catalogue is read
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err //nolint:wrapcheck // likewise
		}
		of := property{name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return nil, err //nolint:wrapcheck // likewise
		}
		of.value = value.Clone()
		members = append(members, of)
	}
	return members, nil
}
