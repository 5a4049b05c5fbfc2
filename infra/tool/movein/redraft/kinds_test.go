package redraft

import (
	"strings"
	"testing"
)

// Each row is a schema with data that it takes and refuses by its own draft, and what is said about it.
func TestSchema_keepsWhatItMeans(t *testing.T) {
	const (
		d7 = `"$schema":"http://json-schema.org/draft-07/schema#",`
		d2 = `"$schema":"https://json-schema.org/draft/2020-12/schema",`
	)
	for name, c := range map[string]struct{ schema, takes, refuses, note string }{
		"unevaluatedProperties beside a reference": {
			`{` + d2 + `"$ref":"#/$defs/base","properties":{"n":{"type":"integer"}},"unevaluatedProperties":false,
				"$defs":{"base":{"type":"object","properties":{"id":{"type":"string"}}}}}`,
			`{"id":"x","n":1}`, `{"id":"x","z":1}`, "",
		},
		"unevaluatedItems beside a reference and allOf": {
			`{"$ref":"#/$defs/a","allOf":[{"prefixItems":[true,{"type":"null"}]}],"unevaluatedItems":false,
				"$defs":{"a":{"prefixItems":[{"type":"string"}]}}}`,
			`["a",null]`, `["a",null,1]`, "what is beside $ref counts, as in 2020-12: the schema names no draft",
		},
		"a length beside a reference in draft 7": {
			`{` + d7 + `"properties":{"code":{"$ref":"#/definitions/code","maxLength":3,"title":"Code"}},
				"definitions":{"code":{"type":"string"}}}`,
			`{"code":"abcdef"}`, `{"code":1}`, "maxLength beside $ref counts for nothing in draft 7, and is left out",
		},
		"dependencies": {
			`{` + d7 + `"dependencies":{"card":["zip"]}}`, `{"card":"1","zip":"2"}`, `{"card":"1"}`, "",
		},
		"a name with percent-encoded characters": {
			`{` + d7 + `"properties":{"total":{"$ref":"#/definitions/Money%3CCents%3E"}},
				"definitions":{"Money<Cents>":{"type":"integer"}}}`,
			`{"total":1}`, `{"total":"x"}`, "",
		},
		"a name with slash, tilde and percent sign": {
			`{"properties":{"a":{"$ref":"#/$defs/a~1b~0c%25d"}},"$defs":{"a/b~c%d":{"type":"integer"}}}`,
			`{"a":1}`, `{"a":"x"}`, "",
		},
		"a name that is percent-encoded itself": {
			`{"properties":{"a":{"$ref":"#/$defs/a%3Cb"}},"$defs":{"a%3Cb":{"type":"integer"}}}`, `{"a":1}`, `{"a":"x"}`, "",
		},
		"an index": {
			`{"properties":{"a":{"anyOf":[{"type":"null"}]},"b":{"$ref":"#/properties/a/anyOf/0"}}}`,
			`{"b":null}`, `{"b":1}`, "",
		},
		"the document's own address": {
			`{` + d2 + `"$id":"https://example.com/schemas/order.json","properties":{
				"a":{"$ref":"https://example.com/schemas/order.json#/$defs/n"},"b":{"$ref":"order.json#/$defs/n"},
				"c":{"$ref":"/schemas/order.json#n"}},"$defs":{"n":{"$anchor":"n","type":"null"}}}`,
			`{"a":null,"b":null,"c":null}`, `{"a":null,"b":null,"c":1}`, "",
		},
		"an embedded document with an address": {
			`{` + d2 + `"$id":"https://example.com/a","$ref":"b","$defs":{"x":{"$id":"b","$ref":"#/$defs/n",
				"$defs":{"n":{"minProperties":1}}}}}`,
			`{"a":1}`, `{}`, "",
		},
		"an id that its tool ignores": {
			`{` + d7 + `"properties":{"a":{"$id":"/properties/a","items":{"$ref":"#/definitions/n"}}},
				"definitions":{"n":{"type":"null"}}}`,
			`{"a":[null]}`, `{"a":[1]}`, "",
		},
		"an anchor of draft 4": {
			`{"$schema":"http://json-schema.org/draft-04/schema","allOf":[{"$ref":"#n"}],
				"definitions":{"a":{"id":"#n","minProperties":1}}}`,
			`{"a":1}`, `{}`, "",
		},
		"another draft's schema within": {
			`{` + d2 + `"$ref":"old","$defs":{"a":{"$id":"old",` + d7 + `"dependencies":{"a":["b"]},"const":{"a":1,"b":1}}}}`,
			`{"a":1,"b":1}`, `{"a":1}`, "",
		},
		"nullable with a type": {
			`{"properties":{"a":{"type":"string","nullable":true}}}`, `{"a":null}`, `{"a":1}`, "",
		},
		"nullable beside a reference": {
			`{"properties":{"a":{"$ref":"#/$defs/s","nullable":true}},"$defs":{"s":{"type":"string"}}}`,
			`{"a":null}`, `{"a":1}`, `nullable without type is kept as "or null"`,
		},
		"nullable in a draft that has no such word": {
			`{` + d7 + `"properties":{"a":{"type":"string","nullable":true}}}`,
			`{"a":null}`, `{"a":1}`, `nullable is no keyword of draft 7, and is kept as "or null"`,
		},
		"a keyword of a later draft": {
			`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"const":1}},"required":["a"]}`,
			`{"a":2}`, `{}`, "const is no keyword of draft 4, and is left out",
		},
		"a draft that nobody knows": {
			`{"$schema":"https://example.com/own","required":["a"]}`, `{"a":1}`, `{}`,
			"$schema is of no draft that is known here: the keywords of all drafts count",
		},
		"required twice": {
			`{"properties":{"a":{"required":true},"b":{}},"required":["b"]}`, `{"a":1,"b":1}`, `{"b":1}`, "",
		},
		"additionalItems that count for nothing": {
			`{` + d7 + `"properties":{"a":{"items":{},"additionalItems":false,"maxItems":1}}}`, `{"a":[1]}`, `{"a":[1,1]}`, "",
		},
		"formats": {`{"properties":{"a":{"type":"string","format":"email"}}}`, `{"a":"x"}`, `{"a":1}`,
			"format only describes, and is not checked"},
		"words of one's own": {`{"x-order":1,"x-of":{"$ref":"#/none"},"minProperties":1}`, `{"a":1}`, `{}`,
			"x-of is no keyword, and is left out: it has references"},
		"an object in place of a reference": {
			`{"properties":{"$ref":{"type":"string"},"a":{"const":{"$ref":"#/none"}}}}`, `{"$ref":"a"}`, `{"$ref":1}`, "",
		},
		"a reference that is no text": {`{"$ref":1,"minProperties":1}`, `{"a":1}`, `{}`, "$ref is no text, and is left out"},
		"a pattern that RE2 does not know": {
			`{"properties":{"a":{"pattern":"(?!x)","type":"string"}}}`, `{"a":"x"}`, `{"a":1}`,
			"a pattern that RE2 does not know is left out",
		},
		"two names of patterns that are one": {
			`{"patternProperties":{"\\u0041":{"type":"string"},"\\u{41}":{"minLength":1}}}`, `{"A":"a"}`, `{"A":""}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, told := written(t, c.schema)
			if s == nil {
				t.Fatal(told)
			}
			if told != c.note {
				t.Errorf("the notes are %q, want %q", told, c.note)
			}
			if !takes(t, s, c.takes) {
				t.Errorf("it does not take %s", c.takes)
			}
			if takes(t, s, c.refuses) {
				t.Errorf("it takes %s", c.refuses)
			}
		})
	}
}

func TestSchema_saysWhyItIsNotWritten(t *testing.T) {
	const noPart, noSchema = "it refers to a part that it does not have", " must be an object, true or false"
	for name, c := range map[string]struct{ schema, want string }{
		"itself":                 {`{"properties":{"a":{"$ref":"#"}}}`, "it refers to itself"},
		"itself, by its address": {`{"$id":"http://a/b","items":{"$ref":"b"}}`, "it refers to itself"},
		"another document":       {`{"$ref":"other.json"}`, "it refers to another document"},
		"no part":                {`{"$ref":"#/$defs/none"}`, noPart},
		"no index":               {`{"anyOf":[{}],"items":{"$ref":"#/anyOf/01"}}`, noPart},
		"no anchor":              {`{"$ref":"#none"}`, noPart},
		"a text":                 {`{"title":"a","items":{"$ref":"#/title"}}`, noPart},
		"a reference that moves": {`{"$dynamicRef":"#a"}`, "$dynamicRef"},
		"levels": {strings.Repeat(`{"items":`, 99) + "1" +
			strings.Repeat("}", 99), "more than 64 levels"},
		"bytes":                     {`{"title":"` + strings.Repeat("x", MaxBytes) + `"}`, "more than 65536 bytes"},
		"bytes of an example":       {`{"examples":[{"` + strings.Repeat("x", MaxBytes) + `":1}]}`, "more than 65536 bytes"},
		"a denied unknown pattern":  {`{"not":{"pattern":"(?!x)"}}`, "a pattern that RE2 does not know"},
		"an unknown name's pattern": {`{"patternProperties":{"(?!x)":{}}}`, "a pattern that RE2 does not know"},
		"dependencies of nothing":   {`{"dependencies":1}`, "/dependentSchemas/dependencies" + noSchema},
		"no schema":                 {`{"items":1}`, "/items" + noSchema},
	} {
		if s, told := written(t, c.schema); s != nil || !strings.HasSuffix(told, c.want) {
			t.Errorf("%s: %q, want %q", name, told, c.want)
		}
	}
}
