package cataloguefile

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

func TestRead_knowsAReferenceByItsKey(t *testing.T) {
	got, faults := readText(t, own{
		data: "{ title: $ref, $ref: '#/components/x' }", more: "components: { x: { type: object } }\n",
	}.text())
	if want := `{"allOf":[{"type":"object"}],"title":"$ref"}`; faults != "" || len(got) != 1 || got[0].Schema != want {
		t.Errorf("%+v, %s, want the schema %s", got, faults, want)
	}
}

// readText reads the catalogue own.yaml with this text.
func readText(t *testing.T, text string) (types []catalogue.Type, faults string) {
	t.Helper()
	all, faults := merged(t, text)
	return all.Own, faults
}

// own is a catalogue of one type. An empty name is a.b, and another empty field becomes the plainest text that is
// valid. The type stands in line 5, its schema in line 12 and its example in line 14.
type own struct{ name, data, example, more string }

func (o own) text() string {
	return `openapi: 3.1.0
info: { title: t, version: "1" }

webhooks:
  ` + cmp.Or(o.name, "a.b") + `:
    post:
      summary: Something happened
      requestBody:
        content:
          application/json:
            schema:
              properties: { data: ` + cmp.Or(o.data, "{ type: object }") + ` }
            example:
              data: ` + cmp.Or(o.example, "{}") + `
` + o.more
}

func TestRead_namesTheLine(t *testing.T) {
	const (
		shape = " must be object.action, of A-Z a-z 0-9 _ - and dots between"
		toX   = "{ $ref: '#/components/x' }"
		loop  = "components: { schemas: { A: { properties: { b: { $ref: '#/components/schemas/B' } } },\n" +
			"  B: { items: { $ref: '#/components/schemas/A' } } } }\n"
		merged = "12: merged mappings and keys that are no text are not JSON"
	)
	long := strings.Repeat("a", 195) + ".made"
	many := strings.Repeat("{ const: AB, title: A country }, ", 249) + "{ const: ZW }"
	const email = "^[A-Za-z0-9.!#$%&*+/=?^_`{|}~-]+@[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?" +
		"([.][A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$"
	const costly = "^([a-z]-[0-9]-[a-z]-){1,900}$"
	eight := strings.Repeat("{ oneOf: [{},{},{},{},{},{},{},{}] }, ", 8)
	for name, row := range map[string]struct {
		own  own
		want string // after the file's name; "": nothing is wrong
	}{
		"nothing wrong":               {own{}, ""},
		"a long name":                 {own{name: long}, "5: a name may have 64 characters, and this one has 200"},
		"a name without action":       {own{name: "a"}, `5: "a"` + shape},
		"a name with a space":         {own{name: "a.b c"}, `5: "a.b c"` + shape},
		"a name of the specification": {own{name: "user.created"}, ""},
		"an action below user":        {own{name: "user.signed_in"}, ""},
		"an object of the specification, in another case": {
			own{name: "Connection.made"}, "5: Connection.made: Connection differs from connection in case only, " +
				"and no wildcard of connection would select it: write connection.made",
		},
		"a name of the specification, in another case": {
			own{name: "user.Created"}, "5: user.Created differs from user.created in case only",
		},
		"the test delivery": {
			own{name: "herald.test"}, "5: herald.test: names below herald. are for Herald's test deliveries",
		},
		"a name twice": {own{more: "  a.b: {}\n"}, `15: mapping key "a.b" already defined at line 5`},
		"a loop of references": {
			own{data: "{ $ref: '#/components/schemas/A' }", more: loop},
			"16: $ref loop: #/components/schemas/A → #/components/schemas/B → #/components/schemas/A",
		},
		"a reference to itself": {
			own{data: toX, more: "components: { x: " + toX + " }\n"}, "15: $ref loop: #/components/x → #/components/x",
		},
		"a reference to nothing": {own{data: toX}, "12: $ref #/components/x: there is nothing of that name"},
		"a reference to another file": {
			own{data: "{ $ref: 'other.yaml' }"}, "12: $ref other.yaml: references must stay in the file and begin with #/",
		},
		"an example that does not fit": {
			own{data: "{ properties: { n: { type: string } } }", example: "{ n: 1 }"},
			"14: the example of a.b: /n: must be string (/properties/n/type)",
		},
		"an example that is no object":         {own{example: "[]"}, "14: must be an object"},
		"a number that is not JSON's":          {own{example: "{ n: 0x1F }"}, "14: 0x1F: write it as JSON does"},
		"a pattern that is none":               {own{data: "{ pattern: '(' }"}, "12: the schema of a.b: "},
		"mappings that are merged in a circle": {own{data: "&a { x: &b { <<: *a }, <<: *b }"}, merged},
		"a reference that is merged in": {
			own{data: "{ <<: " + toX + " }", more: "components: { x: { type: object } }\n"}, merged,
		},
		"a dynamic reference": {
			own{data: `{ allOf: [{ $dynamicRef: "#t" }] }`}, "12: $dynamicRef: only $ref may refer to another schema",
		},
		"a multiple of a fraction": {
			own{data: "{ properties: { amount: { multipleOf: 0.01 } } }", example: "{ amount: 12345678901234567.07 }"}, "",
		},
		"a number that no float holds": {
			own{data: "{ properties: { amount: { type: number, minimum: 1e400 } } }", example: "{ amount: 1E401 }"}, "",
		},
		"names that need others": {own{data: "{ dependentRequired: { $ref: [a], $id: [b] } }"}, ""},
		"no multiple of a fraction": {
			own{data: "{ properties: { amount: { multipleOf: 0.01 } } }", example: "{ amount: 12345678901234567.075 }"},
			"14: the example of a.b: /amount: does not fulfil its schema (/properties/amount/multipleOf)",
		},
		"properties of such names":     {own{data: "{ properties: { $id: { type: string }, multipleOf: {} } }"}, ""},
		"alternatives of alternatives": {own{data: "{ anyOf: [" + eight + "{}] }"}, ""},
		"a value of many":              {own{data: "{ properties: { country: { oneOf: [" + many + "] } } }"}, ""},
		"values of many": {
			own{data: "{ properties: { countries: { items: { oneOf: [" + many + "] } } } }"},
			"12: the schema of a.b: checking /properties/countries/items/oneOf/0/const may take fanout over a minute; " +
				"bound the data by maxLength or maxItems",
		},
		"up to 100 values of many": {
			own{data: "{ properties: { countries: { maxItems: 100, items: { oneOf: [" + many + "] } } } }"}, "",
		},
		"values of an enum": {own{data: "{ properties: { countries: { uniqueItems: true, items: { enum: [a, b] } } } }"}, ""},
		"an address":        {own{data: "{ properties: { email: { pattern: '" + email + "' } } }"}, ""},
		"a costly pattern": {
			own{data: "{ properties: { x: { pattern: '" + costly + "' } } }"},
			"12: the schema of a.b: checking /properties/x/pattern may take fanout over a minute; " +
				"bound the data by maxLength or maxItems",
		},
		"a costly pattern of short texts": {
			own{data: "{ properties: { x: { pattern: '" + costly + "', maxLength: 100 } } }"}, "",
		},
		"a costly pattern of many short texts": {
			own{data: "{ patternProperties: { '^x': { pattern: '" + costly + "', maxLength: 100 } } }"},
			"12: the schema of a.b: checking /patternProperties/^x/pattern may take fanout over a minute; ",
		},
		"a costly pattern of a few short texts": {
			own{data: "{ maxProperties: 9, patternProperties: { '^x': { pattern: '" + costly + "', maxLength: 100 } } }"}, "",
		},
		"an anchor that contains itself": {own{data: "&s { allOf: [*s] }"}, "12: more than 64 levels"},
		"an anchor beside the types that contains itself": {
			own{more: "x-more: &s [*s]\n"}, " yaml: anchor 's' value contains itself",
		},
	} {
		t.Run(name, func(t *testing.T) { wantFault(t, row.own.text(), row.want) })
	}
}

func TestRead_namesTheLineOfWhatIsNoCatalogue(t *testing.T) {
	const example = "example:\n              data: {}"
	plain := own{}.text()
	for name, row := range map[string]struct{ text, want string }{
		"no schema of the data": {
			strings.Replace(plain, "data: { type", "date: { type", 1), "12: a.b has no data here: write data: and, below it,",
		},
		"no schema of the data, and a faulty example": {
			strings.Replace(own{example: "{ n: 0x1F }"}.text(), "data: { type", "date: { type", 1),
			"12: a.b has no data here: write data: and, below it, the schema of the event's data, or in an example the data " +
				"itself\nown.yaml:14: 0x1F: write it as JSON does",
		},
		"no example": {strings.Replace(plain, "example:", "sample:", 1), "11: a.b has no examples here"},
		"no example, and a faulty schema": {
			strings.Replace(own{data: "{ $ref: x }"}.text(), "example:", "sample:", 1),
			"12: $ref x: references must stay in the file and begin with #/\nown.yaml:11: a.b has no examples here",
		},
		"the first of several examples": {
			strings.Replace(plain, example, "examples: { one: { value: { data: {} } }, two: {} }", 1), "",
		},
		"examples without one": {strings.Replace(plain, example, "examples: {}", 1), "13: a.b has no example"},
		"a summary that is merged in": {
			strings.Replace(plain, "summary: Something happened", "<<: { summary: S }", 1), "",
		},
		"the name of another type in the schema": {
			strings.Replace(plain, "{ data:", "{ type: { const: a.c }, data:", 1), `12: this is "a.c", below a.b`,
		},
		"the name of another type": {
			strings.Replace(plain, "example:", "example:\n              type: a.c", 1), `14: this is "a.c", below a.b`,
		},
		"no YAML":         {"a: [", " yaml: line 1: "},
		"an empty file":   {"", "1: the catalogue is empty"},
		"another version": {"openapi: 3.0.3\nwebhooks: {}\n", "1: openapi must be 3.1"},
		"no webhooks":     {"openapi: 3.1.0\n", "1: webhooks is missing"},
	} {
		t.Run(name, func(t *testing.T) { wantFault(t, row.text, row.want) })
	}
}

// wantFault wants a fault of the catalogue that begins so after the file's name, or none.
func wantFault(t *testing.T, text, want string) {
	t.Helper()
	_, faults := readText(t, text)
	if want == "" && faults != "" || want != "" && !strings.HasPrefix(faults, "own.yaml:"+want) {
		t.Errorf("faults %s\nwant   own.yaml:%s", faults, want)
	}
}

func TestRead_namesAllLinesAtOnce(t *testing.T) {
	unsummed := func(o own) string { return strings.Replace(o.text(), "Something happened", "''", 1) }
	for text, want := range map[string]int{
		own{name: "herald.moved", more: "  x: {}\n  y: {}\n"}.text():                    3,
		unsummed(own{data: "{ pattern: '(' }", example: "[]"}):                          3,
		unsummed(own{data: "{ properties: { n: { const: 1 } } }", example: "{ n: 2 }"}): 2,
	} {
		if _, faults := readText(t, text); strings.Count(faults, "own.yaml:") != want {
			t.Errorf("faults %s, want %d", faults, want)
		}
	}
}

// The API answers with all examples at once. A file that repeats one by aliases is small, and they are not.
func TestRead_boundsTheExamplesTogether(t *testing.T) {
	whole := func(types int) string {
		var text strings.Builder
		text.WriteString("openapi: 3.1.0\nwebhooks:\n")
		for n := range types {
			example := "*e"
			if n == 0 {
				example = `&e { data: { text: "` + strings.Repeat("x", 60<<10) + `" } }`
			}
			fmt.Fprintf(&text, "  a.b%d: { post: { summary: s, requestBody: { content: { application/json: { "+
				"schema: { properties: { data: { type: object } } }, example: %s } } } } }\n", n, example)
		}
		return text.String()
	}
	wantFault(t, whole(8), "")
	wantFault(t, whole(9), "11: the examples up to here have more than 524288 bytes together")
}
