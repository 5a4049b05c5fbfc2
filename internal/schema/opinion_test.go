package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

func quoted(s string) string { return `"` + s + `"` }

// drawValue draws a small value of JSON.
func drawValue(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	switch {
	case kind >= 5 && depth > 0:
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "dd"}), 0, 3, rapid.ID).Draw(t, "names")
		var members []string
		for _, name := range names {
			members = append(members, `"`+name+`":`+drawValue(t, depth-1))
		}
		return "{" + strings.Join(members, ",") + "}"
	case kind >= 3 && depth > 0:
		return "[" + repeat(rapid.IntRange(0, 3).Draw(t, "items"), func(int) string { return drawValue(t, depth-1) }) + "]"
	}
	return rapid.SampledFrom([]string{"0", "1", "2", "1.5", "-3", `""`, `"a"`, `"ab"`, `"é"`, "true", "null"}).
		Draw(t, "scalar")
}

// drawSchema draws a schema of a few keywords, some of them nested.
func drawSchema(t *rapid.T, depth int) string {
	if depth == 0 {
		return rapid.SampledFrom([]string{"true", "false", "{}", `{"type":"integer"}`, `{"const":1}`}).Draw(t, "leaf")
	}
	inner := func() string { return drawSchema(t, depth-1) }
	list := func() string { return "[" + inner() + "," + inner() + "]" }
	n := rapid.IntRange(0, 3).Draw(t, "n")
	number := fmt.Sprint(n)
	all := map[string]func() string{
		"type": func() string {
			return rapid.SampledFrom([]string{
				`"object"`, `"array"`, `["string","integer"]`, `"number"`, `"null"`, `["boolean","array"]`,
			}).Draw(t, "type")
		},
		"const":             func() string { return drawValue(t, 1) },
		"enum":              func() string { return "[" + drawValue(t, 1) + "," + drawValue(t, 0) + "]" },
		"minimum":           func() string { return number },
		"maximum":           func() string { return number },
		"exclusiveMinimum":  func() string { return number },
		"exclusiveMaximum":  func() string { return number },
		"multipleOf":        func() string { return fmt.Sprint(n + 1) },
		"minLength":         func() string { return number },
		"maxLength":         func() string { return number },
		"pattern":           func() string { return quoted(rapid.StringMatching(`\^a|b\$|\^\.\?\$`).Draw(t, "form")) },
		"minItems":          func() string { return number },
		"maxItems":          func() string { return number },
		"uniqueItems":       func() string { return "true" },
		"prefixItems":       list,
		"items":             inner,
		"contains":          inner,
		"minContains":       func() string { return number },
		"maxContains":       func() string { return number },
		"minProperties":     func() string { return number },
		"maxProperties":     func() string { return number },
		"required":          func() string { return `["a","b"]` },
		"dependentRequired": func() string { return `{"a":["b"],"c":["a","dd"]}` },
		"propertyNames":     func() string { return `{"maxLength":` + number + `}` },
		"properties":        func() string { return `{"a":` + inner() + `,"b":` + inner() + `}` },
		"patternProperties": func() string { return `{"^[ad]":` + inner() + `}` },

		"additionalProperties": inner, "allOf": list, "anyOf": list, "oneOf": list, "not": inner,
		"if": inner, "then": inner, "else": inner,
		"dependentSchemas": func() string { return `{"a":` + inner() + `}` },
		"unevaluatedItems": inner, "unevaluatedProperties": inner,
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	var members []string
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID).Draw(t, "keywords") {
		members = append(members, `"`+name+`":`+all[name]())
	}
	return "{" + strings.Join(members, ",") + "}"
}

// Where numbers are small, the library is right, too. Its second opinion is about everything else.
func TestSchema_Check_agreesWithASecondOpinion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema, data := drawSchema(t, 3), drawValue(t, 3)
		if schema == "true" || schema == "false" {
			return
		}
		var theirs jsonschema.Schema
		if err := theirs.UnmarshalJSON([]byte(schema)); err != nil {
			t.Fatal(err)
		}
		resolved, err := theirs.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal([]byte(data), &value); err != nil {
			t.Fatal(err)
		}
		want := resolved.Validate(value)
		if got := fits(t, schema, data); got != (want == nil) {
			t.Errorf("%s of %s is %t, and %v", schema, data, got, want)
		}
		ours, err := Compile(schema)
		if err != nil {
			t.Fatal(err)
		}
		spent, _ := ours.Check([]byte(data), NoLimit)
		if most, at := ours.Worst(len(data)); spent > most {
			t.Errorf("%s of %s costs %d, more than %d because of %s", schema, data, spent, most, at)
		}
	})
}
