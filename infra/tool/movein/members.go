package movein

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// member is a name of an object with its value.
type member struct {
	name  string
	value jsontext.Value
}

// membersOf are the members of an object in its order, nil of anything else.
func membersOf(v jsontext.Value) (list []member) {
	if v.Kind() != '{' {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(v), lenient...)
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() == '"' {
		var name jsontext.Token
		var value jsontext.Value
		name, err = d.ReadToken()
		if err != nil {
			return list
		}
		m := member{name: name.String()}
		value, err = d.ReadValue()
		if err == nil {
			m.value = value.Clone()
			list = append(list, m)
		}
	}
	return list
}

// itemsOf are the items of a list, nil of anything else.
func itemsOf(v jsontext.Value) (list []jsontext.Value) {
	if v.Kind() != '[' || json.Unmarshal(v, &list, lenient...) != nil {
		return nil
	}
	return list
}

// textOf is a text, "" of anything else.
func textOf(v jsontext.Value) (text string) {
	if v.Kind() != '"' || json.Unmarshal(v, &text, lenient...) != nil {
		return ""
	}
	return text
}

// get is the value of a name, nil where there is none. Of a name that comes twice, the last counts.
func get(v jsontext.Value, name string) (found jsontext.Value) {
	for _, m := range membersOf(v) {
		if m.name == name {
			found = m.value
		}
	}
	return found
}

// object writes members, each name once.
func object(list []member) jsontext.Value {
	last := map[string]int{}
	for at, m := range list {
		last[m.name] = at
	}
	out := []byte("{")
	for at, m := range list {
		if last[m.name] != at {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoted(m.name)...), ':'), m.value...)
	}
	return append(out, '}')
}

// list writes items.
func list(items []jsontext.Value) jsontext.Value {
	parts := make([][]byte, len(items))
	for n, item := range items {
		parts[n] = item
	}
	return append(append([]byte("["), bytes.Join(parts, []byte(","))...), ']')
}

// quoted is a text as JSON.
func quoted(text string) jsontext.Value {
	out, _ := jsontext.AppendQuote(nil, text) // replaces bytes that are no UTF-8
	return out
}
