package schema

import (
	"math"
	"strings"
	"testing"
)

func TestCompile_namesThePlaceOfWhatItRefuses(t *testing.T) {
	long := "1e" + strings.Repeat("9", maxExponent+1)
	for text, want := range map[string]string{
		`{`:     "unexpected EOF",
		`{} {}`: "there is more than one value",
		`[]`:    "it must be an object",
		`true`:  "it must be an object",
		`{"$schema":"http://json-schema.org/draft-04/schema#"}`: "$schema must be " + dialect,

		`{"$ref":"https://example.com/schema.json"}`: "/$ref: references are not followed",
		`{"$dynamicRef":"#a"}`:                       "/$dynamicRef: references are not followed",

		`{"type":"strin"}`:                     `/type: there is no type "strin"`,
		`{"type":1}`:                           "/type must be the name of a type, or a list of such",
		`{"type":["null",1]}`:                  "/type must be the name of a type, or a list of such",
		`{"enum":1}`:                           "/enum must be a list of values",
		`{"const":` + long + `}`:               "/const has a number with too long an exponent",
		`{"minimum":"1"}`:                      "/minimum must be a number with at most 1000 digits",
		`{"exclusiveMaximum":true}`:            "/exclusiveMaximum must be a number with at most 1000 digits",
		`{"maximum":` + long + `}`:             "/maximum must be a number with at most 1000 digits",
		`{"multipleOf":0}`:                     "/multipleOf must be a number above 0 with at most 1000 digits",
		`{"multipleOf":-2}`:                    "/multipleOf must be a number above 0 with at most 1000 digits",
		`{"minLength":"1"}`:                    "/minLength must be a whole number, 0 or more",
		`{"maxLength":1.5}`:                    "/maxLength must be a whole number, 0 or more",
		`{"maxLength":-1,"pattern":"a"}`:       "/maxLength must be a whole number, 0 or more",
		`{"minItems":null}`:                    "/minItems must be a whole number, 0 or more",
		`{"contains":{},"minContains":-1}`:     "/minContains must be a whole number, 0 or more",
		`{"contains":{},"maxContains":"1"}`:    "/maxContains must be a whole number, 0 or more",
		`{"pattern":1}`:                        "/pattern must be a text",
		`{"properties":{"a":{"pattern":"("}}}`: "/properties/a/pattern: error parsing regexp",
		`{"patternProperties":{"(":{}}}`:       "/patternProperties/(: error parsing regexp",
		`{"pattern":"a{1001}"}`:                "/pattern: error parsing regexp",
		`{"uniqueItems":1}`:                    "/uniqueItems must be true or false",
		`{"items":[{}]}`:                       "/items must be an object, true or false",
		`{"anyOf":[]}`:                         "/anyOf must be a list of schemas",
		`{"oneOf":{}}`:                         "/oneOf must be a list of schemas",
		`{"required":"a"}`:                     "/required must be a list of names",
		`{"required":[1]}`:                     "/required must be a list of names",
		`{"dependentRequired":[]}`:             "/dependentRequired must be an object",
		`{"dependentRequired":{"a~/b":1}}`:     "/dependentRequired/a~0~1b must be a list of names",
		`{"properties":[]}`:                    "/properties must be an object",
	} {
		_, err := Compile(text)
		if err == nil || !strings.HasPrefix(err.Error(), "reading schema: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

// A fault is found wherever a schema can have another.
func TestCompile_readsEverySchemaInside(t *testing.T) {
	for text, at := range map[string]string{
		`{"properties":{"a":?}}`:        "/properties/a",
		`{"patternProperties":{"a":?}}`: "/patternProperties/a",
		`{"additionalProperties":?}`:    "/additionalProperties",
		`{"propertyNames":?}`:           "/propertyNames",
		`{"dependentSchemas":{"a":?}}`:  "/dependentSchemas/a",
		`{"unevaluatedProperties":?}`:   "/unevaluatedProperties",
		`{"prefixItems":[{},?]}`:        "/prefixItems/1",
		`{"items":?}`:                   "/items",
		`{"contains":?}`:                "/contains",
		`{"unevaluatedItems":?}`:        "/unevaluatedItems",
		`{"allOf":[{},?]}`:              "/allOf/1",
		`{"anyOf":[?]}`:                 "/anyOf/0",
		`{"oneOf":[true,?]}`:            "/oneOf/1",
		`{"not":?}`:                     "/not",
		`{"if":?}`:                      "/if",
		`{"if":{},"then":?}`:            "/then",
		`{"if":{},"else":?}`:            "/else",
	} {
		for fault, want := range map[string]string{"1": " must be an object", `{"type":"x"}`: "/type: there is no type"} {
			_, err := Compile(strings.ReplaceAll(text, "?", fault))
			if err == nil || !strings.Contains(err.Error(), "reading schema: "+at+want) {
				t.Errorf("%s with %s: %v", text, fault, err)
			}
		}
	}
}

func TestAmount_isWholeUpToNineDigits(t *testing.T) {
	for text, want := range map[numeral]int{
		"0": 0, "3.0": 3, "3e2": 300, "999999999": 999_999_999, "1000000000": math.MaxInt32, "1e999": math.MaxInt32,
	} {
		if got, err := amount(text, "/maxItems"); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
}

// A number of items bounds what is done with each.
func TestSchema_Worst_knowsTheNumberOfItems(t *testing.T) {
	var worst []Cost
	for _, most := range []string{`"maxItems":1,`, `"maxItems":9,`, ""} {
		s, err := Compile(`{` + most + `"items":{"maxLength":9,"pattern":"^(x{0,60}y?){1,15}$"}}`)
		if err != nil {
			t.Fatal(err)
		}
		cost, _ := s.Worst(largest)
		worst = append(worst, cost)
	}
	if worst[0] >= worst[1] || worst[1] >= worst[2] {
		t.Errorf("of one item, nine, and any number: %v", worst)
	}
}
