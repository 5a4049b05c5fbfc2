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
		"no item like it":  {`{"properties":{"a":{"contains":{"const":1}}}}`, `{"a":["s3cret"]}`, "/properties/a/contains"},
		"no item at all":   {`{"contains":{},"minContains":0,"maxContains":0}`, `["s3cret"]`, "/maxContains"},
		"none of several":  {`{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"s3cret":1}`, "/anyOf"},
		"two of several":   {`{"oneOf":[{},{"type":"object"}]}`, `{"s3cret":1}`, "/oneOf"},
		"one of all":       {`{"allOf":[{},{"required":["a"]}]}`, `{"s3cret":1}`, "/allOf/1/required"},
		"what must not be": {`{"not":{"type":"object"}}`, `{"s3cret":1}`, "/not"},
		"a dependency":     {`{"dependentRequired":{"a":["b"]}}`, `{"a":"s3cret"}`, "/dependentRequired"},
		"a field whose name has a space": {
			`{"properties":{"a b":{"type":"null"}}}`, `{"a b":"s3cret"}`, "/properties/a b/type",
		},
		"a number that no float holds":  {`{}`, `{"a":1e999}`, ""},
		"a number beyond the largest":   {`{"properties":{"a":{"maximum":1}}}`, `{"a":1e999}`, "/properties/a/maximum"},
		"a number below the smallest":   {`{"properties":{"a":{"minimum":1}}}`, `{"a":-1e999}`, "/properties/a/minimum"},
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
