package redraft

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object with its names in the order of the text. A value is nil, a bool, a string, a number,
// []any or *object.
type object struct {
	names  []string
	values map[string]any
}

// number is a number as it is written.
type number string

func newObject() *object { return &object{values: map[string]any{}} }

// set sets a name. Of a name that comes twice, the last value counts.
func (o *object) set(name string, value any) {
	if _, known := o.values[name]; !known {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

func (o *object) has(name string) bool {
	_, known := o.values[name]
	return known
}

// text is the text of a name, "" where it has none.
func (o *object) text(name string) string {
	text, _ := o.values[name].(string)
	return text
}

// is reports whether a name has the value true.
func (o *object) is(name string) bool { return o.values[name] == true }

// with is an object of one name.
func with(name string, value any) *object {
	o := newObject()
	o.set(name, value)
	return o
}

// lenient reads every form in use: APIs answer halves of surrogate pairs and names that come twice.
var lenient = []jsontext.Options{jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)}

// parse reads a JSON value.
func parse(text jsontext.Value) (any, error) {
	return parseValue(jsontext.NewDecoder(bytes.NewReader(text), lenient...))
}

func parseValue(d *jsontext.Decoder) (any, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err //nolint:wrapcheck // it points to the fault
	}
	switch token.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		return strings.ToValidUTF8(token.String(), "\ufffd"), nil
	case '0':
		return number(token.String()), nil
	case '[':
		return parseList(d)
	}
	return parseObject(d)
}

func parseList(d *jsontext.Decoder) (any, error) {
	items := []any{}
	for d.PeekKind() != ']' {
		item, err := parseValue(d)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := d.ReadToken()
	return items, err //nolint:wrapcheck // it points to the fault
}

func parseObject(d *jsontext.Decoder) (any, error) {
	o := newObject()
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err //nolint:wrapcheck // it points to the fault
		}
		key := strings.ToValidUTF8(name.String(), "\ufffd")
		value, err := parseValue(d)
		if err != nil {
			return nil, err
		}
		o.set(key, value)
	}
	_, err := d.ReadToken()
	return o, err //nolint:wrapcheck // it points to the fault
}

// appendJSON appends the text of a value.
func appendJSON(out []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, v)
	case string:
		out, _ = jsontext.AppendQuote(out, v) // it is UTF-8
		return out
	case number:
		return append(out, v...)
	case []any:
		out = append(out, '[')
		for n, item := range v {
			out = appendJSON(comma(out, n), item)
		}
		return append(out, ']')
	case *object:
		out = append(out, '{')
		for n, name := range v.names {
			out = append(appendJSON(comma(out, n), name), ':')
			out = appendJSON(out, v.values[name])
		}
		return append(out, '}')
	}
	return out
}

// comma separates a part from the one before it.
func comma(out []byte, part int) []byte {
	if part > 0 {
		return append(out, ',')
	}
	return out
}
