package movein

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/tool/movein/redraft"
	"github.com/herald-webhooks/herald/internal/rules/schema"
)

// maxExample bounds the parts of a made example, in bytes. deepest bounds how deep they are nested. longestCheck bounds
// the time that an example's check may take, and longestChecks the time of all checks for a file.
const (
	maxExample    = 4 << 10
	deepest       = 16
	longestCheck  = time.Second
	longestChecks = 20 * time.Second
)

// example is data of a type that fulfils its schema: the schema's own example, or else a made one. If neither fulfils
// it, {} takes the place of an example to be written by hand. original is the schema as the other sender has it, which
// may be the schema of the whole body.
func (c *conversion) example(r *record, compiled *schema.Schema, text, original jsontext.Value) jsontext.Value {
	given := []jsontext.Value{r.value("example")}
	for _, s := range []jsontext.Value{original, text} {
		given = append(append(given, get(s, "example")), itemsOf(get(s, "examples"))...)
	}
	for at, v := range append(given, made(text, 0), jsontext.Value("{}")) {
		if v.Kind() != '{' || len(v) > redraft.MaxBytes {
			continue
		}
		if data := get(v, "data"); data.Kind() == '{' && get(v, "type") != nil && at < len(given) {
			v = data
		}
		if compiled == nil {
			return v
		}
		spent, err := compiled.Check(v, min(c.checks, schema.In(longestCheck)))
		c.checks -= spent
		if err == nil {
			switch at {
			case len(given):
				r.note("example", "is made up from the schema")
			case len(given) + 1:
				r.note("example", "is {}: write a better one")
			}
			return v
		}
	}
	r.note("example", "none was found that fulfils the schema: write one in place of {}")
	return jsontext.Value("{}")
}

// made is a value that fulfils the usual schemas. The caller checks it.
func made(s jsontext.Value, depth int) jsontext.Value {
	if depth > deepest {
		return jsontext.Value("null")
	}
	if v := stated(s); v != nil {
		return v
	}
	if all := itemsOf(get(s, "allOf")); len(all) > 0 {
		return madeOfAll(s, all, depth)
	}
	for _, name := range []string{"oneOf", "anyOf"} {
		if all := itemsOf(get(s, name)); len(all) > 0 {
			return made(all[0], depth+1)
		}
	}
	switch kindOf(s) {
	case "object":
		return madeObject(s, depth)
	case "array":
		return madeList(s, depth)
	case "integer", "number":
		return madeNumber(s)
	case "boolean":
		return jsontext.Value("true")
	case "null":
		return jsontext.Value("null")
	}
	return quoted(madeText(s))
}

// stated is a value that a schema states itself, nil where there is none.
func stated(s jsontext.Value) jsontext.Value {
	for _, name := range []string{"const", "example", "default"} {
		if v := get(s, name); v != nil {
			return v
		}
	}
	for _, name := range []string{"examples", "enum"} {
		if all := itemsOf(get(s, name)); len(all) > 0 {
			return all[0]
		}
	}
	return nil
}

// kindOf is the type of a schema, by its members where it names none.
func kindOf(s jsontext.Value) string {
	kind := get(s, "type")
	if all := itemsOf(kind); len(all) > 0 {
		kind = all[0]
	}
	switch {
	case kind != nil:
		return textOf(kind)
	case get(s, "properties") != nil || get(s, "required") != nil:
		return "object"
	case get(s, "items") != nil:
		return "array"
	}
	return "string"
}

// madeOfAll makes an example of allOf: the members of an example of each schema, in one object.
func madeOfAll(s jsontext.Value, all []jsontext.Value, depth int) jsontext.Value {
	var joined []member
	for _, one := range all {
		v := made(one, depth+1)
		if v.Kind() != '{' {
			return v
		}
		joined = append(joined, membersOf(v)...)
	}
	return object(append(joined, membersOf(madeObject(s, depth))...))
}

func madeObject(s jsontext.Value, depth int) jsontext.Value {
	properties := membersOf(get(s, "properties"))
	for _, name := range itemsOf(get(s, "required")) {
		if get(get(s, "properties"), textOf(name)) == nil {
			properties = append(properties, member{textOf(name), jsontext.Value("{}")})
		}
	}
	for n, p := range properties {
		properties[n].value = made(p.value, depth+1)
	}
	return object(properties)
}

func madeList(s jsontext.Value, depth int) jsontext.Value {
	var items []jsontext.Value
	for _, item := range itemsOf(get(s, "prefixItems")) {
		items = append(items, made(item, depth+1))
	}
	one, size := made(get(s, "items"), depth+1), 0
	for least := max(1, number(s, "minItems", 1)); len(items) < least && size < maxExample; size += len(one) + 1 {
		items = append(items, one)
	}
	return list(items)
}

func madeNumber(s jsontext.Value) jsontext.Value {
	if v := cmp.Or(string(get(s, "minimum")), string(get(s, "multipleOf")), string(get(s, "maximum"))); v != "" {
		return jsontext.Value(v)
	}
	if v := get(s, "exclusiveMinimum"); v != nil {
		return jsontext.Value(strconv.Itoa(number(s, "exclusiveMinimum", 0) + 1))
	}
	return jsontext.Value("1")
}

// formats are texts of formats that are in use.
var formats = map[string]string{
	"date-time": "2026-01-02T15:04:05Z", "date": "2026-01-02", "time": "15:04:05Z", "email": "ann@example.com",
	"uri": "https://example.com/", "url": "https://example.com/", "hostname": "example.com", "ipv4": "192.0.2.1",
	"ipv6": "2001:db8::1", "uuid": "6f1f5c1e-8f0d-4c55-9d3b-0d7f4b3a2c10",
}

func madeText(s jsontext.Value) string {
	text := cmp.Or(formats[textOf(get(s, "format"))], "text")
	if pattern, err := regexp.Compile(textOf(get(s, "pattern"))); err == nil && !pattern.MatchString(text) {
		prefix, _ := regexpPrefix(textOf(get(s, "pattern")))
		for _, end := range []string{"", "1", "12", "a", "A", "1.00", "ABC", "01JCRX4H7C2K", "0123456789abcdef"} {
			if pattern.MatchString(prefix + end) {
				text = prefix + end
				break
			}
		}
	}
	if least := number(s, "minLength", 0); len(text) < least && least < maxExample {
		text += strings.Repeat("x", least-len(text))
	}
	if most := number(s, "maxLength", len(text)); most >= 0 && len(text) > most {
		text = text[:most]
	}
	return text
}

// regexpPrefix is the literal text that every match begins with.
func regexpPrefix(pattern string) (prefix string, complete bool) {
	re, err := regexp.Compile(strings.TrimPrefix(pattern, "^"))
	if err != nil {
		return "", false
	}
	return re.LiteralPrefix()
}

// number is a whole number of a schema.
func number(s jsontext.Value, name string, otherwise int) (n int) {
	if v := get(s, name); v == nil || json.Unmarshal(v, &n) != nil {
		return otherwise
	}
	return n
}
