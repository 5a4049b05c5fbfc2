package redraft

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/schema"
)

// plenty is a budget that no test uses up.
func plenty() *Budget { return &Budget{Instructions: 1_000_000} }

// written writes a schema and compiles it. told are its notes, or why there is none.
func written(t *testing.T, text string) (compiled *schema.Schema, told string) {
	t.Helper()
	out, notes, err := Schema(jsontext.Value(text), plenty())
	if err != nil {
		return nil, err.Error()
	}
	compiled, err = schema.Compile(string(out))
	if err != nil {
		return nil, err.Error()
	}
	return compiled, strings.Join(notes, "\n")
}

// takes reports whether a schema takes data.
func takes(t *testing.T, s *schema.Schema, data string) bool {
	t.Helper()
	_, err := s.Check([]byte(data), schema.NoLimit)
	return err == nil
}

// uris are the addresses of the drafts.
var uris = map[draft]string{
	draft3: "http://json-schema.org/draft-03/schema#", draft4: "http://json-schema.org/draft-04/schema#",
	draft6: "http://json-schema.org/draft-06/schema#", draft7: "http://json-schema.org/draft-07/schema#",
	draft2019: "https://json-schema.org/draft/2019-09/schema", draft2020: "https://json-schema.org/draft/2020-12/schema",
}

// vocabulary are the keywords of the drafts' meta-schemas; each draft has the newest of those up to it. A minus leaves
// a word out again. make suite looks for further ones in the meta-schemas themselves.
var vocabulary = []struct {
	draft draft
	words string
}{
	{draft3, `type properties patternProperties additionalProperties items additionalItems required dependencies minimum
		maximum exclusiveMinimum exclusiveMaximum minItems maxItems uniqueItems pattern minLength maxLength enum default
		title description format divisibleBy disallow extends id $ref $schema`},
	{draft4, `-divisibleBy -disallow -extends multipleOf maxProperties minProperties definitions allOf anyOf oneOf not`},
	{draft6, `-id $id examples contains propertyNames const`},
	{draft7, `$comment readOnly writeOnly contentMediaType contentEncoding if then else`},
	{draft2019, `$anchor $recursiveRef $recursiveAnchor $vocabulary $defs unevaluatedItems unevaluatedProperties
		dependentSchemas dependentRequired maxContains minContains contentSchema deprecated`},
	{draft2020, `-additionalItems $dynamicRef $dynamicAnchor prefixItems`},
}

// words are the keywords of a draft.
func words(d draft) (list []string) {
	for _, v := range vocabulary {
		for word := range strings.FieldsSeq(v.words) {
			if without, minus := strings.CutPrefix(word, "-"); minus && v.draft <= d {
				list = slices.DeleteFunc(list, func(w string) bool { return w == without })
			} else if v.draft <= d {
				list = append(list, word)
			}
		}
	}
	return list
}

// asserted are keywords with data that they take and data that they refuse. from and to are the drafts in which the
// form means this, as far as they are not all drafts that have the keyword.
var asserted = map[string][]struct {
	schema, takes, refuses string
	from, to               draft
}{
	"type": {
		{`"type":"integer"`, `1`, `"1"`, 0, 0},
		{`"type":["null",{"minimum":2}]`, `2`, `1`, draft3, draft3},
	},
	"properties":            {{`"properties":{"a":{"type":"null"}}`, `{"a":null}`, `{"a":1}`, 0, 0}},
	"patternProperties":     {{`"patternProperties":{"^\\u0061":{"type":"null"}}`, `{"ab":null}`, `{"ab":1}`, 0, 0}},
	"additionalProperties":  {{`"additionalProperties":false,"properties":{"a":{}}`, `{"a":1}`, `{"b":1}`, 0, 0}},
	"propertyNames":         {{`"propertyNames":{"maxLength":1}`, `{"a":1}`, `{"ab":1}`, 0, 0}},
	"unevaluatedProperties": {{`"unevaluatedProperties":false,"properties":{"a":{}}`, `{"a":1}`, `{"b":1}`, 0, 0}},
	"required": {
		{`"properties":{"a":{"required":true}}`, `{"a":1}`, `{}`, draft3, draft3},
		{`"required":["a"]`, `{"a":1}`, `{}`, draft4, draft2020},
	},
	"minProperties": {{`"minProperties":1`, `{"a":1}`, `{}`, 0, 0}},
	"maxProperties": {{`"maxProperties":0`, `{}`, `{"a":1}`, 0, 0}},
	"dependencies": {
		{`"dependencies":{"a":"b"}`, `{"a":1,"b":1}`, `{"a":1}`, draft3, draft3},
		{`"dependencies":{"a":["b"]}`, `{"a":1,"b":1}`, `{"a":1}`, 0, 0},
		{`"dependencies":{"a":{"properties":{"b":{"type":"null"}}}}`, `{"a":1,"b":null}`, `{"a":1,"b":1}`, 0, 0},
		{`"dependencies":{"a":["b"]},"dependentRequired":{"a":["c"]}`,
			`{"a":1,"b":1,"c":1}`, `{"a":1,"c":1}`, draft2019, draft2020},
	},
	"dependentRequired": {{`"dependentRequired":{"a":["b"]}`, `{"a":1,"b":1}`, `{"a":1}`, 0, 0}},
	"dependentSchemas":  {{`"dependentSchemas":{"a":{"maxProperties":1}}`, `{"a":1}`, `{"a":1,"b":1}`, 0, 0}},
	"items": {
		{`"items":{"type":"null"}`, `[null]`, `[1]`, 0, 0},
		{`"items":[{"type":"null"}]`, `[null,1]`, `[1]`, draft3, draft2019},
		{`"items":[],"additionalItems":false`, `[]`, `[1]`, draft3, draft2019},
	},
	"additionalItems": {{`"items":[{}],"additionalItems":false`, `[1]`, `[1,2]`, draft3, draft2019}},
	"prefixItems":     {{`"prefixItems":[{"type":"null"}]`, `[null,1]`, `[1]`, 0, 0}},
	"contains": {
		{`"contains":{"type":"null"}`, `[1,null]`, `[1]`, 0, 0},
		{`"contains":{"type":"null"},"items":[{}],"unevaluatedItems":false`,
			`[null]`, `[1,null]`, draft2019, draft2019},
		{`"contains":{"type":"null"},"unevaluatedItems":false`, `[null]`, `[1,null]`, draft2020, draft2020},
	},
	"minContains":      {{`"contains":{"type":"null"},"minContains":2`, `[null,null]`, `[null]`, 0, 0}},
	"maxContains":      {{`"contains":{"type":"null"},"maxContains":1`, `[null]`, `[null,null]`, 0, 0}},
	"unevaluatedItems": {{`"unevaluatedItems":false,"allOf":[{"maxItems":9}]`, `[]`, `[1]`, 0, 0}},
	"minItems":         {{`"minItems":1`, `[1]`, `[]`, 0, 0}},
	"maxItems":         {{`"maxItems":0`, `[]`, `[1]`, 0, 0}},
	"uniqueItems":      {{`"uniqueItems":true`, `[1,2]`, `[1,1]`, 0, 0}},
	"enum":             {{`"enum":[1]`, `1`, `2`, 0, 0}},
	"const":            {{`"const":1`, `1`, `2`, 0, 0}},
	"pattern":          {{`"pattern":"^\\u0041.$"`, `"Ab"`, `"A\u2028"`, 0, 0}},
	"minLength":        {{`"minLength":1`, `"a"`, `""`, 0, 0}},
	"maxLength":        {{`"maxLength":0`, `""`, `"a"`, 0, 0}},
	"minimum":          {{`"minimum":1`, `1`, `0`, 0, 0}},
	"maximum":          {{`"maximum":1`, `1`, `2`, 0, 0}},
	"exclusiveMinimum": {
		{`"minimum":1,"exclusiveMinimum":true`, `2`, `1`, draft3, draft4},
		{`"exclusiveMinimum":1`, `2`, `1`, draft6, draft2020},
	},
	"exclusiveMaximum": {
		{`"maximum":1,"exclusiveMaximum":true`, `0`, `1`, draft3, draft4},
		{`"exclusiveMaximum":1`, `0`, `1`, draft6, draft2020},
	},
	"divisibleBy": {{`"divisibleBy":2`, `4`, `3`, 0, 0}},
	"multipleOf":  {{`"multipleOf":2`, `4`, `3`, 0, 0}},
	"disallow": {
		{`"disallow":"null"`, `1`, `null`, 0, 0}, {`"disallow":["null",{"minimum":2}]`, `1`, `2`, 0, 0},
	},
	"extends": {
		{`"extends":{"minimum":2}`, `2`, `1`, 0, 0},
		{`"extends":[{},{"minimum":2}],"maximum":3`, `2`, `1`, 0, 0},
	},
	"allOf": {{`"allOf":[{"minimum":2}]`, `2`, `1`, 0, 0}},
	"anyOf": {{`"anyOf":[{"minimum":2}]`, `2`, `1`, 0, 0}},
	"oneOf": {{`"oneOf":[{"minimum":2},{"minimum":3}]`, `2`, `3`, 0, 0}},
	"not":   {{`"not":{"minimum":2}`, `1`, `2`, 0, 0}},
	"if":    {{`"if":{"minimum":2},"then":{"minimum":4}`, `1`, `3`, 0, 0}},
	"then":  {{`"if":true,"then":{"minimum":4}`, `4`, `3`, 0, 0}},
	"else":  {{`"if":false,"else":{"minimum":4}`, `4`, `3`, 0, 0}},
	"$ref": {
		{`"$ref":"#/definitions/a","definitions":{"a":{"type":"null"}}`, `null`, `1`, 0, 0},
		{`"$ref":"#/definitions/a","maximum":1,"definitions":{"a":{"minimum":0}}`, `1`, `2`, draft2019, draft2020},
	},
	"definitions": {
		{`"anyOf":[{"$ref":"#/definitions/a"}],"definitions":{"a":{"type":"null"}}`, `null`, `1`, draft4, draft2020},
	},
	"$defs": {{`"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"null"}}`, `null`, `1`, draft2019, draft2020}},
	"id": {
		{`"id":"http://a/b","type":[{"$ref":"b#/definitions/a"}],"definitions":{"a":{"type":"null"}}`,
			`null`, `1`, draft3, draft3},
		{`"id":"http://a/b","allOf":[{"$ref":"b#/definitions/a"}],"definitions":{"a":{"type":"null"}}`,
			`null`, `1`, draft4, draft4},
	},
	"$id": {
		{`"$id":"http://a/b","allOf":[{"$ref":"/b#/definitions/a"}],"definitions":{"a":{"type":"null"}}`,
			`null`, `1`, draft6,
			draft2020},
		{`"allOf":[{"$ref":"#a"}],"definitions":{"b":{"$id":"#a","type":"null"}}`, `null`, `1`, draft6, draft7},
	},
	"$anchor": {
		{`"$ref":"#a","$defs":{"b":{"$anchor":"a","type":"null"}}`, `null`, `1`, draft2019, draft2020},
	},
	"$dynamicAnchor": {
		{`"$ref":"#a","$defs":{"b":{"$dynamicAnchor":"a","type":"null"}}`, `null`, `1`, draft2020, draft2020},
	},
}

// Each keyword of each meta-schema is kept with its meaning. A draft that does not have it ignores it, and so does the
// written schema, with a note.
func TestSchema_keepsEveryKeywordOfEveryDraft(t *testing.T) {
	for d := draft3; d <= draft2020; d++ {
		has := words(d)
		for word, rows := range asserted {
			for _, row := range rows {
				if row.from != 0 && (d < row.from || d > row.to) {
					continue
				}
				text := `{"$schema":"` + uris[d] + `",` + row.schema + `}`
				s, told := written(t, text)
				switch {
				case s == nil:
					t.Errorf("%s is left out: %s", text, told)
				case !takes(t, s, row.takes):
					t.Errorf("%s does not take %s: %s", text, row.takes, told)
				case slices.Contains(has, word) && takes(t, s, row.refuses):
					t.Errorf("%s takes %s: %s", text, row.refuses, told)
				case !slices.Contains(has, word) && !strings.Contains(told, word+" is no keyword of "+d.String()):
					t.Errorf("%s loses %s without a note: %s", text, word, told)
				}
			}
		}
	}
}

// The keywords that no row of the table has only describe, find schemas, or make a schema that is left out.
func TestSchema_keepsEveryKeywordOfEveryDraft_byARow(t *testing.T) {
	for d := draft3; d <= draft2020; d++ {
		for _, word := range words(d) {
			if k, known := keywords[word]; !known || !k.in(d) {
				t.Errorf("%s of %s is not known", word, d)
			}
		}
	}
	for word, k := range keywords {
		_, has := asserted[word]
		refused := word == "$dynamicRef" || word == "$recursiveRef"
		if !has && !k.describes && !refused && !slices.Contains(addresses, word) {
			t.Errorf("%s has no row", word)
		}
		if !refused {
			continue
		}
		if s, told := written(t, `{"`+word+`":"#"}`); s != nil || !strings.Contains(told, word) {
			t.Errorf("%s is written: %s", word, told)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"minimum":1}},"unevaluatedProperties":false}`, `{"a":1}`)
	f.Add(`{"pattern":"^[\\w.-]+\\s$","not":{"enum":["a "]}}`, `"b "`)
	for _, rows := range asserted {
		f.Add("{"+rows[0].schema+"}", rows[0].refuses)
	}
	f.Fuzz(func(t *testing.T, text, data string) {
		out, notes, err := Schema(jsontext.Value(text), plenty())
		if err != nil {
			return
		}
		if len(out) > 2*MaxBytes || !out.IsValid(lenient...) {
			t.Fatalf("%d bytes of %s", len(out), text)
		}
		given := map[string]jsontext.Value{}
		if json.Unmarshal([]byte(text), &given) != nil || len(notes) > 0 {
			return
		}
		given["$schema"] = jsontext.Value(`"` + uris[draft2020] + `"`)
		named, err := json.Marshal(given, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		before, err := schema.Compile(string(named))
		if err != nil || strings.Contains(text, "dependencies") {
			return // references, an older form
		}
		after, told := written(t, string(named))
		if told != "" {
			return
		}
		_, want := before.Check([]byte(data), schema.NoLimit)
		_, got := after.Check([]byte(data), schema.NoLimit)
		if (want == nil) != (got == nil) && !strings.Contains(text, "pattern") {
			t.Errorf("%s of %s: %v, and %v before", text, data, got, want)
		}
	})
}
