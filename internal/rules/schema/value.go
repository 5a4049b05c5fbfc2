package schema

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object with its names in the order of the text.
type object struct {
	names  []string
	values []any
	places map[string]int // of the names, once one is looked up
}

// get looks a name up. It is not for use by several goroutines.
func (o *object) get(name string) (value any, ok bool) {
	if o.places == nil {
		o.places = make(map[string]int, len(o.names))
		for i, name := range o.names {
			o.places[name] = i
		}
	}
	i, ok := o.places[name]
	if !ok {
		return nil, false
	}
	return o.values[i], true
}

// parse reads JSON. A value is nil, a bool, string or numeral, []any or *object. Names of an object are distinct, and
// strings are valid UTF-8: the decoder refuses all else.
func parse(text []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	v, err := parseValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, cmp.Or(err, errors.New("there is more than one value"))
	}
	return v, nil
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
		return token.String(), nil
	case '0':
		return numeral(token.String()), nil
	case '[':
		return parseArray(d)
	}
	return parseObject(d)
}

func parseArray(d *jsontext.Decoder) (any, error) {
	items := []any{}
	for d.PeekKind() != ']' {
		v, err := parseValue(d)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	_, err := d.ReadToken()
	return items, err //nolint:wrapcheck // it points to the fault
}

func parseObject(d *jsontext.Decoder) (any, error) {
	o := &object{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err //nolint:wrapcheck // it points to the fault
		}
		key := name.String()
		v, err := parseValue(d)
		if err != nil {
			return nil, err
		}
		o.names = append(o.names, key)
		o.values = append(o.values, v)
	}
	_, err := d.ReadToken()
	return o, err //nolint:wrapcheck // it points to the fault
}

// canonical appends a text that equal values share, and others do not. Each part of it says where it ends. It stops
// where the cost is too high.
func (r *run) canonical(to []byte, v any) []byte {
	before := len(to)
	if !r.spend(costValue) {
		return to
	}
	switch v := v.(type) {
	case nil:
		to = append(to, 'n')
	case bool:
		to = strconv.AppendBool(to, v)
	case numeral:
		to = r.decimal(v).append(to)
	case string:
		to = quote(to, v)
	case []any:
		to = strconv.AppendInt(append(to, '['), int64(len(v)), 10)
		for _, item := range v {
			to = r.canonical(append(to, ','), item)
		}
		return to
	case *object:
		return r.canonicalObject(to, v)
	}
	r.spend(costByte * Cost(len(to)-before))
	return to
}

// canonicalObject appends an object's text, with its names sorted: their order does not make objects differ.
func (r *run) canonicalObject(to []byte, o *object) []byte {
	if !r.spend(costSort * Cost(len(o.names))) {
		return to
	}
	order := make([]int, len(o.names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(o.names[i], o.names[j]) })
	to = strconv.AppendInt(append(to, '{'), int64(len(order)), 10)
	for _, i := range order {
		r.spend(costByte * Cost(len(o.names[i])))
		to = r.canonical(quote(append(to, ','), o.names[i]), o.values[i])
	}
	return to
}

// quote appends a string after its length.
func quote(to []byte, s string) []byte {
	to = strconv.AppendInt(append(to, '"'), int64(len(s)), 10)
	return append(append(to, ':'), s...)
}

// kind is the JSON Schema type of a value.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case numeral:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// pointer is a JSON Pointer, one token longer. ~ and / in a name are escaped (RFC 6901, section 3).
func pointer(at string, token any) string {
	return at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(token))
}
