package schema

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSchema_Check_namesTheKeywordAndNoData(t *testing.T) {
	const secret = "s3cret"
	for name, row := range map[string]struct{ schema, data, want string }{
		"what fits":        {`{"properties":{"a":{"type":"string"}},"required":["a"]}`, `{"a":"s3cret"}`, ""},
		"anything":         {`{"type":"object"}`, `{"s3cret":[1,null,{}]}`, ""},
		"a type":           {`{"properties":{"a":{"type":"integer"}}}`, `{"a":"s3cret"}`, "/properties/a/type"},
		"a missing field":  {`{"required":["a"]}`, `{"b":"s3cret"}`, "/required"},
		"a pattern":        {`{"properties":{"a":{"pattern":"^x"}}}`, `{"a":"s3cret"}`, "/properties/a/pattern"},
		"an enum":          {`{"properties":{"a":{"enum":["x"]}}}`, `{"a":"s3cret"}`, "/properties/a/enum"},
		"a const":          {`{"properties":{"a":{"const":1}}}`, `{"a":"s3cret"}`, "/properties/a/const"},
		"a length":         {`{"properties":{"a":{"maxLength":2}}}`, `{"a":"s3cret"}`, "/properties/a/maxLength"},
		"a minimum":        {`{"properties":{"a":{"minimum":2}}}`, `{"a":1}`, "/properties/a/minimum"},
		"a fraction":       {`{"properties":{"a":{"type":"integer"}}}`, `{"a":1.5}`, "/properties/a/type"},
		"an unknown field": {`{"additionalProperties":false}`, `{"s3cret":1}`, "/additionalProperties"},
		"any field's value": {
			`{"additionalProperties":{"type":"integer"}}`, `{"s3cret":"s3cret"}`, "/additionalProperties/type",
		},
		"a name":  {`{"propertyNames":{"maxLength":2}}`, `{"s3cret":1}`, "/propertyNames/maxLength"},
		"an item": {`{"properties":{"a":{"items":{"type":"null"}}}}`, `{"a":["s"]}`, "/properties/a/items/type"},
		"equal items": {
			`{"properties":{"a":{"uniqueItems":true}}}`, `{"a":["s3cret","s3cret"]}`, "/properties/a/uniqueItems",
		},
		"no item like it": {
			`{"properties":{"a":{"contains":{"const":1}}}}`, `{"a":["s3cret"]}`,
			"/properties/a/contains",
		},
		"no item at all":   {`{"contains":{},"minContains":0,"maxContains":0}`, `["s3cret"]`, "/maxContains"},
		"none of several":  {`{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"s3cret":1}`, "/anyOf"},
		"two of several":   {`{"oneOf":[{},{"type":"object"}]}`, `{"s3cret":1}`, "/oneOf"},
		"one of all":       {`{"allOf":[{},{"required":["a"]}]}`, `{"s3cret":1}`, "/allOf/1/required"},
		"what must not be": {`{"not":{"type":"object"}}`, `{"s3cret":1}`, "/not"},
		"a dependency":     {`{"dependentRequired":{"a":["b"]}}`, `{"a":"s3cret"}`, "/dependentRequired"},
		"a field whose name has a space": {
			`{"properties":{"a b":{"type":"null"}}}`, `{"a b":"s3cret"}`, "/properties/a b/type",
		},
		"a number that no float holds": {`{}`, `{"a":1e999}`, ""},
		"a number beyond the largest": {
			`{"properties":{"a":{"maximum":1}}}`, `{"a":1e999}`,
			"/properties/a/maximum",
		},
		"a number below the smallest": {
			`{"properties":{"a":{"minimum":1}}}`, `{"a":-1e999}`,
			"/properties/a/minimum",
		},
		"a name that looks like a type": {`{"properties":{"a":{"type":"string"}}}`, `{"a":"1e999"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Compile(row.schema)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Check([]byte(row.data), NoLimit)
			if row.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var mismatch *Mismatch
			if !errors.As(err, &mismatch) {
				t.Fatalf("error %v is a %T, want *Mismatch", err, err)
			}
			if diff := cmp.Diff(row.want, mismatch.Keyword); diff != "" {
				t.Errorf("keyword (-want +got):\n%s", diff)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error has data: %v", err)
			}
		})
	}
}

func TestClipped_keepsBothEnds(t *testing.T) {
	for text, want := range map[string]string{"": "", "12345678901234567890": "12345678901234567890",
		"123456789012345678901": "1234567…5678901", "éééééééééééé": "ééé…ééé", "a\tb\u2028": "a\ufffdb\ufffd"} {
		if got := clipped(text, 20); got != want {
			t.Errorf("%q is clipped to %q, want %q", text, got, want)
		}
	}
}

// A fault names the field and what is wrong with it. A name that only the data has is not told.
func TestMismatch_namesTheField(t *testing.T) {
	long := strings.Repeat("n", 300)
	for name, row := range map[string]struct{ schema, data, want string }{
		"a missing name of an item": {
			`{"properties":{"items":{"items":{"required":["id","sku"]}}}}`, `{"items":[{"id":1},{"id":1,"sku":2},{"sku":1}]}`,
			"/items/0: sku is missing (/properties/items/items/required)",
		},
		"a missing name of the whole": {`{"required":["a","b"]}`, `{"a":1}`, "b is missing (/required)"},
		"of several, the first":       {`{"required":["b","a","c"]}`, `{}`, "b is missing (/required)"},
		"a name that another needs": {
			`{"dependentRequired":{"card":["zip"]}}`, `{"card":1}`, "zip is missing (/dependentRequired)",
		},
		"a type": {`{"properties":{"n":{"type":["string","null"]}}}`, `{"n":1}`,
			"/n: must be string or null (/properties/n/type)"},
		"a bound": {`{"properties":{"l":{"prefixItems":[{},{"minimum":2}]}}}`, `{"l":[1,1]}`,
			"/l/1: does not fulfil its schema (/properties/l/prefixItems/1/minimum)"},
		"a name with a slash": {`{"properties":{"a/b":{"type":"null"}}}`, `{"a/b":1}`,
			"/a~1b: must be null (/properties/a~1b/type)"},
		"an unknown name": {
			`{"additionalProperties":false}`, `{"s3cret":1}`,
			"/*: is not allowed (/additionalProperties)",
		},
		"an unevaluated name": {
			`{"unevaluatedProperties":false}`, `{"s3cret":1}`,
			"/*: is not allowed (/unevaluatedProperties)",
		},
		"an unevaluated item": {
			`{"prefixItems":[{}],"unevaluatedItems":false}`, `[1,2]`,
			"/1: is not allowed (/unevaluatedItems)",
		},
		"a name that a pattern takes": {
			`{"patternProperties":{"^s":{"type":"null"}}}`, `{"s3cret":1}`,
			"/*: must be null (/patternProperties/^s/type)",
		},
		"a name itself": {
			`{"propertyNames":{"maxLength":1}}`, `{"s3cret":1}`,
			"/*: does not fulfil its schema (/propertyNames/maxLength)",
		},
		"a part of allOf": {
			`{"properties":{"a":{"allOf":[{"required":["b"]}]}}}`, `{"a":{}}`,
			"/a: b is missing (/properties/a/allOf/0/required)",
		},
		"a branch": {
			`{"properties":{"a":{"anyOf":[{"items":{"type":"null"}}]}}}`, `{"a":[1]}`,
			"/a: does not fulfil its schema (/properties/a/anyOf)",
		},
		"then": {
			`{"if":true,"then":{"items":{"type":"null"}}}`, `[1]`,
			"/0: must be null (/then/items/type)",
		},
		"long names": {
			`{"properties":{"` + long + `":{"required":["` + long + `"]}}}`, `{"` + long + `":{}}`,
			"/" + long[:76] + "…" + long[:77] + ": " + long[:37] + "…" + long[:37] + " is missing (/properties/" + long[:65] +
				"…" + long[:68] + "/required)",
		},
		"a name that no queue takes": {`{"required":["a\u0001b"]}`, `{}`, "a\ufffdb is missing (/required)"},
	} {
		s, err := Compile(row.schema)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Check([]byte(row.data), NoLimit)
		if err == nil || err.Error() != row.want {
			t.Errorf("%s: %v, want %s", name, err, row.want)
			continue
		}
		if most := 440; len(err.Error()) > most { // of the 512 of a reason
			t.Errorf("%s: %d bytes", name, len(err.Error()))
		}
	}
}
