package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// linear are schemas of each keyword, with data that costs it something.
func linear() map[string][2]string {
	return map[string][2]string{
		"type":                  {`{"items":{"type":"integer"}}`, `[1]`},
		"const":                 {`{"items":{"const":[1]}}`, `[[1]]`},
		"enum":                  {`{"items":{"enum":[{"a":1}]}}`, `[{"a":1}]`},
		"minimum":               {`{"items":{"minimum":1}}`, `[1]`},
		"exclusiveMinimum":      {`{"items":{"exclusiveMinimum":0}}`, `[1]`},
		"maximum":               {`{"items":{"maximum":1}}`, `[1]`},
		"exclusiveMaximum":      {`{"items":{"exclusiveMaximum":2}}`, `[1]`},
		"multipleOf":            {`{"items":{"multipleOf":1}}`, `[1]`},
		"minLength":             {`{"items":{"minLength":1}}`, `["a"]`},
		"maxLength":             {`{"items":{"maxLength":1}}`, `["a"]`},
		"pattern":               {`{"items":{"pattern":"a|b"}}`, `["a"]`},
		"minItems":              {`{"minItems":1}`, `[1]`},
		"maxItems":              {`{"items":{"maxItems":1}}`, `[[1]]`},
		"uniqueItems":           {`{"items":{"uniqueItems":true}}`, `[[1,2,3]]`},
		"prefixItems":           {`{"prefixItems":[true],"items":{"prefixItems":[{"type":"null"}]}}`, `[[null]]`},
		"items":                 {`{"items":{"items":{}}}`, `[[1]]`},
		"contains":              {`{"contains":{"type":"null"},"maxContains":9999}`, `[null]`},
		"minProperties":         {`{"minProperties":1}`, `{"a":1}`},
		"maxProperties":         {`{"items":{"maxProperties":9}}`, `[{"a":1}]`},
		"required":              {`{"required":["a"]}`, `{"a":1}`},
		"dependentRequired":     {`{"dependentRequired":{"a1":[],"b":["a"]}}`, `{"a":1}`},
		"propertyNames":         {`{"propertyNames":{"maxLength":9}}`, `{"a":1}`},
		"properties":            {`{"properties":{"a":{},"a1":{}}}`, `{"a":1}`},
		"patternProperties":     {`{"patternProperties":{"a":{},"1":{}}}`, `{"a":1}`},
		"additionalProperties":  {`{"additionalProperties":{"type":"integer"}}`, `{"a":1}`},
		"allOf":                 {`{"allOf":[{"items":{}},{"additionalProperties":{}}]}`, `{"a":1}`},
		"anyOf":                 {`{"anyOf":[{"required":["b"]},{"additionalProperties":{}}]}`, `{"a":1}`},
		"oneOf":                 {`{"oneOf":[{"required":["b"]},{"additionalProperties":{}}]}`, `{"a":1}`},
		"not":                   {`{"not":{"items":{"const":2}}}`, `[1]`},
		"if":                    {`{"if":{"items":{}},"then":{"items":{}},"else":false}`, `[1]`},
		"dependentSchemas":      {`{"dependentSchemas":{"a":{"additionalProperties":{}}}}`, `{"a":1}`},
		"unevaluatedItems":      {`{"allOf":[{"prefixItems":[{}]}],"unevaluatedItems":{}}`, `[1]`},
		"unevaluatedProperties": {`{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":{}}`, `{"a":1}`},
	}
}

// grown repeats the items of an array, and the names of an object with a number behind each.
func grown(data string, times int) string {
	v, err := parse([]byte(data))
	if err != nil || len(data) < 3 {
		return data
	}
	var parts []string
	_, isArray := v.([]any)
	o, isObject := v.(*object)
	for n := range times {
		switch {
		case isArray:
			parts = append(parts, strings.TrimSpace(data)[1:len(strings.TrimSpace(data))-1])
		case isObject && len(o.names) == 1 && n > 0:
			parts = append(parts, fmt.Sprintf("%q:0", fmt.Sprint(o.names[0], n)))
		case isObject && n == 0:
			parts = append(parts, strings.TrimSpace(data)[1:len(strings.TrimSpace(data))-1])
		}
	}
	if isObject {
		return "{" + strings.Join(parts, ",") + "}"
	}
	if isArray {
		return "[" + strings.Join(parts, ",") + "]"
	}
	return data
}

// checkLinear fails the test where a check costs more than its bound, or twice the data more than about twice as much.
func checkLinear(t *testing.T, schema, data string, times int) {
	t.Helper()
	s, err := Compile(schema)
	if err != nil {
		return
	}
	var costs [2]Cost
	for i := range costs {
		big := grown(data, times<<i)
		costs[i], err = s.Check([]byte(big), NoLimit)
		if errors.Is(err, ErrTooCostly) {
			return // an exponent of more than a thousand digits
		}
		if most, at := s.Worst(len(big)); costs[i] > most {
			t.Errorf("%s: %d bytes cost %d, more than %d because of %s", schema, len(big), costs[i], most, at)
		}
		if i == 0 && err != nil {
			return // twice the data may be good, and only then be read to its end
		}
	}
	if limit := costs[0]*22/10 + 1000; costs[1] > limit {
		t.Errorf("%s: data costs %d, and twice as much data %d", schema, costs[0], costs[1])
	}
}

func TestSchema_Check_isLinearForEveryKeyword(t *testing.T) {
	rows := linear()
	for _, k := range keywords() {
		if rows[k.name][0] == "" && !strings.HasPrefix(k.name, "$") {
			t.Errorf("%s has no row", k.name)
		}
	}
	for keyword, row := range rows {
		s, err := Compile(row[0])
		if err != nil {
			t.Fatal(keyword, err)
		}
		// Costs are compared only of data that is read to its end.
		if _, err := s.Check([]byte(grown(row[1], 1000)), NoLimit); err != nil {
			t.Errorf("the row of %s compares nothing: %v", keyword, err)
		}
		checkLinear(t, row[0], row[1], 1000)
	}
}

// It was refused as too costly: each name paid for the object's map of names, the square of what it costs.
func TestSchema_Check_takesManyNamesThatNeedNothing(t *testing.T) {
	s, err := Compile(`{"dependentRequired":{"a":["b"]}}`)
	if err != nil {
		t.Fatal(err)
	}
	data := grown(`{"c":0}`, 1600)
	if spent, err := s.Check([]byte(data), In(200*time.Millisecond)); err != nil || spent > costDecode*2*Cost(len(data)) {
		t.Errorf("%d bytes cost %d: %v", len(data), spent, err)
	}
}

func FuzzSchema_Check_isLinear(f *testing.F) {
	for _, row := range linear() {
		f.Add(row[0], row[1], uint16(99))
	}
	for _, row := range hostile() {
		f.Add(row.schema, row.data[:min(len(row.data), 64)], uint16(9))
	}
	f.Fuzz(func(t *testing.T, schema, data string, times uint16) {
		checkLinear(t, schema, data, 1+int(times)%2000)
	})
}
